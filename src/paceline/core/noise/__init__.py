"""What is assumed about the values: every guarantee rests on one of these.

Each assumption has its own file. `base.py` says what each must answer, `catalog.py` names them.
Noises know evidence; evidence knows only numbers.
"""

from paceline.core.noise.base import Noise
from paceline.core.noise.bernoulli import BernoulliNoise

BERNOULLI = BernoulliNoise()

__all__ = ["BERNOULLI", "Noise"]
