"""What a record loses by laws that dominate: at most by its length, and by the promise for all."""

from __future__ import annotations

import pytest

from mechanisms.base import Mechanism
from mechanisms.capabilities import Domain
from mechanisms.catalogue import example_data
from mechanisms.offers import Promise, PromiseStanding, offers
from verify.choice.record_price import price

PROMISE = Promise(1.0, 1e-6)


def _exact(loss: str, method: str, domain: Domain) -> Mechanism:
    (offer,) = (each for each in offers(loss) if (each.method, each.way) == (method, "exact"))
    mechanism = offer.build(loss, domain, PROMISE).mechanism
    assert mechanism is not None
    return mechanism


@pytest.mark.parametrize(
    ("loss", "method", "kind", "law"),
    [("squared", "AdaSSP", "linear", "proved bound"), ("logistic", "Gaussian output", "labels", "exact law")],
)
def test_laws_of_records_say_more_than_the_promise(loss: str, method: str, kind: str, law: str) -> None:
    data, domain = example_data(kind=kind), Domain(2, 1.0, 1.0, 30)
    found = price(_exact(loss, method, domain), data, domain, PROMISE, PromiseStanding.PROVED)
    assert found.kind == law
    assert found.median is not None
    assert found.largest is not None
    assert found.median < 0.8 * found.largest
    assert found.largest <= 1.0 + 1e-6


def test_objective_perturbation_goes_by_length() -> None:
    data, domain = example_data(), Domain(2, 1.0, 1.0, 30)
    found = price(_exact("squared", "ObjPert", domain), data, domain, PROMISE, PromiseStanding.PROVED)
    assert found.kind == "proved bound"
    assert found.median is not None
    assert found.median < 1.0
