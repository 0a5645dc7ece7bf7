"""What the catalog says of engines without importing what they need."""

import pytest

from paceline.engines.catalog import ENGINES, WITH_DEVICES
from paceline.errors import InvalidInput, MissingExtra


@pytest.mark.parametrize("name", ENGINES)
def test_it_says_which_engines_have_devices(name: str) -> None:
    try:
        engine = ENGINES[name]()
    except (MissingExtra, InvalidInput) as error:
        pytest.skip(str(error))
    assert engine.abilities.gpus == (name in WITH_DEVICES)
