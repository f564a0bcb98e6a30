"""The configuration: what is accepted, what it may say of a command or a url, and one line for whatever is not."""

from __future__ import annotations

import hashlib
import json
import pickle
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toys.deployments import DRAWN, dp, section

import verify
from audits import CommandMechanism, ServiceMechanism
from mechanisms import Dataset, Relation
from reports.row import Audience
from verify.certificates.certificate import public_configuration
from verify.certificates.claims.pairs import named_pairs, pairs_for
from verify.certificates.claims.types import DPClaim
from verify.certificates.config.config import json_schema, load, parse
from verify.certificates.config.config_mechanisms import CommandSection, UrlSection, wrong_url
from verify.certificates.config.init_draft import draft, example
from verify.certificates.config.mechanism_source import (
    DoorSource,
    Imported,
    build_mechanism,
    code_of,
    door_digest,
    source_of,
    views_of,
)
from verify.messages.errors import UserError

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
IMPORTED = (
    BASE[: BASE.index("[mechanism]")]
    + """[mechanism]
import = "mine.py:Mine"
[[claims]]
type = "dp"
epsilon = 1.0
delta = 1e-6
"""
)
PAIR = """[[pairs]]
name = "one against none"
X = []
y = []
target_x = [0.5, 0.1]
target_y = 1.0
"""
DP = "epsilon = 1.0\ndelta = 1e-6\n"
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
    for text in (IMPORTED + PAIR, *(IMPORTED.replace(DP, form) for form, _ in FORMS)):
        jsonschema.validate(tomllib.loads(text), shipped)
    for wrong in (example().replace("sigma", "sigm"), example().replace("delta = 1e-6", "mu = 1.0")):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(tomllib.loads(wrong), shipped)


#: Lines of ``BASE`` that mistakes stand in place of, or before.
DELTA, HERE, FAIR = "delta = 1e-6", "[mechanism]", 'source = "fair"'


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
        (DELTA, "delta = 1.0", "claims[0].delta must be below 1, got claims[0].delta=1.0"),
        (FAIR, 'source = "unfair"', "data.source must be one of"),
        (FAIR, "", "data must be exactly one of source, file and dim, got data=none"),
        (FAIR, 'file = "a.csv"', "data.x_bound must be given: a public bound, never read off the data"),
        (FAIR, 'source = "fair"\nx_bound = 2.0', "data.x_bound must be absent for an embedded data set"),
        (FAIR, 'source = "fair"\nx_bound = "REQUIRED"', "data.x_bound must be filled in with a public"),
        (FAIR, 'source = "fair"\nstandardise = true', "data.standardise must be false for a claim over all"),
        ('type = "dp"', 'type = "ex-post"', "claims[0].delta must be a known key"),
        ('type = "dp"\nepsilon = 1.0\ndelta = 1e-6', 'type = "ex-post"\nepsilon = 1.0', "release must be given where"),
        ('type = "dp"\nepsilon = 1.0\ndelta = 1e-6', 'type = "report-coverage"\nlevel = 0.1', "report must be given"),
        ('type = "dp"', 'type = "pdp"\nscope = "target"', "claims[0] must be x and y for scope = target"),
        (HERE, "[release]\n[mechanism]", "release must be exactly one of file and draw = true"),
        (HERE, "[report]\nrho = 0.1\nsigma2 = 1.0\n[mechanism]", "report must be sigma2 and sigma3 together"),
        (HERE, "[mechanism", "configuration must be TOML, got"),
        (BASE[BASE.index("[[claims]]") :], "", "claims must be given, got nothing"),
        (DELTA, "", "claims[0].delta must be given for a claim of epsilon and delta (such as delta = 1e-6), got"),
        (DELTA, 'profile = "zcdp"', 'claims[0].rho must be given for profile = "zcdp" (such as rho = 0.1), got'),
        (DELTA, 'profile = "zcdp"\nrho = 0.1', 'claims[0].epsilon must be left out for profile = "zcdp", got'),
        (DELTA, 'profile = "renyi"\nalpha = 1.0', "claims[0].alpha must be greater than 1, got claims[0].alph"),
        (DELTA, 'profile = "rdp"', "claims[0].profile must be one of 'gaussian-dp', 'zcdp', 'renyi' or 'table'"),
        (DP, 'profile = "gaussian-dp"\nmu = 0', "claims[0].mu must be greater than 0, got claims[0].mu=0"),
        (
            DP,
            'profile = "table"\npoints = []',
            "claims[0].points must be a list of at least 1, got claims[0].points=[]",
        ),
        (DP, 'profile = "table"\npoints = [[1, 0.1], [1, 0.01]]', "claims[0].points must be in order of an epsilon"),
        (DP, 'profile = "table"\npoints = [[1, 2]]', "claims[0].points[0][1] must be below 1, got"),
        (DELTA, "delta = 1e-6\ngroup = 0", "claims[0].group must be at least 1, got claims[0].group=0"),
        (DELTA, "delta = 1e-6\ngrup = 2", "claims[0].grup must be a known key, got claims[0].grup; did you mean"),
        (HERE, "n_min = -1\n[mechanism]", "data.n_min must be at least 0, got data.n_min=-1"),
        (HERE, "n_min = 9\nn_public = 8\n[mechanism]", "data.n_min must be at most n_public=8, got data.n_min=9"),
        (HERE, "[budget]\npairs = 0\n[mechanism]", "budget.pairs must be at least 1 but for claims of type dp with"),
        (FAIR, "dim = 2\nx_bound = 1.0", "data.y_bound must be given: a public bound, never read off the data"),
        (FAIR, FAIR + "\ndim = 2", "data must be exactly one of source, file and dim, got data=source and dim"),
        (HERE, "[budget]\ndraws = 1.5\n[mechanism]", "budget.draws must be a whole number, got budget.draws=1.5"),
        (HERE, "[budget]\nmax_draws = 1\n[mechanism]", "budget.max_draws must be at least 2 * pairs * draws = 2"),
        (
            HERE,
            PAIR.replace("[]", "[[0.5, 0.1]]", 1).replace("[]", "[1.0]") + "replaced = 0\n" + HERE,
            "pairs[0].replaced must be",
        ),
        ("sigma = 11.0", 'sigma = 11.0\nviews = ["a.py:f"]', "mechanism.views must be a known key"),
    ],
)
def test_mistakes_name_key_rule_and_value_in_one_line(old: str, new: str, message: str) -> None:
    assert old in BASE
    with pytest.raises(UserError) as stop:
        parse(BASE.replace(old, new))
    assert message in str(stop.value)
    assert "\n" not in str(stop.value)


