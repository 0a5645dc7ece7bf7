"""Worker processes on this machine: `engine="local"`.

The driver's side is here; `process/` runs in the processes that it starts.
"""

from paceline.engines.local.engine import LocalEngine

__all__ = ["LocalEngine"]
