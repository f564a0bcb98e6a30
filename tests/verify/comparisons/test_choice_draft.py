"""The draft of a configuration for a chosen mechanism: its numbers, what it says of the choice, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rows import for_each

from mechanisms.capabilities import Domain
from mechanisms.catalogue import reference_mechanisms
from mechanisms.offers import Promise, offers
from verify import certify
from verify.certificates.claims.types import DPClaim
from verify.certificates.config.config import Configuration, parse
from verify.cli import invoke
from verify.comparisons.choice_data import gather, section_of
from verify.comparisons.choice_draft import compared, data_keys, domain_of, draft, parameters_of
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


@for_each("method", ["OPS", "SSP", "AdaSSP", "Gaussian output", "AdaOPS 2018", "AdaOPS 2019", "Sub-Agg"])
def test_a_draft_is_a_configuration(method: str) -> None:
    text = draft(method, "exact", "squared", DOMAIN, PROMISE, data=DATA | {"n_public": 200}, origin="public")
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


@for_each(
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


def ways(loss: str) -> list[tuple[str, str]]:
    """Return the offers that can be drafted."""
    found = [(offer, offer.build(loss, Domain(3, 1.0, 1.0, 15), PROMISE).mechanism) for offer in offers(loss)]
    return [(o.method, o.way) for o, built in found if built is not None and parameters_of(built, 3) is not None]


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_no_draft_takes_the_public_number_of_records_from_a_stand_in(loss: str) -> None:
    asked = []
    for method, way in ways(loss):
        small = Domain(3, 1.0, 1.0, 15)
        text = draft(method, way, loss, small, PROMISE, data=DATA, origin="synthetic")
        if "REQUIRED" in text:
            asked.append(method)
            assert "for n_public = 15" in text
            with pytest.raises(UserError, match=r"^data\.n_public must be filled in with a public constant, got"):
                parse(text)
        else:
            assert parse(text).data.n_public is None
        keys = DATA | {"n_public": 15}
        given = draft(method, way, loss, small, PROMISE, data=keys, origin="public")
        assert parse(given).data.n_public == 15
        assert "was not given" not in given
        assert 'n_public = "' not in given
    assert "Gaussian output" in asked
    assert not {"SSP", "AdaSSP", "ObjPert"} & set(asked)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Forty records, a public set like them with fifteen, and a constant column in both."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(8)
    for name, n_records in (("own.csv", 40), ("like.csv", 15)):
        frame = pd.DataFrame({"a": rng.uniform(-1, 1, n_records), "b": rng.uniform(-1, 1, n_records), "c": 1.0})
        frame["city"] = ["A", "B", "A"] * (n_records // 3) + ["B"] * (n_records % 3)
        frame["y"] = 0.5 * frame["a"]
        frame.to_csv(tmp_path / name, index=False)
    return tmp_path


@pytest.mark.parametrize("stand_in", [["--public", "like.csv"], ["--synthetic", "15"]])
@pytest.mark.parametrize("method", ["OPS", "AdaOPS 2019", "Sub-Agg", "Gaussian output"])
def test_a_draft_on_a_smaller_stand_in_certifies(folder: Path, method: str, stand_in: list[str]) -> None:
    words = ["compare", "own.csv", "--target", "y", "--drop", "city", "--drop", "c", "--range", "a=-1,1"]
    words += ["--range", "b=-1,1", "--x-bound", "1", "--y-bound", "1", "--epsilon", "1", "--draft", method, *stand_in]
    assert invoke([*words, "-o", "d.toml"]) == 0
    assert invoke(["certify", "d.toml"]) == 2
    assert invoke([*words, "--n-public", "60", "-o", "e.toml"]) == 0
    (folder / "e.toml").write_text((folder / "e.toml").read_text().replace('"standard"', '"quick"'))
    assert certify(folder / "e.toml").words["dp"].startswith("PASS")


def test_columns_that_were_left_out_of_the_comparison_are_left_out_of_the_draft(folder: Path) -> None:
    options = {"target": "y", "categories": {"city": ["A", "B", "C"]}, "n_public": 60}
    data = gather("own.csv", loss="squared", options=options, rng=np.random.default_rng(1))
    asked, at = section_of("own.csv", "squared", options)
    section = compared(asked, data)
    assert (section.features, section.categories) == (["a", "b", "city"], {"city": ["A", "B"]})
    domain = domain_of(data, section)
    assert domain == data.domain
    assert domain.dim == 4
    keys = data_keys(section, at, beside=None)
    marks = {"read_off": True, "features_chosen": True}
    text = draft("OPS", "exact", "squared", domain, PROMISE, data=keys, origin="records", **marks)
    assert "it does not apply once" in text
    assert '"data.features"' in text
    assert "c = [" not in text
    bounded = gather(
        "own.csv", loss="squared", options=options | {"x_bound": 9.0, "y_bound": 1.0}, rng=np.random.default_rng(1)
    )
    assert compared(asked, bounded) is asked


@pytest.mark.parametrize(("n_public", "many"), [(300, True), (40, False)])
def test_a_mechanism_of_many_steps_is_said_to_take_long(n_public: int, many: bool) -> None:
    keys = DATA | {"n_public": n_public}
    domain = Domain(3, 1.0, 1.0, n_public)
    text = draft("NoisySGD", "published", "squared", domain, PROMISE, data=keys, origin="public")
    assert ("to certify it may take very" in text) == many
