"""The one examination: what it asks of a mechanism, what it believes, and what it cannot say without draws."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from toys.noisy_sum import NoisySum

from audits import Budget, StreamKey
from audits.black_box.claims import gaussian_dp_claim, group_claim, point_claim
from audits.estimate import Estimate
from audits.examination.examine_choose import until_refuted
from audits.examination.examine_pair import PairExamination, refutes_the_claim
from audits.examination.examined import Demand, DrawnPair, Enough, shortfall
from audits.examination.examined_claim import examine
from audits.examination.witnesses import Witness, of_test
from audits.search.pairs import PublicDomain, examination_pairs
from audits.search.worst_case import NamedPair
from audits.verdict import CheckRole, Decision, Ground, Stated
from audits.white_box.exact import exact_delta, exact_epsilon
from mechanisms import Dataset, GaussianProfile, LaplaceProfile, NeighbouringPair, PosteriorSampling, Relation
from mechanisms.base import BOTH, PrivacyProfile
from mechanisms.data.neighbours import UnsupportedRelation
from mechanisms.laws.gaussian_calibration import analytic_sigma
from mechanisms.reference import is_reference
from verify.certificates.claims.examination import advice, runner
from verify.engine.work import in_order
from verify.kernel.statement import Claim
from verify.kernel.verdict import Outcome, decide

DOMAIN = PublicDomain(1, 1.0, 1.0)
PAIRS = examination_pairs(DOMAIN, Relation.ADD, count=12)


def budget(n_draws: int = 4_000, seed: int = 1) -> Budget:
    return Budget(n_draws, 1e-4, StreamKey(seed))


class Moment:
    """X^T y plus normal noise; what is drawn may be less than what is stated."""

    name = "moment"

    def __init__(self, sigma: float = 5.0, drawn: float | None = None) -> None:
        self.sigma, self.drawn = sigma, sigma if drawn is None else drawn

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
        return dataset.X.T @ dataset.y + self.drawn * rng.standard_normal((n_draws, dataset.dim))

    def log_density(self, outputs: Any, dataset: Dataset) -> Any:
        return -0.5 * np.square((outputs - dataset.X.T @ dataset.y) / self.sigma).sum(axis=1)

    def worst_profile(self, x_bound: float, y_bound: float) -> GaussianProfile:
        return GaussianProfile(x_bound * y_bound / self.sigma)


class DrawsOnly:
    name = "draws only"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
        return dataset.y.sum() + 8.0 * rng.standard_normal((n_draws, 1))


class Refusing(Moment):
    """Refuses data sets of fewer records than it wants."""

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
        if dataset.n_records < 8:
            raise ValueError("at least 8 records")
        return super().draw(dataset, n_draws, rng=rng)


class Silent(Moment):
    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
        raise ValueError("no")


def run(mechanism: Any, **more: Any) -> Any:
    given = {"wanted": 2, "demand": Demand(2, 2_000)} | more
    return examine(mechanism, PAIRS, point_claim(1.0, 1e-2), budget(), **given)


def test_an_honest_mechanism_is_examined_and_its_law_was_compared() -> None:
    found = run(Moment())
    assert found.ruling(attested=True).ground in (Ground.NO_VIOLATION, Ground.ATTESTED)
    assert found.law == ""
    assert found.missing == ""
    assert not found.violations
    assert found.enough is not None
    assert {pair.draws for pair in found.drawn} == {2_000}
    assert 0 < found.visible < 0.5
    lows = [w.estimate.low for p in found.pairs for w in p.witnesses if w.about == "black box: epsilon"]
    assert lows
    assert all(math.isfinite(low) for low in lows)


@pytest.mark.parametrize(("drawn", "refuted"), [(0.0, True), (0.5, True), (4.0, False)])
def test_noise_that_is_less_than_stated_is_refuted(drawn: float, refuted: bool) -> None:
    """The statement always, and the claim where its draws show it."""
    found = run(Moment(drawn=drawn))
    assert Stated.DENSITY in found.misstated
    assert found.ruling().words == ("FAIL" if refuted else "UNDECIDED (its own statement is refuted)")


def test_a_worst_case_that_is_stated_too_small_is_refuted() -> None:
    class Boastful(Moment):
        def worst_profile(self, x_bound: float, y_bound: float) -> GaussianProfile:
            return GaussianProfile(0.01)

    found = run(Boastful(1.0))
    assert found.misstated == (Stated.WORST_CASE,)
    assert any("worst_profile" in witness.quantity for _, witness in found.misstatements)


def test_draws_alone_support_nothing() -> None:
    found = run(DrawsOnly())
    assert found.ruling(attested=True).ground is Ground.NO_VIOLATION
    assert "log_density" in found.law


def test_what_refuses_everything_was_not_examined() -> None:
    found = run(Silent())
    assert found.ruling().ground is Ground.NOT_TESTED
    assert found.enough is None
    assert found.missing == "the code raised ValueError at every call (no)"
    assert len(found.skipped) == len(PAIRS)


def test_where_a_mechanism_begins_to_accept_two_neighbours_are_told_apart() -> None:
    found = run(Refusing())
    pair, witness = found.refutations[0]
    assert "7 records" in pair.name
    assert "8 accepted" in pair.name
    assert witness.about == "black box: the claim"
    domain = PublicDomain(1, 1.0, 1.0, n_min=8)
    inside = examine(
        Refusing(), examination_pairs(domain, Relation.ADD, count=24), point_claim(1.0, 1e-2), budget(), wanted=2
    )
    assert inside.ruling().decision is not Decision.FAIL
    assert not inside.skipped


def test_groups_and_curves_are_claims_like_others() -> None:
    groups = examination_pairs(DOMAIN, Relation.ADD, group=3, count=2)
    for sigma, outcome in ((20.0, False), (1.0, True)):
        claim = group_claim(point_claim(1.0, 1e-2), 3)
        found = examine(Moment(sigma), groups, claim, budget(), wanted=1)
        assert (found.ruling().decision is Decision.FAIL) is outcome
    for mu, refuted in ((0.5, False), (0.05, True)):
        found = examine(Moment(2.0), PAIRS, gaussian_dp_claim(mu), budget(20_000), wanted=1)
        assert (found.ruling().decision is Decision.FAIL) is refuted


def test_a_reference_mechanism_answers_by_its_own_law() -> None:
    data = Dataset(np.array([[0.6], [-0.8], [0.3]]), np.array([1.0, -1.0, 0.2]), 1.0, 1.0, public=True)
    pair = NamedPair("one", NeighbouringPair.remove(data, 0))
    found = examine(PosteriorSampling(0.5, 1.0), [pair], point_claim(3.0, 1e-2), budget())
    assert found.ruling().ground is Ground.PROVED
    (witness,) = found.pairs[0].witnesses
    assert witness.exact is not None
    assert witness.sampled is not None
    assert witness.consistent


def test_pairs_must_be_there_distinct_and_of_the_claimed_relation() -> None:
    claim = point_claim(1.0, 1e-2)
    with pytest.raises(ValueError, match="pairs must not be empty"):
        examine(Moment(), [], claim, budget())
    with pytest.raises(ValueError, match="distinct names"):
        examine(Moment(), [PAIRS[0], PAIRS[0]], claim, budget())
    replaced = examination_pairs(DOMAIN, Relation.REPLACE, count=2)
    with pytest.raises(UnsupportedRelation):
        examine(Moment(), replaced, claim, budget())


def test_enough_cannot_be_made_from_less() -> None:
    """No call makes one of fewer pairs, of draws on one side alone, or of a leak that stays unseen."""
    demand = Demand(2, 100, visible=0.05)
    full = (DrawnPair("a", 100, 100), DrawnPair("b", 120, 100))
    assert Enough(demand, full, 0.05).drawn == full
    for drawn, visible in (
        (full[:1], 0.01),
        ((full[0], full[0]), 0.01),
        ((full[0], DrawnPair("b", 100, 99)), 0.01),
        ((full[0], DrawnPair("b", 100, 0)), 0.01),
        ((), 0.01),
        (full, 0.06),
        (full, math.nan),
    ):
        assert shortfall(demand, drawn, visible)
        with pytest.raises(ValueError, match=r"drawn from|could not have been seen"):
            Enough(demand, drawn, visible)
    # of wide outputs fewer draws will do, where they see enough
    wide = (full[0], DrawnPair("wide", 60, 60, 60))
    assert Enough(Demand(2, 100), wide, 0.05).drawn == wide
    assert shortfall(Demand(2, 100), wide, 0.06)
    assert shortfall(Demand(2, 100, 0.5), full, 1.0).startswith("no leak could have been seen")
    assert shortfall(Demand(2, 100), (full[0], DrawnPair("wide", 60, 59, 60)), 0.01)
    assert not shortfall(Demand(2, 100), full, 0.06)
    for pairs, draws, visible in ((0, 1, 1.0), (1, 0, 1.0), (1, 1, 0.0), (1, 1, 1.5)):
        with pytest.raises(ValueError, match="must be"):
            Demand(pairs, draws, visible)


def test_a_witness_needs_an_estimate() -> None:
    with pytest.raises(ValueError, match="an estimate"):
        Witness("nobody", CheckRole.REFUTES, "nothing", 0.0, 1.0)


def test_the_same_budget_gives_the_same_examination() -> None:
    first, second = (run(Moment(), run=mapped) for mapped in (map, lambda f, works: [f(work) for work in works][:]))
    assert first == second


def test_draws_never_exceed_the_cap() -> None:
    counted = Moment()
    calls = []
    draw = Moment.draw

    class Counted(Moment):
        def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
            calls.append(n_draws)
            return draw(counted, dataset, n_draws, rng=rng)

    found = run(Counted(), max_draws=6_000)
    assert sum(calls) <= 6_000
    assert found.ruling().ground is Ground.NOT_TESTED


def test_a_class_that_only_says_it_is_ours_is_examined() -> None:
    """Neither a borrowed module name, nor an own function on one of our objects, is believed."""

    class Borrowed(Silent):
        pass

    Borrowed.__module__ = "mechanisms.linear.posterior_sampling"
    assert run(Borrowed()).ruling().ground is Ground.NOT_TESTED
    real = PosteriorSampling(0.5, 1.0)
    assert is_reference(real)
    object.__setattr__(real, "draw", lambda dataset, n_draws, *, rng: np.zeros((n_draws, 1)))
    assert not is_reference(real)


def test_what_counts_as_drawn_was_drawn() -> None:
    """A data set that is refused before any random number is asked for costs nothing, and counts as nothing."""

    class OneSide(Moment):
        def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
            if dataset.n_records == 7:
                raise ValueError("seven")
            return super().draw(dataset, n_draws, rng=rng)

    six = next(named for named in PAIRS if named.pair.first.n_records == 6 and named.pair.second.n_records == 7)
    found = examine(OneSide(), [six], point_claim(1.0, 1e-2), budget())
    assert found.ruling().decision is Decision.FAIL
    (pair,) = found.pairs
    assert (pair.drawn.first, pair.drawn.second) == (2_000, 0)
    assert found.enough is None


def test_a_reference_gives_no_enough_and_is_examined_when_it_is_not_to_be_believed() -> None:
    data = Dataset(np.array([[0.6], [-0.8], [0.3]]), np.array([1.0, -1.0, 0.2]), 1.0, 1.0, public=True)
    pair = NamedPair("one", NeighbouringPair.remove(data, 0))
    mechanism = PosteriorSampling(0.5, 1.0)
    assert examine(mechanism, [pair], point_claim(3.0, 1e-2), budget()).enough is None
    examined = examine(mechanism, [pair], point_claim(3.0, 1e-2), budget(20_000), believe=False)
    assert examined.contract
    assert examined.ruling().decision is not Decision.FAIL
    assert examined.enough is not None


def test_a_stated_profile_that_the_draws_contradict_is_a_false_word() -> None:
    class Lying(Moment):
        def profile(self, pair: NeighbouringPair) -> GaussianProfile:
            return GaussianProfile(1e-6)

    found = run(Lying(0.5))
    assert Stated.PROFILE in found.misstated
    assert "stated profile" in {witness.about for _, witness in found.misstatements}
    assert all(witness.consistent for _, witness in (*found.refutations, *found.misstatements))


@pytest.mark.parametrize(
    "empty",
    [lambda n: np.zeros((n, 0)), lambda n: np.zeros((n, 2, 0), dtype=int), lambda n: pd.DataFrame(index=range(n))],
)
def test_outputs_without_a_number_are_one_constant(empty: Callable[[int], Any]) -> None:
    class Still:
        name = "still"

        def __init__(self, at: int | None) -> None:
            self.at = at

        def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
            still = self.at is None or dataset.n_records == self.at
            return empty(n_draws) if still else rng.standard_normal((n_draws, 1))

    constant = examine(Still(None), PAIRS, point_claim(1.0, 0.0), budget(1_000), wanted=1)
    assert constant.ruling(attested=True).ground is Ground.NO_VIOLATION
    assert not constant.violations
    leak = examine(Still(PAIRS[0].pair.first.n_records), PAIRS, point_claim(1.0, 0.0), budget(1_000), wanted=1)
    assert leak.ruling().decision is Decision.FAIL


PAIRS_early = examination_pairs(PublicDomain(1, 1.0, 1.0), Relation.ADD, count=6)
OWN = [replace(named, name=f"own {place}") for place, named in enumerate(PAIRS_early[:2])]


def found(least=10**9, **more):
    budget = Budget(2_000, 1e-4, StreamKey(3))
    return examine(NoisySum(least), PAIRS_early, point_claim(1.0, 0.0), budget, own=OWN, private=True, **more)


def test_an_honest_mechanism_is_examined_on_every_pair():
    honest = found()
    assert honest.ruling(attested=True).ground is Ground.NO_VIOLATION
    assert honest.left_out == ("", "")
    assert len(honest.pairs) >= len(PAIRS_early) + len(OWN)


def test_the_first_pair_that_refutes_ends_it_and_what_is_left_out_is_said():
    early, whole = found(0), found(0, complete=True)
    assert early.ruling().decision is whole.ruling().decision is Decision.FAIL
    assert len(early.pairs) == 1
    assert len(whole.pairs) >= len(PAIRS_early) + len(OWN)
    left, n = len(whole.pairs) - 1, len(whole.pairs)
    assert early.left_out[0] == f"{left} of {n} pairs of data sets were not examined: the claim was refuted before"
    assert early.public().left_out[0].startswith(f"{left - 2} of {n - 2} ")  # of private pairs nothing is said outside
    assert early.missing
    assert early.enough is None
    assert whole.left_out == ("", "")
    assert early.pairs[0] == whole.pairs[0]


def test_a_late_leak_is_found_and_what_was_examined_before_stays():
    late = found(100)
    assert late.ruling().decision is Decision.FAIL
    assert [refutes_the_claim(pair) for pair in late.pairs] == [False] * (len(late.pairs) - 1) + [True]


@pytest.mark.parametrize("least", [0, 20])
def test_the_record_is_the_same_for_any_number_of_processes(least):
    alone, apart = (found(least, run=runner(jobs), make=partial(NoisySum, least)) for jobs in (1, 2))
    assert alone.pairs == apart.pairs
    assert alone.left_out == apart.left_out


def pair(*witnesses):
    return PairExamination("a pair", False, witnesses, DrawnPair("a pair", 100, 100))


def outcome(about, refuted):
    role, tests = (CheckRole.STATES, Stated.DENSITY) if about.startswith("stated law") else (CheckRole.REFUTES, None)
    p_value = 1e-9 if refuted else 0.5
    return of_test(about, p_value, 1e-6, 100, refuted=refuted, words="", role=role, tests=tests)


def by_law(low, whose="the claim"):
    number = Estimate(low, low, low, 1e-6, 100, "sampled")
    claimed = whose == "the claim"
    return Witness(
        "delta by the stated law",
        CheckRole.REFUTES if claimed else CheckRole.STATES,
        f"delta at epsilon 1 against {whose}",
        0.0,
        0.1,
        None,
        number,
        tests=None if claimed else Stated.WORST_CASE,
        rests_on=(Stated.DENSITY,),
    )


@pytest.mark.quick
def test_what_refutes_the_claim_and_what_refutes_a_statement():
    assert refutes_the_claim(pair(outcome("black box: the claim", True)))
    assert refutes_the_claim(pair(by_law(0.2)))
    assert refutes_the_claim(
        pair(by_law(0.2), outcome("black box: the claim", True), outcome("stated law: first data set", True))
    )
    assert not refutes_the_claim(pair(outcome("black box: the claim", False), by_law(0.05)))
    assert not refutes_the_claim(pair(by_law(0.2), outcome("stated law: first data set", True)))
    assert not refutes_the_claim(pair(by_law(0.2, "worst_profile")))
    assert not refutes_the_claim(pair(outcome("stated law: ratio of the two", True)))


def test_nothing_is_begun_after_the_end():
    begun = []
    results = in_order(
        lambda place: begun.append(place) or pair(outcome("black box: the claim", place == 2)), range(9), 1
    )
    assert len(until_refuted(results, complete=False)) == 3
    assert begun == [0, 1, 2]


#: Standard deviation of the analytic Gaussian mechanism at (1, 1e-5), sensitivity 1.
SIGMA = analytic_sigma(1.0, 1.0, 1e-5)
GAUSSIAN, PURE = Claim("delta at epsilon 1", 0.0, 1e-5, 1.0), Claim("delta at epsilon 1", 0.0, 0.0, 1.0)

#: What is claimed, and the law of the loss of what is run.
WRONG = {
    "Gaussian noise divided by 1.1": (GAUSSIAN, GaussianProfile(1.1 / SIGMA)),
    "Gaussian noise divided by 1.5": (GAUSSIAN, GaussianProfile(1.5 / SIGMA)),
    "Laplace noise of half the scale": (PURE, LaplaceProfile(2.0)),
    # the edge itself: no sampled audit could tell these from a correct mechanism
    "Gaussian noise divided by 1 + 1e-12": (GAUSSIAN, GaussianProfile((1 + 1e-12) / SIGMA)),
    "Laplace, one unit in the last place": (PURE, LaplaceProfile(math.nextafter(1.0, 2.0))),
}
RIGHT = {
    "Gaussian, the least noise": (GAUSSIAN, GaussianProfile(1 / SIGMA)),
    "Gaussian, a trace more noise": (GAUSSIAN, GaussianProfile((1 - 1e-12) / SIGMA)),
    "Laplace, with equality": (PURE, LaplaceProfile(1.0)),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_violation_is_refuted_without_a_draw(name: str) -> None:
    claim, profile = WRONG[name]
    found = exact_delta(profile, 1.0)
    assert decide(claim, found) is Outcome.FAILS
    assert (found.n_draws, found.failure_prob) == (0, 0.0)
    assert exact_epsilon(profile, claim.high).low > 1.0 - 1e-12


@pytest.mark.parametrize("name", RIGHT)
def test_a_correct_mechanism_holds_although_it_reaches_its_claim(name: str) -> None:
    claim, profile = RIGHT[name]
    found = exact_delta(profile, 1.0)
    assert decide(claim, found) is Outcome.HOLDS
    assert claim.high - found.high < 1e-15  # with equality, to rounding


def test_the_numbers_are_the_known_ones() -> None:
    """delta(1) = 4.31e-5 and 1.36e-3 (two-term formula, Balle and Wang 2018), 1 - e^(-1/2) for the Laplace."""
    seen = [exact_delta(profile, 1.0).value for _, profile in list(WRONG.values())[:3]]
    assert seen == pytest.approx([4.3128e-5, 1.35968e-3, -math.expm1(-0.5)], rel=1e-5)


@pytest.mark.parametrize("claimed", [GaussianProfile(1 / SIGMA), LaplaceProfile(1.0)])
@pytest.mark.parametrize("factor", [1.1, 1.5, 2.0])
def test_the_whole_claimed_curve_is_broken_at_every_epsilon(claimed: PrivacyProfile, factor: float) -> None:
    """Less noise of one family raises the whole curve: proved on a grid, in both directions."""
    size = claimed.mu if isinstance(claimed, GaussianProfile) else claimed.size
    run = type(claimed)(factor * size)
    for epsilon in (0.0, 0.1, 0.5, 0.9, 1.05):
        for direction in BOTH:
            assert run.delta_bracket(epsilon, direction).low > claimed.delta_bracket(epsilon, direction).high


ONE_ADDED = NamedPair(
    "one added", NeighbouringPair.add(Dataset(np.empty((0, 1)), np.empty(0), x_bound=1.0, y_bound=1.0), [0.5], 0.5)
)


class Typed:
    """The number of records, without noise or with it, in the type that a function of the data set gives."""

    name = "typed"

    def __init__(self, of: Callable[[Any], Any]) -> None:
        self.of = of

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> list[Any]:
        return [self.of(dataset, float(rng.integers(9))) for _ in range(n_draws)]


@pytest.mark.parametrize(
    "of",
    [
        lambda data, noise: 0 if data.n_records else 0.0,
        lambda data, noise: int(noise) if data.n_records else noise,
        lambda data, noise: np.float32(noise) if data.n_records else noise,
        lambda data, noise: [int(noise), 1] if data.n_records else [noise, 1.0],
        lambda data, noise: {"sum": np.int64(noise)} if data.n_records else {"sum": noise},
        lambda data, noise: np.array([noise], dtype="i4" if data.n_records else "f8"),
    ],
)
def test_a_type_alone_refutes_nothing_and_is_told(of: Any) -> None:
    found = examine(Typed(of), [ONE_ADDED], point_claim(1.0, 0.0), budget(1_000))
    assert not found.refutations
    assert found.types.startswith("numbers are of type float on the first data set and of type ")


@pytest.mark.parametrize("of", [lambda data, noise: bool(data.n_records), lambda data, noise: str(data.n_records)])
def test_another_value_is_refuted_as_ever(of: Any) -> None:
    assert examine(Typed(of), [ONE_ADDED], point_claim(1.0, 0.0), budget(1_000)).refutations


class Fails(Moment):
    """A mechanism that raises what a function of the data set gives, and draws where that is None."""

    def __init__(self, stop: Callable[[Dataset], Exception | None]) -> None:
        super().__init__(5.0)
        self.stop = stop

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
        stop = self.stop(dataset)
        if stop is not None:
            raise stop
        return super().draw(dataset, n_draws, rng=rng)


REFUSALS: list[tuple[Callable[[Dataset], Exception | None], str, str]] = [
    (lambda d: TypeError(f"cannot use {d.y}"), "the code raised TypeError at every call", "correct the code"),
    (lambda d: AttributeError("no attribute Z"), "the code raised AttributeError at every call", "correct the code"),
    (lambda d: ValueError("few") if d.n_records < 2 else None, "", "data.n_min"),
    (lambda d: ValueError("many") if d.n_records > 2 else None, "", "whatever a single record is"),
    (lambda d: ValueError() if d.n_records % 2 else TypeError(), "", "each with another error"),
    (lambda d: ValueError(str(d.y)) if np.any(d.y > 0.5) else None, "", "whatever a single record is"),
]


@pytest.mark.parametrize(("stop", "missing", "way_out"), REFUSALS)
def test_refusals_are_compared_by_their_type_and_have_a_remedy_that_fits(
    stop: Callable[[Dataset], Exception | None], missing: str, way_out: str
) -> None:
    found = examine(Fails(stop), PAIRS, point_claim(1.0, 1e-2), budget())
    assert found.missing.startswith(missing)
    assert bool(found.refutations) is not bool(missing)
    said = advice(found, None, vouched=False, covered=False)
    assert way_out in said
    assert ("data.n_min" in said) is (bool(missing) or way_out == "data.n_min")
    assert "draw more" not in said


@pytest.mark.parametrize(
    ("of", "claim", "words"),
    [
        (lambda data, noise: 7, point_claim(1.0, 0.0), "epsilon is at least 0: all outputs of a pair are equal."),
        (lambda data, noise: "same", point_claim(1.0, 0.0), "epsilon is at least 0: all outputs of a pair are equal."),
        (lambda data, noise: noise, point_claim(9.0, 0.0), "epsilon is at least 0."),
        (lambda data, noise: data.n_records, point_claim(90.0, 0.0), ", certified."),
        (lambda data, noise: data.n_records, point_claim(90.0, 1e-6), " at the claimed delta, certified."),
        (lambda data, noise: data.n_records, gaussian_dp_claim(60.0), " at delta "),
    ],
)
def test_a_lower_bound_is_always_said_with_its_delta_where_there_is_one(of: Any, claim: Any, words: str) -> None:
    found = examine(Typed(of), [ONE_ADDED], claim, budget(1_000))
    said = advice(found, None, vouched=False, covered=False)
    assert words in said
    assert ("at the claimed delta" in said) is (claim.curve is None and claim.delta > 0)