FORMS = (
    ("epsilon = 1.0\ndelta = 1e-6", "(1, 1e-6)-differentially private"),
    ("epsilon = 1\ndelta = 0\ngroup = 3", "(1, 0)-differentially private for groups of up to 3 records"),
    ('profile = "gaussian-dp"\nmu = 0.5', "0.5-Gaussian differentially private"),
    ('profile = "zcdp"\nrho = 0.1', "0.1-zero-concentrated differentially private"),
    ('profile = "renyi"\nalpha = 8\nepsilon = 0.5', "(8, 0.5)-Renyi differentially private"),
    (
        'profile = "table"\npoints = [[0, 0.4], [0.5, 0.1], [1, 1e-2], [2, 1e-3]]',
        "(epsilon, delta)-differentially private at each of (0, 0.4), (0.5, 0.1), (1, 0.01) and 1 more",
    ),
)


@pytest.mark.parametrize(("form", "words"), FORMS)
def test_a_claim_may_be_a_point_or_a_whole_curve(form: str, words: str) -> None:
    claim = parse(IMPORTED.replace(DP, form)).claims[0]
    assert isinstance(claim, DPClaim)
    assert claim.words == words
    if claim.profile is None:
        assert claim.point == (claim.epsilon, claim.delta)
    else:
        with pytest.raises(ValueError, match="profile must be absent for a claim at one point"):
            _ = claim.point


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("y = []", "y = [1.0]", "pairs[0].y must be a list of one number for each record of X (0), got pairs[0].y=1"),
        ("X = []\ny = []", "X = [[1.0]]\ny = [1.0]", "pairs[0].X must be lists as long as target_x, got"),
        ("target_y", "replaced = 0\ntarget_y", "pairs[0].replaced must be below the number of records (0), got"),
        ("target_y = 1.0", "", "pairs[0].target_y must be given, got nothing"),
        ("target_y = 1.0", 'target_y = "s31337"', "pairs[0].target_y must be a number, got another value (not shown)"),
        ("[0.5, 0.1]", '["s31337"]', "pairs[0].target_x[0] must be a number, got another value (not shown)"),
        ("X = []", 'X = [["s31337", 0]]', "pairs[0].X[0][0] must be a number, got another value (not shown)"),
        (
            "target_y",
            "targt = 1\ntarget_y",
            "pairs[0].targt must be a known key, got pairs[0].targt; did you mean target_",
        ),
        *(
            ('name = "one against none"', f'name = "{name}"', "pairs[0].name must be one line of 1 to 400 characters")
            for name in ("", " ", "a\\nb", "a" * 401)
        ),
    ],
)
def test_mistakes_in_a_pair_are_one_line_and_quote_no_record(old: str, new: str, message: str) -> None:
    assert old in PAIR
    with pytest.raises(UserError) as stop:
        parse(IMPORTED + PAIR.replace(old, new))
    assert message in str(stop.value)
    assert "31337" not in str(stop.value)
    assert "\n" not in str(stop.value)


