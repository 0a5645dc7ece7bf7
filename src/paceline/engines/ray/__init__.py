"""The engine of Ray clusters: each job is a Ray task, and its pulls run in processes below it.

`engine.py` connects, `roster.py` knows the nodes, `workers.py` gives out jobs from the race's own
process, and `host.py` does them inside the worker processes of Ray.
"""

from paceline.engines.ray.engine import RayEngine

__all__ = ["RayEngine"]
