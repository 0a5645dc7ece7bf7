"""Worker processes on this machine: what `engine="local"` names.

The driver's side is here; `process/` is what runs in the processes that it starts.
"""

from paceline.engines.local.engine import LocalEngine

__all__ = ["LocalEngine"]