def test_pairs_without_a_name_are_numbered() -> None:
    named, bare = PAIR, PAIR.replace('name = "one against none"\n', "")
    third = PAIR.replace("one against none", "pair 2")
    for pairs, names in (
        ([bare], ["pair 1"]),
        ([bare, bare], ["pair 1", "pair 2"]),
        ([named, bare], ["one against none", "pair 2"]),
        ([bare, bare, third], ["pair 1", "pair 3", "pair 2"]),
        ([third, bare], ["pair 2", "pair 3"]),
    ):
        assert [pair.name for pair in parse(IMPORTED + "".join(pairs)).pairs] == names


def test_a_pair_belongs_to_a_claim_of_its_relation() -> None:
    replaced = PAIR.replace("X = []\ny = []", "X = [[0.1, 0.2]]\ny = [0.5]\nreplaced = 0")
    with pytest.raises(UserError, match=r"pairs\[0\]\.replaced must be given for a claim of relation replace"):
        parse(IMPORTED + replaced)
    with pytest.raises(UserError, match=r"pairs\[0\]\.replaced must be given .*, got pairs\[0\]\.replaced=None"):
        parse(IMPORTED.replace(DP, DP + 'relation = "replace"\n') + PAIR)
    with pytest.raises(UserError, match=r"pairs\[1\]\.name must be another name for each pair"):
        parse(IMPORTED + PAIR + PAIR)


def test_named_pairs_are_built_in_the_public_domain() -> None:
    data = Dataset(np.array([[0.1, 0.2], [0.3, 0.4]]), np.zeros(2), 1.0, 1.0)
    second = PAIR.replace("one against none", "two").replace(
        "X = []\ny = []", "X = [[0.1, 0.2]]\ny = [0.5]\nreplaced = 0"
    )
    both = IMPORTED + '[[claims]]\ntype = "dp"\nrelation = "replace"\n' + DP + PAIR + second
    added, replaced = named_pairs(parse(both), data)
    assert (added.name, added.pair.relation, added.pair.first.n_records) == ("one against none", Relation.ADD, 0)
    assert (replaced.pair.relation, replaced.pair.second.n_records) == (Relation.REPLACE, 1)
    assert pairs_for((added, replaced), Relation.ADD) == (added,)
    assert pairs_for((added, replaced), Relation.REPLACE) == (replaced,)
    assert replaced.pair.second.X.tolist() == [[0.5, 0.1]]
    placed = PAIR.replace("X = []\ny = []", "X = [[0.1, 0.2], [0.3, 0.4]]\ny = [0.5, 0.25]\nplace = 1")
    (removed,) = named_pairs(parse(IMPORTED + placed), data)
    assert (removed.pair.relation, removed.pair.first.y.tolist()) == (Relation.REMOVE, [0.5, 1.0, 0.25])
    assert removed.pair.second.y.tolist() == [0.5, 0.25]
    (group,) = named_pairs(parse(IMPORTED.replace(DP, DP + "group = 2\n") + placed + "copies = 2\n"), data)
    assert (group.pair.first.y.tolist(), group.pair.second.n_records) == ([0.5, 1.0, 1.0, 0.25], 2)
    assert pairs_for((removed, group), Relation.ADD, 2) == (group,)
    for change, message in (
        (("[0.5, 0.1]", "[0.5]"), r"pairs\[0\].target_x must have 2 prepared features, as the data have, got 1"),
        (("[0.5, 0.1]", "[1.5, 0.1]"), r"pairs\[0\] must lie in the public domain: rows of X must have Euclidean norm"),
        (("target_y = 1.0", "target_y = -3.0"), r"pairs\[0\] must lie in the public domain: \|y\| must be at most"),
        (("[[pairs]]", "[data]\nsource='fair'\nn_min = 1\n[[pairs]]"), r"pairs\[0\].X must have at least data.n_min=1"),
        (
            ("[[pairs]]", "[data]\nsource='fair'\nn_public = 0\n[[pairs]]"),
            r"pairs\[0\] must have at most data.n_public",
        ),
    ):
        text = IMPORTED.replace('[data]\nsource = "fair"\n', "") if "[data]" in change[1] else IMPORTED
        with pytest.raises(UserError, match=message):
            named_pairs(parse(text + PAIR.replace(*change)), data)


