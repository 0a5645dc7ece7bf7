"""The laws of what you may write yourself, as tests: subclass one and say what to test.

`PolicyContract` is for policies, `EngineContract` for engines, `EvidenceContract` for evidence,
`ScalingContract` for scalings, and `ProblemContract` for problems. They need pytest; nothing else
in paceline does.
"""

import pytest

# Before they are imported, so that a broken law shows the values.
pytest.register_assert_rewrite(
    "paceline.testing.blame",
    "paceline.testing.driving",
    "paceline.testing.engines",
    "paceline.testing.evidence",
    "paceline.testing.policies",
    "paceline.testing.prints",
    "paceline.testing.problems",
    "paceline.testing.scalings",
    "paceline.testing.trust",
)

from paceline.testing.engines import EngineContract  # noqa: E402
from paceline.testing.evidence import EvidenceContract  # noqa: E402
from paceline.testing.policies import PolicyContract, asked  # noqa: E402
from paceline.testing.problems import ProblemContract  # noqa: E402
from paceline.testing.scalings import ScalingContract  # noqa: E402

__all__ = [
    "EngineContract",
    "EvidenceContract",
    "PolicyContract",
    "ProblemContract",
    "ScalingContract",
    "asked",
]
