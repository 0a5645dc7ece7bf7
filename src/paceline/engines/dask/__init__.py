"""Dask clusters: `engine="dask"`.

The driver's side is in `engine.py`, `workers.py` and `line.py`; `host.py` runs in the Dask workers.

Every job is a Dask task, pinned to its worker, so that Dask's own account of resources is right.
But a running task cannot be ended in Dask. So a task does no pulls: it hands its job to a *host* in
its Dask worker, which has local workers of ours, and waits until the job is over. The host sends
what happens to the driver as messages of a Dask topic, which are fast but may get lost when a
connection breaks. Its messages are numbered, and those that were not heard are sent again when the
driver next calls. A host that is not called for a minute ends itself: its driver is dead.
"""

from paceline.engines.dask.engine import DaskEngine

__all__ = ["DaskEngine"]
