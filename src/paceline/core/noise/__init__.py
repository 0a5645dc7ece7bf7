"""What is assumed about the values: every guarantee rests on one of these.

A file per assumption, `base.py` for what each must answer, `catalog.py` for their names. Noises
know evidence; evidence knows numbers only.
"""

from paceline.core.noise.base import Noise
from paceline.core.noise.bernoulli import BernoulliNoise

BERNOULLI = BernoulliNoise()

__all__ = ["BERNOULLI", "Noise"]