def test_views_are_functions_that_are_loaded_by_path(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("THREE = 3\ndef last(output):\n    return output[-1]\n")
    path = tmp_path / "d.toml"
    path.write_text(IMPORTED.replace(':Mine"', ':Mine"\nviews = ["mine.py:last"]'))
    (view,) = views_of(load(path))
    assert view([1.0, 2.0]) == 2.0
    assert pickle.loads(pickle.dumps(view))([1.0, 5.0]) == 5.0
    for origin, message in (
        ("mine.py:THREE", r"mechanism\.views must name functions, got mechanism\.views=mine\.py:THREE"),
        ("mine.py:first", r"mechanism\.views must name a function of its module"),
        ("no.py:last", r"mechanism\.views must name a file that exists"),
    ):
        path.write_text(IMPORTED.replace(':Mine"', f':Mine"\nviews = ["{origin}"]'))
        with pytest.raises(UserError, match=message):
            views_of(load(path))
    with pytest.raises(UserError, match=r"mechanism\.views\[0\] must be of the form"):
        parse(IMPORTED.replace(':Mine"', ':Mine"\nviews = ["last"]'))


def test_a_record_in_the_configuration_is_never_quoted() -> None:
    target = 'type = "pdp"\nscope = "target"\nx = [0.1, "secret-31337"]\ny = 1.0'
    with pytest.raises(UserError) as stop:
        parse(BASE.replace('type = "dp"', target))
    assert "31337" not in str(stop.value)
    assert "claims[0].x[1] must be a number" in str(stop.value)


def test_unreadable_files_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="configuration must be a readable TOML file"):
        load(tmp_path / "nothing.toml")


