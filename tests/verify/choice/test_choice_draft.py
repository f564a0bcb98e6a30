"""The draft of a configuration for a chosen mechanism: its numbers, what it says of the choice, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from mechanisms.capabilities import Domain
from mechanisms.catalogue import reference_mechanisms
from mechanisms.offers import Promise
from verify.certificates.claims.types import DPClaim
from verify.certificates.config.config import Configuration, parse
from verify.choice.choice_draft import draft, parameters_of
from verify.messages.errors import UserError

DOMAIN = Domain(3, 1.0, 1.0, 200)
PROMISE = Promise(1.0, 1e-6)
DATA: dict[str, Any] = {"file": "own.csv", "features": ["a", "b", "c"], "target": "y", "x_bound": 1.0, "y_bound": 1.0}
DATA |= {"ranges": {"a": [-1.0, 1.0], "b": [-1.0, 1.0], "c": [-1.0, 1.0]}}


def promised(config: Configuration) -> tuple[float | None, float | None, str]:
    """Return what the one claim of a draft says."""
    (claim,) = config.claims
    assert isinstance(claim, DPClaim)
    return claim.epsilon, claim.delta, claim.relation


def test_a_mechanism_is_named_by_the_parameters_that_build_it() -> None:
    named = {key: parameters_of(example.mechanism, 2) for key, example in reference_mechanisms().items()}
    words = {key: None if found is None else found.name for key, found in named.items()}
    assert words["ssp"] == "ssp"
    assert words["objective-logistic"] == "objective-perturbation"
    assert words["gaussian-isotropic"] == "gaussian-output"
    assert words["gaussian-output"] is None  # its noise is not alike in every coordinate
    assert words["hessian"] is None


@pytest.mark.parametrize("method", ["OPS", "SSP", "AdaSSP", "Gaussian output", "AdaOPS 2018", "AdaOPS 2019", "Sub-Agg"])
def test_a_draft_is_a_configuration(method: str) -> None:
    text = draft(method, "exact", "squared", DOMAIN, PROMISE, data=DATA, origin="public")
    config = parse(text)
    assert config.data.ranges == {"a": (-1.0, 1.0), "b": (-1.0, 1.0), "c": (-1.0, 1.0)}
    assert config.data.chosen_from_data == []
    assert promised(config) == (1.0, 1e-6, "add-remove")
    assert "public set" in text


def test_what_was_chosen_on_the_records_is_named() -> None:
    text = draft("ssp", "exact", "squared", DOMAIN, PROMISE, data=DATA, origin="records")
    keys = ["mechanism.name", "mechanism.sigma_gram", "mechanism.sigma_moment", "mechanism.lam"]
    assert parse(text).data.chosen_from_data == keys


def test_a_replacement_is_claimed_as_one() -> None:
    promise = Promise(1.0, 1e-6, "replace")
    text = draft("SSP", "exact", "squared", DOMAIN, promise, data=DATA, origin="synthetic")
    assert promised(parse(text)) == (1.0, 1e-6, "replace")


@pytest.mark.parametrize(
    ("method", "way", "words"),
    [
        ("nothing", "exact", "draft must be one of ObjPert, "),
        ("ObjPert", "exact", "draft must be for a mechanism that a configuration can name, got ObjPert"),
    ],
)
def test_a_draft_that_cannot_be_is_refused_in_one_line(method: str, way: str, words: str) -> None:
    with pytest.raises(UserError, match=f"^{words}[^\n]*$"):
        draft(method, way, "squared", DOMAIN, PROMISE, data=DATA, origin="records")


def test_names_that_toml_quotes_come_back() -> None:
    data = DATA | {"features": ["a b", 'c"d', "é"], "ranges": {"a b": [0.0, 1.0], 'c"d': [0.0, 1e-9], "é": [0, 5.5]}}
    config = parse(draft("SSP", "exact", "squared", DOMAIN, PROMISE, data=data, origin="public"))
    assert config.data.features == ["a b", 'c"d', "é"]
    assert config.data.ranges['c"d'] == (0.0, 1e-9)
