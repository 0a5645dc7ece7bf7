"""Which evidence fits what is assumed about the values."""

from paceline.core.evidence.group_sequential import GroupSequential, KnownSigma
from paceline.core.evidence.student import PairedStudent, Student
from paceline.core.noise import Noise


def group_sequential(
    arms: int, delta: float, noise: Noise, *, top: int = 1, paired: bool = False
) -> GroupSequential:
    """The evidence for rounds that fits what is assumed; for bounded values, their scale."""
    if noise.kind == "normal" and noise.sigma is not None and not paired:
        return KnownSigma(arms, delta, noise.sigma, top=top)
    if noise.scale is not None and noise.kind != "normal":
        return KnownSigma(arms, delta, noise.scale, tails="subgaussian", paired=paired, top=top)
    return PairedStudent(arms, delta, top) if paired else Student(arms, delta, top)
