"""τ(c), the seconds of one pull on c cores, learned from pulls that were run."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from paceline.core.arrays import Floats, Ints, finite_floats, non_negative, positive, whole
from paceline.core.scaling import Ernest
from paceline.errors import InvalidInput, unknown_name

# The simplest first: on a near tie the earlier one is taken. The numbers are their parameters.
_PARAMETERS = {"constant": 1, "power law": 2, "Amdahl": 2, "Ernest": 4}

# A near tie: errors on held-out core counts within 10 %, or within a third of a per cent.
_TIE_FACTOR, _TIE_SLACK = 1.1, 0.003

# Two runs of the same pull are taken to differ by 2 % at least: clocks and caches see to it.
_LEAST_NOISE = 0.02

# Logarithms need times above 0; no clock tells less than this apart.
_LEAST_SECONDS = 1e-9

# Past some dozens of pulls the mean of a cell (an arm on so many cores) is known better than
# all arms follow one shape: more pulls must not give it all the say.
_ENOUGH_PULLS = 32

# What lies more standard deviations out than this is a straggler, and counts for less.
_STRAGGLER_DEVIATIONS = 2.0
_PASSES = 4

# A core count known perfectly still says no more of its neighbours than a model is true.
_MODEL_ERROR = 0.05

# noise² / spread of the arms², from arms that are all alike to arms that differ vastly.
_NOISE_TO_SPREAD = [10.0**power for power in range(4, -7, -1)]


@dataclass(frozen=True)
class Runtime:
    """The seconds of one pull on so many cores: fixed + parallel·c^-exponent + log·ln c + linear·c.

    Where that rises again, a pull leaves the cores idle that would slow it down: so it never
    rises, as `CorePool` wants it. `error` is the relative error on core counts that were held
    out of the fit; NaN if there were too few to hold one out.

    >>> runtime = Runtime("Ernest", fixed=1.0, parallel=8.0, linear=0.5)
    >>> runtime(1), runtime(4), runtime(16)
    (9.5, 5.0, 5.0)
    >>> runtime.describe()
    '1 s + 8 s/c + 0.5 s · c'
    """

    model: str
    fixed: float = 0.0
    parallel: float = 0.0
    exponent: float = 1.0
    log: float = 0.0
    linear: float = 0.0
    error: float = math.nan

    def __post_init__(self) -> None:
        if self.model not in _PARAMETERS:
            raise unknown_name("runtime model", self.model, _PARAMETERS)
        for name in ("fixed", "parallel", "exponent", "log", "linear"):
            non_negative(getattr(self, name), f"{name} of Runtime")
        if self.exponent != 1 and (self.log > 0 or self.linear > 0):
            raise InvalidInput(
                f"a Runtime with log or linear has exponent 1, got exponent={self.exponent!r}"
            )
        positive(self.fixed + self.parallel + self.linear, "the runtime on 1 core")
        if not math.isnan(self.error):
            non_negative(self.error, "error of Runtime")

    def __call__(self, cores: float) -> float:
        """τ: the seconds of one pull that may use `cores` cores."""
        if positive(cores, "cores") < 1:
            raise InvalidInput(f"cores must be at least 1, got {cores!r}: a pull needs a core")
        fastest, least_seconds = self._minimum
        return max(float(self._on_all(min(float(cores), fastest))), least_seconds)

    @cached_property
    def _minimum(self) -> tuple[float, float]:
        """Where τ is least, and its least value on a whole number of cores."""
        if self.log == 0 and self.linear == 0:
            return math.inf, 0.0
        fastest = Ernest(self.fixed, self.parallel, self.log, self.linear).fastest_cores
        below, above = self._on_all(np.floor(fastest)), self._on_all(np.ceil(fastest))
        return fastest, float(min(below, above))

    def _on_all(self, cores: Any) -> Any:
        """The seconds of a pull that uses all of `cores`, even those that slow it down."""
        falling = self.fixed + self.parallel * cores**-self.exponent
        return falling + self.log * np.log(cores) + self.linear * cores

    def _scaled(self, factor: float) -> "Runtime":
        names = ("fixed", "parallel", "log", "linear")
        return replace(self, **{name: getattr(self, name) * factor for name in names})

    def describe(self) -> str:
        """The formula, for people; c stands for the cores.

        >>> Runtime("power law", parallel=1.02, exponent=0.49).describe()
        '1.02 s · c^-0.49'
        >>> Runtime("Amdahl", fixed=0.5, parallel=1.5).describe()
        '2 s · (0.25 + 0.75/c)'
        >>> Runtime("constant", fixed=3.0).describe()
        '3 s on any number of cores'
        """
        if self.model == "constant":
            return f"{self(1):.3g} s on any number of cores"
        if self.model == "power law":
            return f"{self.parallel:.3g} s · c^-{self.exponent:.2f}"
        if self.model == "Amdahl":
            serial = self.fixed / self(1)
            return f"{self(1):.3g} s · ({serial:.2g} + {1 - serial:.2g}/c)"
        terms = {"": self.fixed, "/c": self.parallel, " · ln c": self.log, " · c": self.linear}
        return " + ".join(f"{weight:.3g} s{term}" for term, weight in terms.items() if weight)

    def to_json(self) -> dict[str, str | float | None]:
        """Plain values, for a journal; an unknown error is None, since JSON has no NaN.

        >>> Runtime.from_json(Runtime("constant", fixed=3.0).to_json())(8)
        3.0
        """
        return asdict(self) | {"error": None if math.isnan(self.error) else self.error}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Runtime":
        """Undo `to_json`."""
        error = values.get("error")
        try:
            return cls(**{**values, "error": math.nan if error is None else error})
        except TypeError as wrong:
            raise InvalidInput(f"this is no runtime written by to_json: {values!r}") from wrong


class Timings:
    """Seconds of finished pulls, summed up by arm and by core count.

    >>> timings = Timings(arms=3)
    >>> for cores in (1, 4, 16):
    ...     timings.add(np.array([0, 1, 2]), cores, np.full(3, 8.0 / cores**0.5))
    >>> timings.pulls, timings.mean_seconds(arm=2, cores=4), timings.mean_seconds(arm=2, cores=8)
    (9, 4.0, None)
    >>> timings.fit().describe()
    '8 s · c^-0.50'
    """

    def __init__(self, arms: int) -> None:
        self.arms = whole(arms, "arms of Timings")
        self._cells: dict[int, _Cells] = {}

    def add(self, arms: Ints, cores: int, seconds: Floats) -> None:
        """Take in finished pulls, all on `cores` cores: their arms and their seconds."""
        count = whole(cores, "cores of a pull")
        times = finite_floats(seconds, "seconds of pulls")
        which = np.asarray(arms)
        if which.shape != times.shape:
            raise InvalidInput(
                f"every pull needs an arm and its seconds: got {which.size} arms and "
                f"{times.size} times"
            )
        if times.size == 0:
            return
        if not np.issubdtype(which.dtype, np.integer):
            raise InvalidInput(f"arms must be whole numbers, got an array of {which.dtype}")
        if which.min() < 0 or which.max() >= self.arms:
            raise InvalidInput(
                f"arms must lie in 0 … {self.arms - 1}, got {which.min()} … {which.max()}"
            )
        if times.min() < 0:
            raise InvalidInput(
                f"seconds of pulls must be at least 0, got {times.min():g}: "
                "use a clock that never goes back"
            )
        if count not in self._cells:
            self._cells[count] = _Cells.empty(self.arms)
        self._cells[count].add(which, times)

    @property
    def pulls(self) -> int:
        """How many pulls were taken in."""
        return sum(int(cells.pulls.sum()) for cells in self._cells.values())

    def mean_seconds(self, arm: int, cores: int) -> float | None:
        """The mean seconds of the pulls of `arm` on `cores` cores; None if there are none."""
        cells = self._cells.get(cores)
        if cells is None or not cells.pulls[arm]:
            return None
        return float(cells.seconds[arm] / cells.pulls[arm])

    def fit(self) -> Runtime:
        """The runtime that predicts core counts held out of the fit best.

        The shape is fitted to logarithms, with an effect per arm; so neither dear arms nor a few
        stragglers bend it. The level then makes the predicted seconds of all pulls so far add
        up to the observed ones, stragglers included: that is what the pool will be busy for.
        """
        if not self._cells:
            raise InvalidInput("no pull has finished yet: add some before asking for their runtime")
        counts = sorted(self._cells)
        cells = [self._cells[count] for count in counts]
        pulls = np.stack([each.pulls for each in cells])
        log_sums = np.stack([each.log_seconds for each in cells])
        cores = np.asarray(counts, dtype=np.float64)
        seen = pulls.any(axis=0)
        shape = _best_shape(cores, *_by_core_count(pulls[:, seen], log_sums[:, seen]))
        observed = sum(float(each.seconds.sum()) for each in cells)
        # Not capped where it rises again: the pulls so far did use those cores.
        predicted = float(pulls.sum(axis=1) @ shape._on_all(cores))
        return shape._scaled(max(observed, _LEAST_SECONDS * self.pulls) / predicted)


@dataclass(slots=True, eq=False)
class _Cells:
    """Sums over the pulls on one core count, one entry per arm."""

    pulls: Ints
    seconds: Floats
    log_seconds: Floats

    @classmethod
    def empty(cls, arms: int) -> "_Cells":
        return cls(np.zeros(arms, dtype=np.int64), np.zeros(arms), np.zeros(arms))

    def add(self, arms: Ints, seconds: Floats) -> None:
        # Not `+=`: that counts an arm once which stands here several times.
        np.add.at(self.pulls, arms, 1)
        np.add.at(self.seconds, arms, seconds)
        np.add.at(self.log_seconds, arms, np.log(np.maximum(seconds, _LEAST_SECONDS)))


def _by_core_count(pulls: Ints, log_sums: Floats) -> tuple[Floats, Floats]:
    """Log-seconds per core count with the arms' costs taken out, and their precision matrix.

    Both arguments have a row per core count and a column per arm. The model is

        log seconds = effect of the core count + effect of the arm + noise,

    with normal arm effects whose spread is estimated too. If arms are alike, all pulls count
    fully, also in a first round where each arm ran on one core count only; if arms differ, what
    counts is how the same arm does on several core counts. A shape fitted to the first result
    with the weights of the second is the shape fitted to all cells (generalised least squares).
    """
    some = pulls > 0
    centre = log_sums.sum() / pulls.sum()  # taken off to keep the squares small
    logs = np.where(some, log_sums / np.maximum(pulls, 1) - centre, 0.0)
    weights = pulls / (1 + pulls / _ENOUGH_PULLS)
    cell_trust, arm_trust = np.ones_like(weights), np.ones(pulls.shape[1])
    effects, precision, ratio = _mixed_effects(weights, logs, arm_trust, _NOISE_TO_SPREAD)
    for _ in range(_PASSES):
        trusted = weights * cell_trust
        arm_weights = trusted.sum(axis=0)
        prior = ratio * arm_trust
        total = arm_weights + prior
        residuals = logs - effects[:, None]
        arm_effects = (trusted * residuals).sum(axis=0) / total
        errors = (residuals - arm_effects)[some]
        # Either divided by its standard deviation, up to that of the noise.
        arm_deviations = arm_effects / np.sqrt(arm_weights / (prior * total))
        error_variances = 1 / trusted[some] - np.broadcast_to(1 / total, some.shape)[some]
        # A stray arm keeps only the comparison of its own pulls on several core counts.
        arm_trust = _trust(arm_deviations)
        cell_trust[some] = _trust(errors / np.sqrt(np.maximum(error_variances, 1e-12)))
        near = [other for other in _NOISE_TO_SPREAD if 0.05 < other / ratio < 20]
        effects, precision, ratio = _mixed_effects(weights * cell_trust, logs, arm_trust, near)
    return effects, precision


def _trust(deviations: Floats) -> Floats:
    """Weights that fall from 1 with the square of what lies far out, measured by the median.

    Huber's weights, which fall more slowly, let stragglers bend the shape three times as much.
    """
    sizes = np.abs(deviations)
    scale = max(1.4826 * float(np.median(sizes)), _LEAST_NOISE)  # of a normal distribution
    limit = _STRAGGLER_DEVIATIONS * scale
    trust: Floats = np.maximum((limit / np.maximum(sizes, limit)) ** 2, 1e-3)  # never nothing
    return trust


def _mixed_effects(
    weights: Floats, logs: Floats, arm_trust: Floats, ratios: Sequence[float]
) -> tuple[Floats, Floats, float]:
    """Effects of the core counts, their precision, and noise² / spread of the arms².

    The last is the one of `ratios` of greatest restricted likelihood; a factor 3 in it hardly
    changes the effects, and a grid cannot get lost.
    """
    arm_weights = weights.sum(axis=0)
    weighted = weights * logs
    arm_sums, count_sums = weighted.sum(axis=0), weighted.sum(axis=1)
    squares = float((weighted * logs).sum())
    others = arm_weights - weights
    freedom = np.count_nonzero(weights) - weights.shape[0] + 1
    fits = []
    for ratio in ratios:
        prior = ratio * arm_trust
        total = arm_weights + prior
        shares = weights / total
        # Not `@`: on a pool whose cores are all busy, the threads of a BLAS wait for each other,
        # and 10,000 arms on 16 core counts took 300 ms instead of 1.
        precision = -np.einsum("ca,da->cd", weights, shares)
        # Not by subtraction: nothing would be left of an arm that ran on one core count only.
        np.fill_diagonal(precision, (shares * (others + prior)).sum(axis=1))
        sums = count_sums - (shares * arm_sums).sum(axis=1)
        effects = np.linalg.solve(precision, sums)
        misfit = max(squares - float((arm_sums**2 / total).sum()) - float(effects @ sums), 0.0)
        variance = (misfit + _LEAST_NOISE**2) / freedom
        deviance = freedom * math.log(variance) + float(np.log(total / prior).sum())
        deviance += float(np.linalg.slogdet(precision)[1])
        fits.append((deviance, effects, precision / variance, ratio))
    # Where the data cannot tell (each arm on one core count only), the first: arms are alike.
    _, effects, precision, ratio = min(fits, key=lambda fit: round(fit[0], 6))
    return effects, precision, ratio


def _best_shape(cores: Floats, logs: Floats, precision: Floats) -> Runtime:
    """The model that predicts held-out core counts best, fitted to all; its level is arbitrary."""
    if cores.size == 1:
        return _fit_model("constant", cores, logs, precision)
    if cores.size == 2:
        # Nothing is left to hold out. Both two-parameter models meet both points; the power law
        # is the straight line on logarithmic axes. Beyond the points it promises more than
        # Amdahl's law, which is the safer side: a promise that fails is measured as soon as it
        # is believed, a speed-up that is not expected is never tried.
        return _fit_model("power law", cores, logs, precision)
    models = [model for model, parameters in _PARAMETERS.items() if parameters < cores.size]
    errors = {model: _held_out_error(model, cores, logs, precision) for model in models}
    near_tie = min(errors.values()) * _TIE_FACTOR + _TIE_SLACK
    chosen = next(model for model in models if errors[model] <= near_tie)
    return replace(_fit_model(chosen, cores, logs, precision), error=errors[chosen])


def _held_out_error(model: str, cores: Floats, logs: Floats, precision: Floats) -> float:
    """The mean relative error at each core count of the fit to the others.

    Core counts weigh by how well they are known: much alike, unless few pulls ran on one.
    """
    misses = np.empty(cores.size)
    for held_out in range(cores.size):
        rest = np.arange(cores.size) != held_out
        across = precision[rest, held_out]
        # The precision of the others whatever the one held out may be (Schur's complement).
        known = precision[np.ix_(rest, rest)]
        known = known - np.outer(across, across) / precision[held_out, held_out]
        fitted = _fit_model(model, cores[rest], logs[rest], known)
        misses[held_out] = math.log(fitted._on_all(cores[held_out])) - logs[held_out]
    weights = 1 / (_MODEL_ERROR**2 + 1 / np.diag(precision))
    return math.expm1(float(np.average(np.abs(misses), weights=weights)))


def _fit_model(model: str, cores: Floats, logs: Floats, precision: Floats) -> Runtime:
    """The least-squares fit to `logs` under `precision`."""
    if model == "power law":
        exponent = _exponent(cores, logs, precision)
        if exponent == 0:
            return _fit_model("constant", cores, logs, precision)
        level = _weighted_mean(logs + exponent * np.log(cores), precision)
        return Runtime("power law", parallel=math.exp(level), exponent=exponent)
    if model == "constant":
        return Runtime("constant", fixed=math.exp(_weighted_mean(logs, precision)))
    terms = np.stack([np.ones_like(cores), 1 / cores, np.log(cores), cores], axis=1)
    fixed, parallel, *rising = _non_negative_weights(
        terms[:, : _PARAMETERS[model]], logs, precision
    )
    if model == "Amdahl":
        return Runtime("Amdahl" if parallel else "constant", fixed=fixed, parallel=parallel)
    log, linear = rising
    if fixed + parallel + linear == 0:
        fixed = _LEAST_SECONDS  # else a pull on one core, where ln c = 0, would take no time
    return Runtime("Ernest", fixed=fixed, parallel=parallel, log=log, linear=linear)


def _weighted_mean(values: Floats, precision: Floats) -> float:
    weights = precision.sum(axis=0)
    return float(weights @ values / weights.sum())


def _exponent(cores: Floats, logs: Floats, precision: Floats) -> float:
    """The slope of −logs over ln c, kept within [0, 1]."""
    speed = np.log(cores)
    centred = speed - _weighted_mean(speed, precision)
    slope = float(centred @ precision @ logs / (centred @ precision @ centred))
    return min(max(-slope, 0.0), 1.0)


def _non_negative_weights(terms: Floats, logs: Floats, precision: Floats) -> list[float]:
    """Weights ≥ 0 of `terms` whose sum's logarithm is nearest to `logs` (Gauss–Newton)."""
    from scipy.optimize import nnls  # here, because it doubles the time to import paceline

    ridge = 1e-9 * np.diag(np.diag(precision))  # rounding must not make it indefinite
    root = np.linalg.cholesky(precision + ridge).T
    weights = np.zeros(terms.shape[1])
    weights[0] = math.exp(_weighted_mean(logs, precision))  # a constant, which always is a fit
    least_misfit = float(np.sum((root @ (logs - math.log(weights[0]))) ** 2))
    # The first step is least squares in relative error; on noisy data that leans to the low.
    near = np.exp(logs)
    for _ in range(4):
        linearised = root @ (terms / near[:, None])
        step, _ = nnls(linearised, root @ (logs - np.log(near) + 1), maxiter=100)
        near = terms @ step
        if near.min() <= 0:
            break
        misfit = float(np.sum((root @ (logs - np.log(near))) ** 2))
        if misfit >= least_misfit:
            break
        weights, least_misfit = step, misfit
    return [float(weight) for weight in weights]
