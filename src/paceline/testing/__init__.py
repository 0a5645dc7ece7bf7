"""The laws of what you may write yourself, as tests: subclass one and say what is to be tested.

`PolicyContract` is for policies. Needs pytest, which nothing else here does.
"""

import pytest

# So that a law that is broken shows the values.
pytest.register_assert_rewrite("paceline.testing.policies")

from paceline.testing.policies import PolicyContract, asked  # noqa: E402

__all__ = ["PolicyContract", "asked"]
