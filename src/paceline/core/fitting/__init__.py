"""τ(c), the seconds of one pull on c cores, learned from pulls that have run."""

from paceline.core.fitting.runtime import Runtime
from paceline.core.fitting.timings import Timings

__all__ = ["Runtime", "Timings"]
