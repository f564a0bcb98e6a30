"""One cell against slow loops over folds and draws; what stops a cell is its reason; prices against single records."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest
from rows import for_each

from audits import StreamKey
from mechanisms import BOTH, Dataset, NeighbouringPair
from mechanisms.as_run.as_run_methods import as_run_methods
from mechanisms.base import Mechanism
from mechanisms.capabilities import Domain
from mechanisms.catalogue import example_data
from mechanisms.data.dataset import FloatArray
from mechanisms.data.synthetic import linear_unit_rows
from mechanisms.linear.sufficient_statistics import SufficientStatistics
from mechanisms.objective.losses import LogisticLoss
from mechanisms.objective.objective_perturbation import ObjectivePerturbation
from mechanisms.offers import Offer, Offered, Promise, PromiseStanding, least, offers
from verify.comparisons import choice_cell
from verify.comparisons.choice_cell import AS_RUN, LIGHT_RIDGE, CellSetting, Contender, Price, decide, price
from verify.comparisons.choice_data import ChoiceData
from verify.schemas.lines import trouble

ONE = Promise(1.0, 1e-6)


def small(n_records: int = 23, dim: int = 2) -> Dataset:
    return linear_unit_rows(n_records, dim, noise_sd=0.3, rng=np.random.default_rng(3)).dataset


def labelled(n_records: int = 23) -> Dataset:
    linear = small(n_records)
    return Dataset(linear.X, np.where(linear.y > 0, 1.0, -1.0), 1.0, 1.0, name="labels", public=True)


def setting(data: Dataset | None = None, loss: str = "squared", folds: int = 4, draws: int = 3) -> CellSetting:
    chosen = ChoiceData(data if data is not None else small(), "records")
    return CellSetting(chosen, loss, folds, draws, 7)  # type: ignore[arg-type]


def parts_of(n_records: int, n_folds: int) -> list[list[int]]:
    """The folds, as they are stated: a random permutation, cut into nearly equal parts, the longer ones first."""
    shuffled = list(StreamKey(7).child("compare").child("folds").rng().permutation(n_records))
    sizes = [n_records // n_folds + (place < n_records % n_folds) for place in range(n_folds)]
    return [sorted(shuffled[sum(sizes[:k]) : sum(sizes[: k + 1])]) for k in range(n_folds)]


def literal(
    data: Dataset, method: str, draw: Callable[[Dataset, np.random.Generator], FloatArray], folds: int
) -> tuple[float, float]:
    """Return the mean over folds, draws and records of the squared error, and its standard error over folds."""
    means = []
    for number, part in enumerate(parts_of(data.n_records, folds)):
        rest = [i for i in range(data.n_records) if i not in part]
        learned = Dataset(data.X[rest], data.y[rest], data.x_bound, data.y_bound)
        drawn = draw(learned, StreamKey(7).child("compare").child("draws", method, str(number)).rng())
        errors = [sum((data.y[i] - data.X[i] @ theta) ** 2 for i in part) / len(part) for theta in drawn]
        means.append(sum(errors) / len(errors))
    mean = sum(means) / folds
    return mean, math.sqrt(sum((each - mean) ** 2 for each in means) / (folds - 1) / folds)


def ssp() -> SufficientStatistics:
    offer = next(offer for offer in offers("squared") if (offer.method, offer.way) == ("SSP", "exact"))
    mechanism = offer.build("squared", Domain(2, 1.0, 1.0, 23), ONE).mechanism
    assert isinstance(mechanism, SufficientStatistics)
    return mechanism


def test_a_cell_is_the_slow_loop_through_the_public_class() -> None:
    row = decide(setting(), Contender("SSP", "exact", ONE))
    mechanism = ssp()
    mean, spread = literal(
        small(), "SSP", lambda data, rng: mechanism.output(mechanism.draw(data, 3, rng=rng), data.dim), 4
    )
    assert row["error"] == pytest.approx(mean, rel=1e-12)
    # Student's t at 0.975 with 3 degrees of freedom is 3.182446 (tables)
    assert row["error_high"] - row["error"] == pytest.approx(3.182446 * spread, rel=1e-6)
    assert row["error"] - row["error_low"] == pytest.approx(3.182446 * spread, rel=1e-6)
    assert (row["metric"], row["standing"], row["reason"]) == ("mean squared error", "proved", "")
    assert trouble(row, "comparison", 2) == ""


def test_the_price_is_that_of_every_record_one_by_one() -> None:
    row = decide(setting(), Contender("SSP", "exact", ONE))
    mechanism = ssp()
    data = small()
    each = sorted(
        max(mechanism.profile(NeighbouringPair.remove(data, i)).epsilon_at(1e-6, d) for d in BOTH)
        for i in range(data.n_records)
    )
    assert row["record_epsilon_kind"] == "exact law"
    # of 23 records the 12th and, the upper neighbour of 0.95 * 22 = 20.9, the 22nd
    expected = (each[11], each[21], each[-1])
    found = (row["record_epsilon_median"], row["record_epsilon_95"], row["record_epsilon_largest"])
    assert found == pytest.approx(expected, rel=1e-9)


def solved(data: Dataset) -> FloatArray:
    return np.asarray(np.linalg.lstsq(data.X, data.y, rcond=None)[0][None], dtype=np.float64)


def test_non_private_and_trivial_by_hand() -> None:
    row = decide(setting(), Contender("non-private", "", None))
    mean, _ = literal(small(), "non-private", lambda data, _: solved(data), 4)
    assert row["error"] == pytest.approx(mean, rel=1e-9)
    assert (row["epsilon"], row["neighbours"], row["way"], row["draws"]) == (None, "", "", 0)
    none = decide(setting(), Contender("trivial", "", None))
    mean, _ = literal(small(), "trivial", lambda data, _: np.zeros((1, 2)), 4)
    assert none["error"] == pytest.approx(mean, rel=1e-12)


def test_a_variant_of_the_published_code_is_a_line_of_its_own() -> None:
    row = decide(setting(), Contender("AdaSSP", AS_RUN, ONE))
    variant = as_run_methods()["AdaSSP"]
    built = variant.build(Domain(2, 1.0, 1.0, 23), ONE)
    mean, _ = literal(small(), "AdaSSP", lambda data, rng: built.coefficients(data, 3, rng), 4)
    assert row["error"] == pytest.approx(mean, rel=1e-12)
    assert row["rule"].startswith(variant.statement)
    assert (row["standing"], row["record_epsilon_kind"]) == ("", "")
    assert trouble(row, "comparison", 2) == ""
    wide = Dataset(small().X, small().y, 2.0, 1.0)
    assert decide(setting(wide), Contender("AdaSSP", AS_RUN, ONE))["reason"].startswith(
        "no number here: x_bound must be 1"
    )
    lines = choice_cell.contenders("squared", [ONE, Promise(1.0, 1e-6, "replace")], as_run=True)
    run = [line for line in lines if line.way == AS_RUN]
    assert len(run) == len(as_run_methods())
    assert all(line.promise in (None, ONE) for line in run)


def test_the_error_of_labels_counts_the_wrong_ones() -> None:
    data = labelled()
    assert decide(setting(data, "logistic"), Contender("trivial", "", None))["error"] == 0.5
    row = decide(setting(data, "logistic"), Contender("non-private", "", None))
    solver, means = ObjectivePerturbation(LogisticLoss(), 1.0, LIGHT_RIDGE), []
    for part in parts_of(23, 4):
        rest = [i for i in range(23) if i not in part]
        learned = Dataset(data.X[rest], data.y[rest], 1.0, 1.0)
        theta = solver.solve(learned, np.zeros((1, 2)))[0]
        means.append(sum((1.0 if data.X[i] @ theta > 0 else -1.0) != data.y[i] for i in part) / len(part))
    assert row["error"] == pytest.approx(sum(means) / 4, rel=1e-12)
    assert row["metric"] == "misclassification rate"


# --- mechanisms of a test ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Toy:
    """It draws one number for every coefficient: ``value``, or nothing at every second draw."""

    value: float = 0.0
    stops: bool = False
    n_steps: int = 1
    fails: bool = False

    @property
    def name(self) -> str:
        return "toy"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        if self.fails:
            raise np.linalg.LinAlgError("singular")
        outputs = np.full((n_draws, self.n_steps * dataset.dim), self.value)
        if self.stops:
            outputs[::2] = np.inf
        return outputs


def toys(monkeypatch: pytest.MonkeyPatch, build: Callable[[str, Domain, Promise], Offered]) -> Contender:
    offer = Offer("Toy", "published", build, ("squared",), "a test's own rule")

    def only(loss: str) -> Iterator[Offer]:
        return iter([offer])

    monkeypatch.setattr(choice_cell, "offers", only)
    return Contender("Toy", "published", ONE)


def refuse(loss: str, domain: Domain, promise: Promise) -> Offered:
    raise ValueError("epsilon must be below 1 here")


def crash(loss: str, domain: Domain, promise: Promise) -> Offered:
    raise KeyError("a cell of private data")


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda *_: Offered(None, "nothing is offered here"), "nothing is offered here"),
        (refuse, "no number here: epsilon must be below 1 here"),
        (crash, "stopped with KeyError"),
        (
            lambda *_: Offered(Toy(n_steps=10**8)),
            "not drawn: 1.2e+09 steps over folds and draws, and at most 3e+07 are taken",
        ),
    ],
)
def test_what_stops_a_cell_is_its_reason(
    monkeypatch: pytest.MonkeyPatch, build: Callable[[str, Domain, Promise], Offered], reason: str
) -> None:
    row = decide(setting(), toys(monkeypatch, build))
    assert (row["error"], row["error_low"], row["reason"]) == (None, None, reason)
    assert trouble(row, "comparison", 2) == ""


def test_a_draw_without_output_predicts_nothing_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    row = decide(setting(draws=4), toys(monkeypatch, lambda *_: Offered(Toy(stops=True))))
    assert row["error"] == pytest.approx(decide(setting(), Contender("trivial", "", None))["error"], rel=1e-12)
    assert row["reason"] == "8 of 16 draws gave no output, and predict 0"
    assert (row["standing"], row["record_epsilon_kind"]) == ("not proved", "the promise")


def test_why_records_have_no_price_is_told_beside_whatever_else_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> Price:
        raise ValueError("no law\nat these records")

    why = "no epsilon of the records: no law at these records"
    monkeypatch.setattr(choice_cell, "price", unknown)
    for toy, more in (
        (Toy(), ""),
        (Toy(stops=True), "; 8 of 16 draws gave no output, and predict 0"),
        (Toy(n_steps=10**8), "; not drawn: 1.6e+09 steps over folds and draws, and at most 3e+07 are taken"),
        (Toy(fails=True), "; no number here: singular"),
    ):
        row = decide(setting(draws=4), toys(monkeypatch, lambda *_, toy=toy: Offered(toy)))
        assert row["reason"] == why + more
        assert (row["record_epsilon_largest"], row["record_epsilon_kind"]) == (None, "")
        assert (row["error"] is None) == (more.startswith(("; not drawn", "; no number")))
        assert trouble(row, "comparison", 2) == ""


def test_an_infinite_error_is_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    row = decide(setting(), toys(monkeypatch, lambda *_: Offered(Toy(1e200))))
    assert (row["error_low"], row["error"], row["error_high"]) == (0.0, "inf", "inf")
    assert trouble(row, "comparison", 2) == ""


@pytest.mark.parametrize(("loss", "largest"), [("squared", math.inf), ("logistic", 1.0)])
def test_an_interval_ends_where_no_error_can_be(
    monkeypatch: pytest.MonkeyPatch, loss: Literal["squared", "logistic"], largest: float
) -> None:
    """Folds that differ much: the interval is cut at 0, a rate at 1 too; one within is as it was."""
    for means, cut in (([0.0, 0.9], True), ([0.4, 0.41], False)):
        each = iter(means)
        name = "squared_errors" if loss == "squared" else "misclassified"
        monkeypatch.setattr(choice_cell, name, lambda *_, each=each: np.array([next(each)]))
        row = decide(
            setting(small() if loss == "squared" else labelled(), loss, folds=2), Contender("trivial", "", None)
        )
        half = 12.7062 * 0.5 * (means[1] - means[0])  # Student's t at 0.975 with 1 degree of freedom (tables)
        low, high = row["error"] - half, row["error"] + half
        assert (low < 0) == cut
        assert row["error_low"] == pytest.approx(max(low, 0.0), rel=1e-5)
        assert row["error_high"] == pytest.approx(min(high, largest), rel=1e-5)


def test_long_transcripts_are_drawn_a_few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    @dataclass(frozen=True)
    class Counted(Toy):
        def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
            seen.append(n_draws)
            return super().draw(dataset, n_draws, rng=rng)

    monkeypatch.setattr(choice_cell, "NUMBERS", 8)
    drawn = choice_cell.DrawnEstimate(Counted(n_steps=2)).coefficients(small(), 5, np.random.default_rng(0))
    assert (seen, drawn.shape) == ([2, 2, 1], (5, 2))


# --- prices -----------------------------------------------------------------------------------------------------------


def test_a_bound_by_length_is_safe_for_every_record() -> None:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 2))
    X *= (rng.uniform(0.05, 1.0, 60) / np.linalg.norm(X, axis=1))[:, None]
    data = Dataset(X, np.where(X[:, 0] > 0, 1.0, -1.0), 1.0, 1.0)
    domain, mechanism = Domain(2, 1.0, 1.0, 60), ObjectivePerturbation(LogisticLoss(), 8.0, 0.5)
    found = price(mechanism, data, domain, ONE, PromiseStanding.PROVED)
    norms = np.sort(np.linalg.norm(X, axis=1))

    def alone(length: float) -> float:
        bound = mechanism.record_bound(domain, length)
        epsilon = least(lambda e: bound.delta_at(e, 1e-6) <= 1e-6, 1.0)
        assert epsilon is not None
        return epsilon

    assert found.kind == "proved bound"
    assert found.largest == pytest.approx(alone(float(norms[-1])), rel=1e-5)
    assert alone(float(norms[30])) * (1 - 1e-5) <= found.median <= 1.2 * alone(float(norms[30]))


def test_a_broken_promise_and_one_about_a_replacement_are_no_price() -> None:
    data, domain = small(), Domain(2, 1.0, 1.0, 23)
    assert price(Toy(), data, domain, ONE, PromiseStanding.BROKEN) == Price()
    assert price(Toy(), data, domain, Promise(1.0, 1e-6, "replace"), PromiseStanding.OPEN) == Price()
    assert price(Toy(), data, domain, ONE, PromiseStanding.OPEN) == Price(1.0, 1.0, 1.0, "the promise")


def test_exact_is_never_noisier_than_published_where_both_are_proved() -> None:
    """What a record loses is at most the promise, and the exact way spends at least what the published one does."""
    for loss, data in (("squared", small(120, 3)), ("logistic", labelled(120))):
        given = setting(data, loss, folds=2, draws=1)
        rows = {
            (offer.method, offer.way): decide(given, Contender(offer.method, offer.way, ONE))
            for offer in offers(loss)
            if offer.method != "NoisySGD"  # its accountant takes seconds
        }
        proved = {key: row for key, row in rows.items() if row["standing"] == "proved"}
        assert all(row["record_epsilon_largest"] <= 1 + 1e-5 for row in proved.values())
        both = [method for method, way in proved if way == "exact" and (method, "published") in proved]
        assert both
        for method in both:
            spent = [proved[method, way]["record_epsilon_largest"] for way in ("published", "exact")]
            assert spent[0] <= spent[1] * (1 + 1e-4), method


def test_what_is_unknown_stays_empty() -> None:
    row = choice_cell.blank(setting(), Contender("SSP", "exact", ONE), "not reached")
    assert trouble(row, "comparison", 2) == ""
    assert (row["reason"], row["error"], row["standing"]) == ("not reached", None, "")


PROMISE = Promise(1.0, 1e-6)


def _exact(loss: str, method: str, domain: Domain) -> Mechanism:
    (offer,) = (each for each in offers(loss) if (each.method, each.way) == (method, "exact"))
    mechanism = offer.build(loss, domain, PROMISE).mechanism
    assert mechanism is not None
    return mechanism


@for_each(
    ("loss", "method", "kind", "law"),
    [("squared", "AdaSSP", "linear", "proved bound"), ("logistic", "Gaussian output", "labels", "exact law")],
)
def test_laws_of_records_say_more_than_the_promise(loss: str, method: str, kind: str, law: str) -> None:
    data, domain = example_data(kind=kind), Domain(2, 1.0, 1.0, 30)
    found = price(_exact(loss, method, domain), data, domain, PROMISE, PromiseStanding.PROVED)
    assert found.kind == law
    assert found.median < 0.8 * found.largest
    assert found.largest <= 1.0 + 1e-6


def test_objective_perturbation_goes_by_length() -> None:
    data, domain = example_data(), Domain(2, 1.0, 1.0, 30)
    found = price(_exact("squared", "ObjPert", domain), data, domain, PROMISE, PromiseStanding.PROVED)
    assert found.kind == "proved bound"
    assert found.median < 1.0
