"""The engine of Ray clusters: each job is a Ray task, and its pulls run in processes below it.

`engine.py` connects, `roster.py` knows the nodes, `workers.py` follows the jobs from the race's
own process, `tasks.py` gives them to Ray, and `host.py` does them inside Ray's worker processes.
"""

from paceline.engines.ray.engine import RayEngine

__all__ = ["RayEngine"]
