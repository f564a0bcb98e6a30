"""Which mechanisms may be believed about themselves: ours as they are, and nothing that only looks like them."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rows import for_each
from toys.liars import AROUND, PROTOCOLS, liar, wrapped

import mechanisms
from audits import Budget, StreamKey
from audits.white_box.exact import sampled_delta
from audits.white_box.tails import audit_tails
from mechanisms import Direction, GaussianOutput, LogisticLoss, ObjectivePerturbation, PosteriorSampling
from mechanisms.catalogue import broken_twins, example_pair, recipes, reference_mechanisms
from mechanisms.linear.ridge import PlainMap, RidgeMap, ridge_fit
from mechanisms.reference import is_reference
from mechanisms.releases.composition import Composition, PostProcessed

HOME = Path(mechanisms.__file__).parent.parent
#: What users may state about their own mechanisms, by the documented protocol: it is examined, or vouched for.
STATED = {"WorstProfile"}


@for_each("name", sorted(reference_mechanisms()))
def test_ours_are(name: str) -> None:
    assert is_reference(reference_mechanisms()[name].mechanism)


@for_each("name", sorted(recipes()))
def test_what_a_recipe_builds_is(name: str) -> None:
    recipe = recipes()[name]
    loss = recipe.losses[0]
    pair = example_pair("labels" if loss in ("logistic", "smoothed-hinge") else "linear")
    assert is_reference(recipe.build(loss, pair, 0.5, 1e-5).mechanism)


@for_each("name", sorted(broken_twins()))
def test_a_misstated_one_is_not(name: str) -> None:
    assert not is_reference(broken_twins()[name].mechanism)


@for_each("protocol", sorted(PROTOCOLS))
def test_a_strangers_is_not_whatever_it_can_do(protocol: str) -> None:
    stranger = liar(protocol)
    assert isinstance(stranger, PROTOCOLS[protocol])
    assert not is_reference(stranger)


@for_each("around", AROUND)
def test_one_of_ours_around_a_strangers_is_not(around: str) -> None:
    assert not is_reference(wrapped(around))


def own_sum(dataset: Any) -> Any:
    return dataset.X.sum(axis=0)


class OwnLoss(LogisticLoss):
    """A loss of somebody's own."""


@dataclass(frozen=True)
class OwnRidge(RidgeMap):
    """An estimate that says that no record moves it."""

    def shift(self, pair: Any) -> Any:
        return np.zeros(pair.dataset.dim)


def test_a_function_an_estimator_and_a_loss_count_too() -> None:
    """What is proved about noise around an estimate rests on the estimate being a function of the data set alone."""
    ours = PosteriorSampling(0.5, 1.0)
    assert is_reference(GaussianOutput(np.eye(2), 1.0, PlainMap(ridge_fit)))  # type: ignore[arg-type]
    assert not is_reference(GaussianOutput(np.eye(2), 1.0, PlainMap(own_sum)))
    assert not is_reference(GaussianOutput(np.eye(2), 1.0, PlainMap(lambda dataset: dataset.X.sum(axis=0))))
    assert not is_reference(GaussianOutput(np.eye(2), 1.0, OwnRidge(1.0)))
    assert not is_reference(ObjectivePerturbation(OwnLoss(), 2.0, 1.0))
    assert not is_reference(PostProcessed(ours, own_sum))
    assert not is_reference(PostProcessed(ours, ours.draw))  # type: ignore[arg-type]
    assert is_reference(Composition((ours, ours), (2, 2)))


@for_each("name", ["draw", "profile", "envelope", "noise_map", "_slopes", "worst_profile", "anything"])
def test_one_that_carries_more_than_its_fields_is_not(name: str) -> None:
    mechanism = ObjectivePerturbation(LogisticLoss(), 2.0, 1.0)
    object.__setattr__(mechanism, name, lambda *_: None)
    assert not is_reference(mechanism)
    assert not is_reference(Composition((mechanism,), (2,)))


def test_a_borrowed_name_does_not_help() -> None:
    """Neither of a module, nor of a function in it."""

    class PosteriorSampling2(PosteriorSampling):
        pass

    def fit(dataset: Any) -> Any:
        return dataset.X.sum(axis=0)

    PosteriorSampling2.__module__ = fit.__module__ = "mechanisms.linear.ridge"
    PosteriorSampling2.__qualname__, fit.__qualname__ = "RidgeMap", "ridge_fit"
    assert not is_reference(PosteriorSampling2(0.5, 1.0))
    assert not is_reference(GaussianOutput(np.eye(2), 1.0, PlainMap(fit)))


def test_numbers_that_are_no_numbers_are_not() -> None:
    """An array of objects may hold anything."""

    class Array(np.ndarray):
        """Numbers with a method of somebody's own."""

    mechanism = GaussianOutput(np.eye(2), 1.0, RidgeMap(1.0))
    for matrix in (np.eye(2).view(Array), np.array([[1, 0], [0, 1]], dtype=object)):
        other = replace(mechanism)
        object.__setattr__(other, "precision", matrix)
        assert not is_reference(other)
    assert is_reference(replace(mechanism))


def test_a_subclass_is_not_and_its_envelope_is_not_believed() -> None:
    """It claims an event of probability e^-30: with it delta would be next to nothing."""

    class Own(ObjectivePerturbation):
        def envelope(self, pair: Any, direction: Direction, epsilon: float) -> Any:
            from mechanisms.envelopes.tail_envelopes import Envelope

            return Envelope(epsilon, -30.0, lambda n, rng: np.full(n, epsilon - 1.0))

    mechanism, pair = Own(LogisticLoss(), 1.0, 1.0), example_pair("labels")
    assert not is_reference(mechanism)
    budget = Budget(3_000, 1e-3, StreamKey(4))
    assert sampled_delta(mechanism, pair, 0.1, budget).low == audit_tails(mechanism, pair, [0.1], budget).delta(0.1).low
    honest = ObjectivePerturbation(LogisticLoss(), 1.0, 1.0)
    assert honest.envelope(pair, Direction.FORWARD, 0.1) is not None
    assert sampled_delta(honest, pair, 0.1, budget).high < 1


def unguarded(code: str) -> set[str]:
    """Return the functions that ask whether a mechanism has a capability and not whether it is to be believed."""
    known, found = set(PROTOCOLS) - STATED, set()
    for function in ast.walk(ast.parse(code)):
        if not isinstance(function, ast.FunctionDef):
            continue
        calls = [n for n in ast.walk(function) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
        asked = [c for c in calls if c.func.id == "isinstance" and known & _names(c)]  # type: ignore[attr-defined]
        if asked and not any(c.func.id == "is_reference" for c in calls):  # type: ignore[attr-defined]
            found.add(function.name)
    return found


def _names(call: ast.Call) -> set[str]:
    return {node.id for node in ast.walk(call) if isinstance(node, ast.Name)}


def test_nobody_asks_for_a_capability_without_asking_whose_it_is() -> None:
    for room in ("mechanisms", "audits", "verify"):
        for file in sorted((HOME / room).rglob("*.py")):
            assert not unguarded(file.read_text(encoding="utf-8")), file
    assert unguarded("def f(m):\n    return m.record_laws() if isinstance(m, BatchedRecords) else None") == {"f"}