def test_a_draft_holds_no_cell_and_leaves_the_bounds_open(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("age,the city,y\n" + "31337,secret,1\n" * 3, encoding="utf-8")
    text = draft(path, "y", beside=tmp_path)
    assert "31337" not in text
    assert "secret" not in text
    raw = tomllib.loads(text)
    assert raw["data"]["features"] == ["age", "the city"]
    assert raw["data"]["file"] == "data.csv"
    assert raw["data"]["ranges"] == {"age": ["REQUIRED", "REQUIRED"]}
    assert raw["data"]["categories"] == {"the city": ["REQUIRED"]}
    with pytest.raises(UserError, match=r"data.categories.the city\[0\] must be filled in with a public constant"):
        parse(text)
    with pytest.raises(UserError, match=r"--target must be a column of data.csv, got --target z"):
        draft(path, "z")


DATA = section("[data]", source="fair")
URL = "http://127.0.0.1:8080/release"


def text(*, more: str = "", **values: Any) -> str:
    return DATA + section("[mechanism]", **values) + dp(1.0) + more


def wrong(message: str, *, more: str = "", **values: Any) -> str:
    with pytest.raises(UserError) as stop:
        parse(text(more=more, **values))
    assert message in str(stop.value)
    assert "\n" not in str(stop.value)
    return str(stop.value)


def test_a_command_has_its_own_defaults_and_a_service_others() -> None:
    command = parse(text(command=["Rscript", "release.R"])).mechanism
    assert isinstance(command, CommandSection)
    assert (command.concurrency, command.timeout, command.timeouts, command.batch) == (1, 60.0, "stop", 100)
    assert (command.data, command.reproducible, command.version, command.views) == ("json", True, "", [])
    service = parse(text(url=URL, version=" 1.2 ", timeouts="output", data="csv", reproducible=False)).mechanism
    assert isinstance(service, UrlSection)
    assert (service.concurrency, service.timeouts, service.data) == (4, "output", "csv")
    assert (service.reproducible, service.version) == (False, "1.2")


def test_the_schema_accepts_both() -> None:
    schema = jsonschema.Draft202012Validator(json_schema())
    for values in ({"command": ["a", "b"]}, {"url": URL}):
        assert schema.is_valid(tomllib.loads(text(**values)))
        for more in ({"concurrency": 0}, {"timeout": 0}, {"timeouts": "never"}, {"data": "xml"}, {"bach": 1}):
            assert not schema.is_valid(tomllib.loads(text(**values, **more)))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"command": []}, "mechanism.command must be a list of at least one word, the program, got"),
        ({"command": "Rscript a.R"}, 'mechanism.command must be a list of words, as ["Rscript", "release.R"] is, got'),
        ({"command": ["Rscript", 3]}, "mechanism.command[1] must be text, got mechanism.command[1]=3"),
        (
            {"command": ["", "a.R"]},
            "mechanism.command[0] must be text that is not empty, without a null character, got",
        ),
        (
            {"command": ["a", "b\0"]},
            "mechanism.command[1] must be text that is not empty, without a null character, got",
        ),
        ({"command": ["a"], "concurrency": 0}, "mechanism.concurrency must be at least 1, got mechanism.concurrency=0"),
        ({"command": ["a"], "concurrency": 999}, "mechanism.concurrency must be at most 256, got"),
        ({"command": ["a"], "batch": -1}, "mechanism.batch must be at least 1, got mechanism.batch=-1"),
        ({"command": ["a"], "timeout": 0}, "mechanism.timeout must be greater than 0, got mechanism.timeout=0"),
        ({"command": ["a"], "timeouts": "never"}, "mechanism.timeouts must be one of 'stop' or 'output', got"),
        ({"command": ["a"], "data": "xml"}, "mechanism.data must be one of 'json' or 'csv', got mechanism.data=xml"),
        ({"command": ["a"], "reproducible": 3}, "mechanism.reproducible must be true or false, got"),
        ({"command": ["a"], "version": "a\nb"}, "mechanism.version must be one line of text, got"),
        ({"command": ["a"], "bach": 3}, "mechanism.bach must be a known key, got mechanism.bach; did you mean batch"),
        ({"command": ["a"], "parameters": {}}, "mechanism.parameters must be a known key, got"),
        ({"command": ["a"], "views": ["last"]}, "mechanism.views[0] must be of the form"),
        ({"command": ["a"], "url": URL}, "mechanism must have one of name, import, command, url, got command and url"),
        ({"command": ["a"], "name": "ssp"}, "mechanism must have one of name, import, command, url, got command and n"),
        ({"import": "a.py:b", "url": URL}, "mechanism must have one of name, import, command, url, got import and url"),
        ({"url": 5}, "mechanism.url must be text, got"),
        ({"url": "ftp://host/a"}, "mechanism.url must be a url of http or https with a host, got mechanism.url=ftp:"),
        ({"url": "127.0.0.1:8080"}, "mechanism.url must be a url of http or https with a host, got"),
        ({"url": "http:///path"}, "mechanism.url must be a url of http or https with a host, got"),
        ({"url": "http://h:99999/"}, "mechanism.url must be a url of http or https, got"),
        ({"url": "http://h:0/"}, "mechanism.url must be a url of http or https with a host, got"),
        ({"url": "http://h/a b"}, "mechanism.url must be a url of http or https with a host, got"),
        ({"url": "http://h/é"}, "mechanism.url must be a url of http or https with a host, got"),
        ({"url": "http://a:b@h/"}, "mechanism.url must be without user and password, got mechanism.url=one with them"),
    ],
)
def test_mistakes_name_key_rule_and_value_in_one_line_config_doors(values: dict[str, Any], message: str) -> None:
    wrong(message, **values)


@pytest.mark.parametrize("url", ["http://me:s31337@h/a", "http://s31337@h/", "ftp://h/?token=s31337", ["s31337"]])
def test_a_secret_in_a_url_is_refused_or_cut_off_and_never_printed(url: Any) -> None:
    assert "31337" not in wrong("mechanism.url must be ", url=url)


