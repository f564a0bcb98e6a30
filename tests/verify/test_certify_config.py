"""The configuration: what is accepted, and one line for whatever is not."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

import verify
from verify.deployment.config import json_schema, load, parse
from verify.deployment.init_draft import draft, example
from verify.errors import UserError

BASE = """
[data]
source = "fair"
[mechanism]
name = "objective-perturbation"
loss = "logistic"
sigma = 11.0
lam = 0.5
[[claims]]
type = "dp"
epsilon = 1.0
delta = 1e-6
"""
SCHEMA = Path(verify.__file__).parent / "schemas" / "configuration.schema.json"


def test_the_example_is_valid_and_names_its_claims() -> None:
    config = parse(example())
    assert [claim.name for claim in config.claims] == ["dp"]
    assert config.data.is_public


def test_claims_without_a_name_get_one_of_their_own() -> None:
    claim = '[[claims]]\ntype = "pdp"\nscope = "records"\nepsilon = 1.0\ndelta = 1e-6\n'
    assert [each.name for each in parse(BASE + claim + claim).claims] == ["dp", "pdp-records", "pdp-records-2"]


def test_the_schema_that_ships_is_the_one_of_the_code_and_accepts_the_example() -> None:
    shipped = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert shipped == json_schema()
    jsonschema.Draft202012Validator.check_schema(shipped)
    jsonschema.validate(tomllib.loads(example()), shipped)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tomllib.loads(example().replace("sigma", "sigm")), shipped)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("sigma = 11.0", "sigma = -1", "mechanism.sigma must be greater than 0, got mechanism.sigma=-1"),
        ("sigma = 11.0", "sigm = 1", "mechanism.sigm must be a known key, got mechanism.sigm; did you mean sigma"),
        ("sigma = 11.0", "", "mechanism.sigma must be given, got nothing"),
        ("sigma = 11.0", "sigma = inf", "mechanism.sigma must be a finite number, got mechanism.sigma=inf"),
        ('loss = "logistic"', 'loss = "l1"', "mechanism.loss must be one of"),
        ("objective-perturbation", "perturb", "mechanism.name must be one of objective-perturbation, "),
        ('type = "dp"', 'type = "edp"', "claims[0].type must be one of dp, pdp, "),
        ("epsilon = 1.0", 'epsilon = "one"', "claims[0].epsilon must be a number, got claims[0].epsilon=one"),
        ("delta = 1e-6", "delta = 1.0", "claims[0].delta must be below 1, got claims[0].delta=1.0"),
        ('source = "fair"', 'source = "unfair"', "data.source must be one of"),
        ('source = "fair"', "", "data must be exactly one of source and file, got data=neither"),
        ('source = "fair"', 'file = "a.csv"', "data.x_bound must be given: a public bound, never read off the data"),
        ('source = "fair"', 'source = "fair"\nx_bound = 2.0', "data.x_bound must be absent for an embedded data set"),
        ('source = "fair"', 'source = "fair"\nx_bound = "REQUIRED"', "data.x_bound must be filled in with a public"),
        (
            'source = "fair"',
            'source = "fair"\nstandardise = true',
            "data.standardise must be false for a claim over all",
        ),
        ('type = "dp"', 'type = "ex-post"', "claims[0].delta must be a known key"),
        ('type = "dp"\nepsilon = 1.0\ndelta = 1e-6', 'type = "ex-post"\nepsilon = 1.0', "release must be given where"),
        ('type = "dp"\nepsilon = 1.0\ndelta = 1e-6', 'type = "report-coverage"\nlevel = 0.1', "report must be given"),
        ('type = "dp"', 'type = "pdp"\nscope = "target"', "claims[0] must be x and y for scope = target"),
        ("[mechanism]", "[release]\n[mechanism]", "release must be exactly one of file and draw = true"),
        ("[mechanism]", "[report]\nrho = 0.1\nsigma2 = 1.0\n[mechanism]", "report must be sigma2 and sigma3 together"),
        ("[mechanism]", "[mechanism", "configuration must be TOML, got"),
        (BASE[BASE.index("[[claims]]") :], "", "claims must be given, got nothing"),
    ],
)
def test_mistakes_name_key_rule_and_value_in_one_line(old: str, new: str, message: str) -> None:
    assert old in BASE
    with pytest.raises(UserError) as stop:
        parse(BASE.replace(old, new))
    assert message in str(stop.value)
    assert "\n" not in str(stop.value)


def test_a_record_in_the_configuration_is_never_quoted() -> None:
    target = 'type = "pdp"\nscope = "target"\nx = [0.1, "secret-31337"]\ny = 1.0'
    with pytest.raises(UserError) as stop:
        parse(BASE.replace('type = "dp"', target))
    assert "31337" not in str(stop.value)
    assert "claims[0].x[1] must be a number" in str(stop.value)


def test_unreadable_files_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="configuration must be a readable TOML file"):
        load(tmp_path / "nothing.toml")


def test_a_draft_reads_the_header_alone_and_leaves_the_bounds_open(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("age,the city,y\n" + "31337,secret,1\n" * 3, encoding="utf-8")
    text = draft(path, "y", beside=tmp_path)
    assert "31337" not in text
    assert "secret" not in text
    raw = tomllib.loads(text)
    assert raw["data"]["features"] == ["age", "the city"]
    assert raw["data"]["file"] == "data.csv"
    assert raw["data"]["ranges"]["the city"] == ["REQUIRED", "REQUIRED"]
    with pytest.raises(UserError, match=r"data.ranges.age\[0\] must be filled in with a public constant"):
        parse(text)
    with pytest.raises(UserError, match=r"--target must be a column of data.csv, got --target z"):
        draft(path, "z")
