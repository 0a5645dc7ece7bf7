"""Scalings written as words, such as `power:0.5`."""

import csv
from collections.abc import Callable
from pathlib import Path

from paceline.commands.template import check_text
from paceline.core.measured import Measured
from paceline.core.pool import CorePool
from paceline.core.scaling import Amdahl, Ernest, PowerLaw, Scaling
from paceline.errors import InvalidInput, unknown_name
from paceline.notation.words import construct, split_word, to_number, to_whole

SCALING_HELP = (
    "how pulls scale: power:0.5 (λ = m^0.5), amdahl:0.1, ernest:1,8,linear=0.5,cores=16, "
    "cores:16,0.5 (16 whole cores, a pull on c takes c^-0.5 s), "
    "or measured:FILE (CSV: pulls, seconds)"
)


def parse_scaling(text: str) -> Scaling:
    """Make a scaling from a word such as `power:0.5`.

    >>> parse_scaling("amdahl:0.1")
    Amdahl(serial=0.1, serial_exponent=0.0, unit_seconds=1.0)
    """
    name, values, options = split_word(text)
    kinds: dict[str, Callable[[], Scaling]] = {
        "power": lambda: construct(PowerLaw, text, values, options),
        "amdahl": lambda: construct(Amdahl, text, values, options),
        "ernest": lambda: construct(Ernest, text, values, options),
        "cores": lambda: _core_pool(text, values, options),
        "measured": lambda: _measured(text),
    }
    if name not in kinds:
        raise unknown_name("scaling", name, kinds)
    return kinds[name]()


def _core_pool(text: str, values: list[str], options: dict[str, str]) -> Scaling:
    if len(values) != 2 or options:
        raise InvalidInput(f"{text!r}: write cores:COUNT,EXPONENT, as in cores:16,0.5")
    exponent = to_number(values[1], text)
    if not 0 < exponent <= 1:
        raise InvalidInput(f"in {text!r} the exponent must lie in (0, 1]")
    return CorePool(to_whole(values[0], text), lambda cores: cores**-exponent)


def _measured(text: str) -> Scaling:
    path = Path(text.partition(":")[2])
    check_text(str(path), "the path of a measured scaling")
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            rows = [row for row in csv.reader(stream) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(f"cannot read {path}: {error}") from error
    if rows and not _is_number(rows[0][0]):
        rows = rows[1:]  # a header
    if any(len(row) < 2 for row in rows):
        raise InvalidInput(f"{path} must have two columns, pulls and seconds")
    return Measured([to_number(r[0], text) for r in rows], [to_number(r[1], text) for r in rows])


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
