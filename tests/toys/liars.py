"""Mechanisms that lie by one method each: noise of 0.01 on a sum, and a capability that says it tells nothing apart.

One file that imports only ``mechanisms``, so that it can be copied beside a configuration and imported by path.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mechanisms import Composition, GaussianProfile, SufficientStatistics, capabilities
from mechanisms.base import Bracket
from mechanisms.broken.misstated import Drawn, Misstated, MisstatedLaw
from mechanisms.envelopes.tail_envelopes import Envelope
from mechanisms.laws.profile_tools import FromData
from mechanisms.records.record_laws import GaussianRecordLaws
from mechanisms.releases.composition import PostProcessed

NOISE = 0.01
#: Every lie that was asked for.
TOLD: list[str] = []


class Noisy:
    """The sum of the responses and next to no noise; honest about it."""

    name = "next to no noise"

    def draw(self, dataset: Any, n_draws: int, *, rng: np.random.Generator) -> Any:
        return dataset.y.sum() + NOISE * rng.standard_normal((n_draws, 1))

    def log_density(self, outputs: Any, dataset: Any) -> Any:
        return -0.5 * ((outputs[:, 0] - dataset.y.sum()) / NOISE) ** 2 - np.log(NOISE * np.sqrt(2 * np.pi))

    def privacy_loss(self, outputs: Any, pair: Any) -> Any:
        return self.log_density(outputs, pair.first) - self.log_density(outputs, pair.second)

    def profile(self, pair: Any) -> GaussianProfile:
        return GaussianProfile(abs(float(pair.first.y.sum() - pair.second.y.sum())) / NOISE)


class Stated(Noisy):
    """Its loss and its law are lies too, as a user's own may be: they are examined."""

    def privacy_loss(self, outputs: Any, pair: Any) -> Any:
        return np.zeros(len(outputs))

    def profile(self, pair: Any) -> GaussianProfile:
        return GaussianProfile(0.0)


def nothing(*_: Any) -> capabilities.Bound:
    return capabilities.stated_bound(0.0, 0.0, "a lie", "Because I say so.")


def no_pair(domain: Any, epsilon: float, _: float) -> capabilities.WorstPair:
    return capabilities.gaussian_worst_pair(domain, 0.0, epsilon, "a lie")


#: What a capability asks for, and the answer of somebody who has something to hide.
LIES: dict[str, Any] = {
    "worst_profile": lambda *_: GaussianProfile(0.0),
    "worst_case": nothing,
    "record_bound": nothing,
    "records_bound": nothing,
    "worst_target": nothing,
    "worst_pair": no_pair,
    "covers_records": True,
    "record_laws": lambda dataset: GaussianRecordLaws(np.zeros(dataset.n_records)),
    "dominating_laws": lambda dataset: GaussianRecordLaws(np.zeros(dataset.n_records)),
    "record_law_ends": lambda dataset: (GaussianRecordLaws(np.zeros(dataset.n_records)),) * 2,
    "record_losses": lambda outputs, dataset, records: np.zeros((len(outputs), len(records))),
    "ex_post_losses": lambda output, dataset: np.zeros(dataset.n_records),
    "envelope": lambda pair, direction, epsilon: Envelope(epsilon, -30.0, lambda n, rng: np.full(n, epsilon - 1.0)),
    "noise_map": lambda dataset: lambda noise: 0.0 * noise[:, :1],
    "report_scales": lambda *_: None,
    "coefficients": lambda outputs, dataset: np.zeros((len(outputs), dataset.dim)),
    "proves": lambda pair: True,
    "delta_bracket": lambda *_: Bracket(0.0, 0.0),
    "tail_bracket": lambda *_: Bracket(0.0, 0.0),
}
PROTOCOLS = {
    kind.__name__: kind
    for kind in (FromData, *vars(capabilities).values())
    if getattr(kind, "_is_runtime_protocol", False) and kind.__module__ in (FromData.__module__, capabilities.__name__)
}


def members(protocol: str) -> set[str]:
    """Return what a capability asks for beyond what every mechanism has."""
    kind = PROTOCOLS[protocol]
    asked = {*dir(kind), *getattr(kind, "__annotations__", {})}
    return {name for name in asked if not name.startswith("_")} - {*dir(Noisy), "mro"}


def told(name: str, lie: Any) -> Any:
    def method(self: Any, *given: Any, **named: Any) -> Any:
        TOLD.append(name)
        return lie(*given, **named)

    return method if callable(lie) else lie


def liar(protocol: str) -> Any:
    """Return somebody's mechanism that has one capability, and lies by it."""
    return type("Liar", (Noisy,), {name: told(name, LIES[name]) for name in members(protocol)})()


def wrapped(around: str) -> Any:
    """Return one of this project's classes around somebody's mechanism or function."""
    inner: Any = Stated()
    ours = SufficientStatistics(1.2, 1.0)
    return {
        "composition": lambda: Composition((inner,), (1,)),
        "second part": lambda: Composition((ours, inner), (5, 1)),
        "composition of a composition": lambda: Composition((Composition((inner,), (1,)),), (1,)),
        "post-processing": lambda: PostProcessed(inner, np.tanh),
        "misstated": lambda: Misstated(inner, inner),
        "misstated law": lambda: MisstatedLaw(inner, inner, law=inner.profile),
        "drawn": lambda: Drawn("a lie", lambda dataset, n_draws, rng: inner.draw(dataset, n_draws, rng=rng)),
    }[around]()


WRAPPERS = ("composition", "second part", "composition of a composition", "post-processing")
AROUND = (*WRAPPERS, "misstated", "misstated law", "drawn")