@given(st.text(max_size=40), st.sampled_from(["http://", "https://", "", "http://h", "http://u:p@"]))
def test_any_text_is_a_url_or_told_in_one_line(rest: str, start: str) -> None:
    """Whatever is given ends in a rule or in a url that has a scheme, a host, and no user."""
    url = start + rest
    rule, got = wrong_url(url)
    assert bool(rule) is bool(got)
    if not rule:
        assert url.isascii()
        assert url.lower().startswith(("http://", "https://"))
        assert "@" not in url.partition("?")[0].split("/")[2]


def test_nothing_is_drawn_for_a_release_and_nothing_is_reported() -> None:
    rule = "release.draw must be false for a command or a url, whose seed of 53 bits is no noise for a release"
    wrong(rule, url=URL, more=DRAWN)
    wrong("mechanism.name must be objective-perturbation where a report", url=URL, more="[report]\nrho = 0.1\n")
    assert parse(text(url=URL, more=section("[release]", file="theta.json"))).release is not None


def test_words_that_name_people_and_places_are_short_in_public(tmp_path: Path) -> None:
    words = ["/srv/alice/bin/python3", "-u", "code/mine.py", "--data=/srv/alice/x.csv", "a b", "\u001b[2K", "x" * 99]
    path = tmp_path / "d.toml"
    path.write_text(text(command=words), encoding="utf-8")
    loaded = load(path)
    assert isinstance(loaded.config.mechanism, CommandSection)
    assert loaded.config.mechanism.label == f"python3 -u mine.py --data=x.csv 'a b' ?[2K {'x' * 39}…"
    shown = json.dumps(public_configuration(loaded, Audience.RELEASE))
    assert "alice" not in shown
    assert '"mine.py"' in shown
    path.write_text(text(url=f"{URL}?token=s31337", version="3"), encoding="utf-8")
    loaded = load(path)
    for audience in Audience:
        plain = public_configuration(loaded, audience)
        assert plain["mechanism"]["url"] == URL
        assert plain["mechanism"]["version"] == "3"
        assert "31337" not in json.dumps(plain)


def test_the_first_line_says_what_runs_and_who_gets_the_records(tmp_path: Path) -> None:
    path = tmp_path / "d.toml"
    for values, views, line in (
        ({"command": ["Rscript", "release.R"]}, True, "runs code (Rscript release.R)"),
        ({"command": ["Rscript", "a.R"], "views": ["v.py:f"]}, True, "runs code (Rscript a.R, v.py)"),
        ({"command": ["Rscript", "a.R"], "views": ["v.py:f"]}, False, "runs code (Rscript a.R)"),
        ({"url": f"{URL}?token=1"}, True, f"sends records to {URL}"),
        ({"url": URL, "views": ["v.py:f"]}, True, f"runs code (v.py) and sends records to {URL}"),
    ):
        path.write_text(text(**values), encoding="utf-8")
        assert code_of(load(path), views=views) == f"note: this file {line}; never run a stranger's"


