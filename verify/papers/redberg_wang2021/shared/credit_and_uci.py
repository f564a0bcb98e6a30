"""RW21's figures on data (F3, F6 to F10): what is run on a given data set, and when a claim about it is decided.

The paper shows one run a figure. What it says of it is decided as the probability, over all noise, that it is seen again:
it must exceed one half. Preparation of the data and the form of the report are not stated; a claim is decided where
every one of them says the same.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.special import ndtri

from audits import Budget, Estimate
from audits.stats.coverage import proportion
from mechanisms import Dataset, LogisticLoss, ObjectivePerturbation, SquaredLoss
from mechanisms.data.dataset import FloatArray, UnitRows, row_norms, z_score
from mechanisms.laws.gaussian_calibration import analytic_sigma
from mechanisms.numerics.goe import goe_tau
from mechanisms.objective.losses import GlmLoss
from mechanisms.objective.objective_calibration import variance_t5
from mechanisms.releases.report_terms import Releases, ReportScales, draw_releases

from ....kernel.evidence import given_or_missing
from ...kit import At, Case, Decide, Display, Draws, Evidence, Form, Numbers, Value, coverage_evidence
from ..figures.rw21_worst_case import bounds

#: Both failure probabilities of the figures (section 4.2).
DELTA = 1e-6
#: Runs a profile, by how large the data are: 27 is the fewest at which a claim that is always seen is decided.
FEW, SOME, MANY = (32, 48, 96), (32, 64, 192), (32, 200, 400)
#: What the slope of the squared loss is taken to be bounded by: |theta| <= 1 with unit rows and |y| <= 1. Not stated.
SQUARED_SLOPE = 2.0
#: Levels at which ratios are told.
LEVELS = (0.05, 0.5, 0.95)
#: The forms of the report: Algorithm 2 as printed, and corrected.
FORMS = ("printed", "corrected")
#: What the sums of the losses are told as.
SUMS = "summed losses of all releases over those of the independent report"
#: Which lambda the data-independent report runs with: Theorem 5's own, or the one that Algorithm 2 requires.
LAMBDAS = {
    "own": "each report with its own least lambda",
    "one": "both reports with the lambda that Algorithm 2 requires",
}


@dataclass(frozen=True, eq=False)
class ReportRun:
    """One run on a data set: every record's ex-post loss, each bound on it, and what the further releases cost it."""

    loss: FloatArray
    independent: FloatArray
    dependent: Mapping[str, FloatArray]
    releases: FloatArray

    def ratio(self, bound: FloatArray) -> FloatArray:
        """Return bound over loss; infinite where the loss underflows, 1 where both do."""
        both = (bound == 0) & (self.loss == 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(both, 1.0, bound / self.loss)


@dataclass(frozen=True)
class Shares:
    """A budget: for the parameter, for the gradient, for the Hessian."""

    theta: float
    gradient: float
    hessian: float


def prepared(dataset: Dataset, loss: GlmLoss) -> Iterator[tuple[str, Dataset]]:
    """Yield the data set under each preparation that the figures may have used, by its words; public bounds of 1.

    None is a private step: means, deviations, ranges and the largest norm are read off the data.
    """
    scores, unit = z_score(dataset).X, UnitRows()
    width = np.ptp(dataset.X, axis=0)
    ranged = (dataset.X - dataset.X.min(axis=0)) / np.where(width > 0, width, 1.0)
    longest = float(row_norms(scores).max())
    features = {
        "z-scores, unit rows": unit(scores),
        "z-scores over the longest row": scores / (longest if longest > 0 else 1.0),
        "columns on [0, 1], unit rows": unit(ranged),
    }
    y = response(dataset.y, loss)
    for words, X in features.items():
        yield words, Dataset(X, y, 1.0, 1.0, name=dataset.name, public=True)


def response(y: FloatArray, loss: GlmLoss) -> FloatArray:
    """Return labels -1 and +1 about the middle of the range, or centred values over the largest of them."""
    if isinstance(loss, LogisticLoss):
        return np.where(y > 0.5 * (y.min() + y.max()), 1.0, -1.0)
    centred = y - y.mean()
    largest = float(np.abs(centred).max())
    return np.asarray(centred / largest if largest > 0 else centred)


@cache
def _noise(bound: float, epsilon: float) -> float:
    return analytic_sigma(bound, epsilon, DELTA)


def scales(loss: GlmLoss, dim: int, shares: Shares, *, required: bool) -> ReportScales:
    """Return the parameters of a run: Theorem 5 (corrected) and the analytic Gaussian mechanism.

    ``required`` asks for the lambda of Algorithm 2 where that is larger than Theorem 5's.
    """
    xi = loss.xi(1.0, 1.0) if isinstance(loss, LogisticLoss) else SQUARED_SLOPE
    sigma, lam = math.sqrt(variance_t5(xi, shares.theta, DELTA)), 2.0 * loss.beta / shares.theta
    sigma3 = _noise(loss.beta / math.sqrt(2.0), shares.hessian)
    if required:
        lam = max(lam, 2.0 * sigma3 * goe_tau(dim, DELTA))
    return ReportScales(loss, sigma, lam, DELTA, _noise(xi, shares.gradient), sigma3)


def runs(dataset: Dataset, chosen: ReportScales, n_runs: int, rng: np.random.Generator) -> list[ReportRun]:
    """Return fresh runs of the parameter's release and of both reports on it."""
    mechanism = ObjectivePerturbation(chosen.loss, chosen.sigma, chosen.lam)
    released = draw_releases(mechanism, dataset, chosen, n_runs, rng=rng)
    assert released.gradient is not None
    assert released.hessian is not None
    return [
        one_run(mechanism, dataset, chosen, Releases(*(part[i : i + 1] for part in parts)))
        for parts in [(released.theta, released.gradient, released.hessian)]
        for i in range(n_runs)
    ]


def one_run(mechanism: ObjectivePerturbation, dataset: Dataset, chosen: ReportScales, releases: Releases) -> ReportRun:
    """Return what one run says of every record."""
    assert chosen.sigma2 is not None
    assert chosen.sigma3 is not None
    independent, corrected = bounds(chosen, releases, dataset)
    predictor, norms = dataset.X @ releases.theta[0], row_norms(dataset.X)
    slope = np.abs(chosen.loss.first(predictor, dataset.y)) * norms
    curvature = chosen.loss.second(predictor, dataset.y) * norms**2
    cost = _cost(slope / chosen.sigma2) + _cost(curvature / (math.sqrt(2.0) * chosen.sigma3))
    dependent = {"printed": printed_bound(chosen, releases, dataset), "corrected": corrected}
    return ReportRun(np.abs(mechanism.ex_post_losses(releases.theta[0], dataset)), independent, dependent, cost)


def _cost(mu: FloatArray) -> FloatArray:
    """Return what Theorems 14 and 17 print for a release: ``mu^2/2 + mu sqrt(2 log(1/delta))``."""
    return np.asarray(mu**2 / 2.0 + mu * math.sqrt(2.0 * math.log(1.0 / DELTA)))


def printed_bound(chosen: ReportScales, releases: Releases, dataset: Dataset) -> FloatArray:
    """Return DATA-DEP of every record as Algorithm 2 prints it; infinite where it has no logarithm.

    The same numbers as ``printed_terms``, for all records at once.
    """
    assert releases.gradient is not None
    assert releases.hessian is not None
    assert chosen.sigma2 is not None
    X, predictor = dataset.X, dataset.X @ releases.theta[0]
    first, second = chosen.loss.first(predictor, dataset.y), chosen.loss.second(predictor, dataset.y)
    slope, z = np.abs(first) * row_norms(X), -float(ndtri(0.5 * chosen.failure_prob))
    inner = first * (X @ releases.gradient[0])
    g_bar = np.minimum(inner + chosen.sigma2 * slope * z, chosen.sigma * slope * z)
    weight = second * 1.5 * np.einsum("ij,ji->i", X, np.linalg.solve(releases.hessian[0], X.T))
    with np.errstate(invalid="ignore", divide="ignore"):
        log_det = np.where(weight < 1.0, np.abs(np.log1p(-weight)), np.inf)
    return np.asarray(log_det + slope**2 / (2.0 * chosen.sigma**2) + np.abs(g_bar) / chosen.sigma**2)


#: From runs of the data-independent and of the data-dependent report, whether a claim is seen, by the form of the report;
#: None where they say nothing of it.
Seen = Callable[[ReportRun, ReportRun, str], bool | None]


def closer(independent: ReportRun, dependent: ReportRun, form: str) -> bool:
    """Return whether the median ratio of bound to loss is smaller for the data-dependent report."""
    return bool(_median(dependent, form) < float(np.median(independent.ratio(independent.independent))))


def closer_for_small(independent: ReportRun, dependent: ReportRun, form: str, *, largest: float) -> bool | None:
    """Return the same over the records whose loss is at most ``largest``; None where a run has no such record."""
    free = independent.ratio(independent.independent)[independent.loss <= largest]
    bound = dependent.ratio(dependent.dependent[form])[dependent.loss <= largest]
    return bool(np.median(bound) < np.median(free)) if len(free) and len(bound) else None


def comparable(independent: ReportRun, dependent: ReportRun, form: str, *, factor: float = 2.0) -> bool:
    """Return whether the summed losses with all releases are within ``factor`` of those of the other report."""
    return 1.0 / factor <= summed(independent, dependent, form) <= factor


def summed(independent: ReportRun, dependent: ReportRun, form: str) -> float:
    """Return the summed bounds and costs of the data-dependent report over the other's summed bounds."""
    return float((dependent.dependent[form] + dependent.releases).sum() / independent.independent.sum())


def _median(run: ReportRun, form: str) -> float:
    return float(np.median(run.ratio(run.dependent[form])))


def advantage(independent: ReportRun, dependent: ReportRun, form: str) -> float:
    """Return how many times smaller the median ratio of bound to loss is for the data-dependent report."""
    return float(np.median(independent.ratio(independent.independent))) / _median(dependent, form)


def glm(case: Case) -> GlmLoss:
    """Return the loss that a case names."""
    return SquaredLoss() if case.text("loss") == "squared" else LogisticLoss()


def both_reports(
    case: Case, dataset: Dataset, shares: Shares, n_runs: int, rng: np.random.Generator
) -> Iterator[tuple[ReportRun, ReportRun]]:
    """Yield runs of the data-independent and of the data-dependent report, as the case's reading of lambda has them.

    Where both have one lambda and one budget for the parameter they are one run, read twice.
    """
    loss, whole = glm(case), case.number("independent")
    one = case.text("lambda") == "one"
    required = scales(loss, dataset.dim, shares, required=True)
    dependent = runs(dataset, required, n_runs, rng)
    if one and whole == shares.theta:
        yield from zip(dependent, dependent, strict=True)
        return
    free = scales(loss, dataset.dim, replace(shares, theta=whole), required=False)
    if one:
        free = replace(free, lam=max(free.lam, required.lam))
    yield from zip(runs(dataset, free, n_runs, rng), dependent, strict=True)


@dataclass(frozen=True)
class RunCount:
    """In how many runs a claim was seen, and how many said nothing of it: each of those may have been either."""

    seen: int
    silent: int = 0

    @classmethod
    def of(cls, said: Iterable[bool | None]) -> "RunCount":
        """Count what the runs say."""
        each = list(said)
        return cls(each.count(True), each.count(None))

    def probability(self, n_runs: int, failure_prob: float) -> Estimate:
        """Return an interval of the probability that a claim is seen, whatever the silent runs would have said."""
        least, most = (proportion(count, n_runs, failure_prob) for count in (self.seen, self.seen + self.silent))
        return replace(least, high=most.high)


@dataclass(frozen=True)
class VariantCount:
    """How often a claim was seen under one preparation and form, and the interval of its probability."""

    words: str
    count: RunCount
    estimate: Estimate

    @property
    def seen(self) -> int:
        """In how many runs."""
        return self.count.seen

    @property
    def open(self) -> bool:
        """Whether the silent runs decide, so that more runs would not."""
        half = 0.5 * self.estimate.n_draws
        return self.count.silent > 0 and self.seen <= half <= self.seen + self.count.silent


def decided(case: Case, quantity: str, counted: list[VariantCount], notes: Mapping[str, Value]) -> Evidence:
    """Return the evidence of one claim: the tightest case where all preparations agree, none where they differ.

    They differ where two intervals are disjoint: then the preparation decides, which the paper does not state. So it does
    not state what is seen in a run that says nothing; where those decide, nothing is decided.
    """
    rising = sorted(counted, key=lambda each: each.estimate.low)
    rarest, surest = min(counted, key=lambda each: each.estimate.high), rising[-1]
    told = dict(notes) | {f"seen with {each.words}": each.seen for each in counted}
    told |= {f"silent with {each.words}": each.count.silent for each in counted if each.count.silent}
    n = surest.estimate.n_draws
    straddling = [each for each in rising if each.estimate.low <= 0.5 <= each.estimate.high]
    silent = next((each for each in straddling if each.open), None)
    reason = ""
    if surest.estimate.low > rarest.estimate.high:
        reason = (
            f"reading: what is not stated decides: seen in {rarest.seen} of {n} runs with "
            f"{rarest.words}, in {surest.seen} with {surest.words}"
        )
    elif silent is not None:
        reason = (
            f"reading: what is seen in a run without such a record is not stated: {silent.count.silent} of {n} runs "
            f"with {silent.words}"
        )
    highest = max(counted, key=lambda each: each.estimate.high)
    nearest = straddling[0] if straddling else rising[0] if rising[0].estimate.low > 0.5 else highest
    spent = sum(each.estimate.failure_prob for each in counted)
    evidence = coverage_evidence(quantity, 0.5, sampled=replace(nearest.estimate, failure_prob=spent), notes=told)
    return replace(evidence, sampled=None, reason=reason) if reason else evidence


def tally(
    case: Case,
    budget: Budget,
    quantity: str,
    seen: Callable[[Dataset, Budget], tuple[Mapping[str, RunCount], Mapping[str, Value]]],
) -> Evidence:
    """Decide that a claim is seen in more than half of all runs, on every data set and preparation of a case.

    Parameters
    ----------
    case : Case
        ``sets`` names its data sets, apart by a blank.
    seen : callable
        From a prepared data set and the budget of its runs to how often the claim is seen in them, by the form of the
        report, and what is worth printing.
    """
    sets = given_or_missing(case, quantity, case.text("sets").split())
    if isinstance(sets, Evidence):
        return sets
    variants = [
        (f"{name.partition('/')[2]}: {words}" if len(sets) > 1 else words, each)
        for name, dataset in sets.items()
        for words, each in prepared(dataset, glm(case))
    ]
    counted: list[VariantCount] = []
    notes: dict[str, Value] = {}
    for words, dataset in variants:
        own = budget.part(words, share=1 / len(variants))
        counts, numbers = seen(dataset, own)
        for form, count in counts.items():
            level = own.part(form, share=1 / len(FORMS)).spend("probability that the claim is seen")
            interval = count.probability(budget.n_draws, level)
            counted.append(VariantCount(f"{words}, {form} report", count, interval))
        notes |= {f"{words}: {name}": number for name, number in numbers.items()}
    return decided(case, quantity, counted, notes)


def seen_again(case: Case, budget: Budget, quantity: str, claim: Seen) -> Evidence:
    """Decide that a claim about two reports is seen in more than half of all runs."""
    shares = Shares(*(case.number(f"epsilon_{i}") for i in (1, 2, 3)))

    def seen(dataset: Dataset, own: Budget) -> tuple[Mapping[str, RunCount], Mapping[str, Value]]:
        pairs = list(both_reports(case, dataset, shares, own.n_draws, own.key.rng()))
        counts = {form: RunCount.of(claim(*pair, form) for pair in pairs) for form in FORMS}
        return counts, ratios(pairs)

    return tally(case, budget, quantity, seen)


def ratios(pairs: list[tuple[ReportRun, ReportRun]]) -> Mapping[str, Value]:
    """Return the quantiles over the records of bound over loss, in each report: medians over the runs."""
    free = np.median([np.quantile(run.ratio(run.independent), LEVELS) for run, _ in pairs], axis=0)
    told = {"independent": free}
    for form in FORMS:
        values = [np.quantile(run.ratio(run.dependent[form]), LEVELS) for _, run in pairs]
        told[f"dependent, {form}"] = np.median(values, axis=0)
    named = zip(("5 %", "median", "95 %"), range(len(LEVELS)), strict=True)
    quantiles = {f"{words} ({level})": float(values[i]) for level, i in named for words, values in told.items()}
    below = [np.mean(run.dependent["printed"] < run.loss) for _, run in pairs]
    sums = [summed(*pair, "corrected") for pair in pairs]
    return quantiles | {
        "share of records whose printed bound is below their loss": float(np.median(below)),
        SUMS: float(np.median(sums)),
    }


def by_lambda(key: str, title: str, typst: str, check: Decide, params: Numbers, draws: Draws) -> dict[str, Display]:
    """Return one display in both readings of lambda, by what is appended to the statement's id."""
    joint = "" if key.endswith("@") else "-"
    return {
        f"{key}{joint}{name}": Display(
            f"{title}; {words}",
            Form(
                typst, check, [At("fresh runs on the data as published", dict(params) | {"lambda": name}, draws=draws)]
            ),
        )
        for name, words in LAMBDAS.items()
    }


def budget(theta: float, gradient: float, hessian: float, *, independent: float) -> dict[str, float]:
    """Return the budgets of a case: of the three releases, and of the parameter in the data-independent report."""
    return {"epsilon_1": theta, "epsilon_2": gradient, "epsilon_3": hessian, "independent": independent}