def test_the_digest_is_of_the_words_and_of_those_that_are_files(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("one", encoding="utf-8")
    section_ = CommandSection.model_validate({"command": ["python3", "mine.py", "other.py", "mine.py"]})
    source = DoorSource(section_, str(tmp_path))
    sha = hashlib.sha256(b"one").hexdigest()
    assert source.digests() == {"mine.py": sha, "python3 mine.py other.py mine.py": source.digest()}
    assert source.digest() == door_digest(section_, {"mine.py": sha, "unrelated": "0"})
    seen = {source.digest()}
    (tmp_path / "other.py").write_text("two", encoding="utf-8")
    seen.add(source.digest())
    (tmp_path / "mine.py").write_text("three", encoding="utf-8")
    seen.add(source.digest())
    seen.add(
        DoorSource(CommandSection.model_validate({"command": ["python3", "-u", "mine.py"]}), str(tmp_path)).digest()
    )
    seen |= {
        DoorSource(UrlSection.model_validate({"url": URL, "version": version}), str(tmp_path)).digest()
        for version in ("", "1")
    }
    seen.add(DoorSource(UrlSection.model_validate({"url": f"{URL}?a=1"}), str(tmp_path)).digest())
    assert len(seen) == 7
    assert pickle.loads(pickle.dumps(source)) == source


def test_a_program_of_the_folder_is_a_file_and_one_of_the_path_is_not(tmp_path: Path) -> None:
    (tmp_path / "python3").write_text("not this one", encoding="utf-8")
    assert list(DoorSource(CommandSection.model_validate({"command": ["python3"]}), str(tmp_path)).files()) == []
    assert list(DoorSource(CommandSection.model_validate({"command": ["./python3"]}), str(tmp_path)).files()) == [
        "./python3"
    ]


def test_a_door_is_made_of_what_the_configuration_says(tmp_path: Path) -> None:
    path = tmp_path / "d.toml"
    path.write_text(text(command=[sys.executable, "a.py"], concurrency=3, timeout=2.5, batch=7), encoding="utf-8")
    answers: Any = object()
    mechanism, source = build_mechanism(load(path), 2, answers)
    assert isinstance(mechanism, Imported)
    assert isinstance(mechanism.inner, CommandMechanism)
    assert list(mechanism.inner.command) == [sys.executable, "a.py"]
    assert (mechanism.inner.concurrency, mechanism.inner.timeout, mechanism.inner.batch) == (3, 2.5, 7)
    assert str(mechanism.inner.folder) == str(tmp_path)
    assert mechanism.inner.answers is answers
    assert mechanism.name == f"{Path(sys.executable).name} a.py"
    assert source == source_of(load(path))
    path.write_text(text(url=f"{URL}?k=1", version="2", timeouts="output", data="csv"), encoding="utf-8")
    mechanism, _ = build_mechanism(load(path), 2)
    assert isinstance(mechanism, Imported)
    assert isinstance(mechanism.inner, ServiceMechanism)
    assert (mechanism.inner.url, mechanism.inner.version) == (f"{URL}?k=1", "2")
    assert (mechanism.inner.timeouts, mechanism.inner.data, mechanism.inner.answers) == ("output", "csv", None)
    assert mechanism.name == URL


@pytest.mark.parametrize("program", ["no-such-program-31", "./no-such-file", "./plain.txt", "."])
def test_a_program_that_nobody_could_start_is_refused(program: str, tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text("not executable", encoding="utf-8")
    path = tmp_path / "d.toml"
    path.write_text(text(command=[program, "a.R"]), encoding="utf-8")
    with pytest.raises(UserError) as stop:
        build_mechanism(load(path), 2)
    rule = "mechanism.command must begin with a program that can be run, got mechanism.command="
    assert str(stop.value) == rule + program


NO_RECORDS = """[data]
dim = 2
x_bound = 1.0
y_bound = 1.0
n_min = 3
public = true
[mechanism]
name = "adassp"
epsilon = 1.0
delta = 1e-6
"""
OVER_ALL = '[[claims]]\ntype = "dp"\nepsilon = 1.0\ndelta = 1e-6\n'


def test_a_configuration_without_records_is_decided_over_all_data_sets(tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text(NO_RECORDS + OVER_ALL, encoding="utf-8")
    found = verify.certify(tmp_path / "d.toml")
    assert found.words == {"dp": "PASS (proved)"}
    assert not found.certificate.deployment.private
    assert found.certificate.deployment.dataset.X.shape == (0, 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            NO_RECORDS + '[[claims]]\ntype = "pdp"\nepsilon = 1.0\ndelta = 1e-6\nscope = "everyone"\n',
            "about all data sets",
        ),
        (NO_RECORDS + OVER_ALL + "[release]\ndraw = true\n", "release must be absent where there are no records"),
        (NO_RECORDS.replace("dim = 2", 'dim = 2\nsource = "fair"') + OVER_ALL, "exactly one of source, file and dim"),
        (NO_RECORDS.replace("dim = 2", "dim = 0") + OVER_ALL, "data.dim must be at least 1"),
        (NO_RECORDS.replace("x_bound = 1.0\n", "") + OVER_ALL, "data.x_bound must be given"),
        (
            NO_RECORDS.replace("dim = 2", 'dim = 2\nfeatures = ["a"]') + OVER_ALL,
            "data.features must be absent for no records",
        ),
    ],
)
def test_what_needs_records_is_refused_where_there_are_none(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        parse(text)
