"""``my-loss`` on records and reports that nobody should trust: a number that is true for her, or one line and exit 2.

The reports and records here are a stranger's: outside the public domain, damaged, overflowing, hostile. No answer holds
a number that is not finite, no message a value of the record, standard error never more than one line.
"""

from __future__ import annotations

import copy
import io
import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from leaks import MECHANISMS, drawn, worlds

from mechanisms import Dataset, LogisticLoss, PrivacyReport, SquaredLoss, make_report
from mechanisms.capabilities import Domain
from mechanisms.releases import ReportScales
from verify.certificates.config.config import DataSection
from verify.certificates.release.published import publishable, published_bytes, strict_json
from verify.cli import invoke

Captured = pytest.CaptureFixture[str]

RULES = DataSection.model_validate(
    {
        "file": "data.csv",
        "features": ["age", "ward"],
        "target": "ill",
        "x_bound": 1.0,
        "y_bound": 1.0,
        "ranges": {"age": (0.0, 100.0)},
        "categories": {"ward": ["north", "7"]},
        "labels": {"yes": 1.0, "no": -1.0},
    }
)
PLAIN = DataSection.model_validate(
    {"file": "data.csv", "features": ["x"], "target": "y", "x_bound": 1.0, "y_bound": 2.0}
)
LOGISTIC = LogisticLoss()
#: Values that no message may hold.
CANARIES = ("31337", "canary")


def report(dim: int = 3, *, dependent: bool = False, loss: Any = LOGISTIC) -> PrivacyReport:
    index = np.arange(8)
    X = 0.5 * np.cos(np.outer(index + 1, np.arange(1, dim + 1)))
    data = Dataset(X, np.where(index % 2, 1.0, -1.0), 2.0, 2.0)
    noise = (8.0, 0.25) if dependent else (None, None)
    scales = ReportScales(loss, 8.0, 4.0, 0.01, *noise)
    return make_report(0.1 * np.arange(1, dim + 1), data, scales, rng=np.random.default_rng(3))


RAW = publishable(report(), RULES, Domain(3, 1.0, 1.0)).decode()
DEPENDENT = publishable(report(dependent=True), RULES, Domain(3, 1.0, 1.0)).decode()
EMBEDDED = publishable(report(), DataSection.model_validate({"source": "fair"}), Domain(3, 2.0, 1.0)).decode()
SCALAR = publishable(report(1, loss=SquaredLoss()), PLAIN, Domain(1, 1.0, 2.0)).decode()
BARE = report().to_json()


def ask(folder: Path, published: str, record: str, capsys: Captured, *more: str) -> tuple[int, str, str]:
    (folder / "report.json").write_text(published, encoding="utf-8")
    (folder / "record.json").write_text(record, encoding="utf-8")
    code = invoke(["my-loss", str(folder / "report.json"), str(folder / "record.json"), *more])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def prepared(*x: float, y: float = 1) -> str:
    return json.dumps({"x": x, "y": y})


OUTSIDE = "record must lie in the public domain of the report, which says nothing about any other: "
NUMBERS = "record must hold numbers in x and y, got something else"
STRICT = "record must be JSON with finite numbers: "


@pytest.mark.parametrize(
    ("published", "record", "message"),
    [
        # beyond the bounds, prepared and raw, also where the report has no rules for raw records
        (RAW, prepared(0.1, 0.1, 31337), OUTSIDE + "x must have Euclidean norm at most x_bound=1, got a longer one"),
        (RAW, '{"age": 313373, "ward": "7", "ill": "no"}', OUTSIDE + "x must have Euclidean norm at most x_bound=1"),
        (EMBEDDED, prepared(0.1, 0.1, 31337), OUTSIDE + "x must have Euclidean norm at most x_bound=2"),
        (SCALAR, prepared(0.5, y=31337), OUTSIDE + "y must be between -2 and 2, got another"),
        (SCALAR, '{"x": 0.5, "y": 31337}', OUTSIDE + "y must be between -2 and 2, got another"),
        (SCALAR, '{"x": 31337, "y": 1}', OUTSIDE + "x must have Euclidean norm at most x_bound=1, got a longer one"),
        # labels and levels that the report does not know
        (RAW, prepared(0.1, 0.1, 0.1, y=0.31337), "record must fit the report's loss: y must be -1 or +1"),
        (RAW, '{"age": 3, "ward": "7", "ill": "canary"}', "record: column ill must be one of yes, no, got another"),
        (RAW, '{"age": 3, "ward": 7.31337, "ill": "no"}', "record: column ward must be text, one of its public levels"),
        # what is no finite number
        (BARE, prepared(0.1, 0.1, 1e308), "record must hold numbers that can be squared and summed, got larger ones"),
        (BARE, '{"x": [0.1, 0.1, NaN], "y": 1}', STRICT + "numbers must be finite"),
        (BARE, '{"x": [0.1, 0.1, 0], "y": -Infinity}', STRICT + "numbers must be finite"),
        (BARE, '{"x": [0.1, 0.1, 31337e999], "y": 1}', STRICT + "numbers must be finite"),
        (BARE, f'{{"x": [0.1, 0.1, {"31337" * 200}], "y": 1}}', STRICT + "numbers must be finite"),
        (BARE, f'{{"x": [0.1, 0.1, {"31337" * 2000}], "y": 1}}', STRICT + "numbers must be finite"),
        (BARE, '{"x": [0.1, 0.1, true], "y": 1}', NUMBERS),
        (BARE, '{"x": [0.1, 0.1, 0.1], "y": true}', NUMBERS),
        (BARE, '{"x": [0.1, 0.1, "31337"], "y": 1}', NUMBERS),
        (BARE, '{"x": [[0.1, 0.1, 31337]], "y": 1}', NUMBERS),
        (BARE, '{"x": [0.1, 0.1, null], "y": 1}', NUMBERS),
        (BARE, '{"x": 31337, "y": 1}', NUMBERS),
        (BARE, '{"x": [], "y": 1}', "record must have 3 prepared features, got 0"),
        (RAW, '{"age": true, "ward": "7", "ill": "no"}', "record: column age must be a number, got something else"),
        (RAW, '{"age": "31337", "ward": "7", "ill": "no"}', "record: column age must be a number, got something else"),
        (RAW, '{"age": null, "ward": "7", "ill": "no"}', "record must have every column of the report, got no age"),
        # what is no record
        (BARE, '{"x": [31337, 0, 0], "x": [0, 0, 0], "y": 1}', STRICT + "each key must be given once"),
        (BARE, "[" * 100_000, STRICT + "it must be JSON, got something nested too deeply"),
        (BARE, '{"x": [canary', "record must be JSON"),
        (BARE, "", "record must be JSON"),
    ],
)
def test_a_record_that_the_report_says_nothing_about_is_refused_by_name(
    published: str, record: str, message: str, tmp_path: Path, capsys: Captured
) -> None:
    code, out, err = ask(tmp_path, published, record, capsys)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1
    assert not any(canary in err for canary in CANARIES)


def changed(published: str, **changes: Any) -> str:
    """Return a report file with values of its inner report replaced."""
    document = json.loads(published)
    document["report"] |= changes
    return json.dumps(document)


def rules(**changes: Any) -> str:
    document = json.loads(RAW)
    document["preparation"] |= changes
    return json.dumps(document)


MADE_UP = [
    ("[" * 100_000, "it must be JSON, got something nested too deeply"),
    ('{"format": ' + "[" * 100_000, "it must be JSON, got something nested too deeply"),
    ("", "it must be JSON, got something else in line 1"),
    ("[]", "it must be an object, got something else"),
    ("{}", "format must be"),
    (RAW.replace('"schema_version": 1', '"schema_version": 2', 1), "schema_version must be 1, got schema_version=2"),
    (changed(RAW, theta=[1e308, float("inf"), 0]), "numbers must be finite"),
    (changed(RAW, theta=["0.1", "0.2", "0.3"]), "theta[0] must be a number, got theta[0]=0.1"),
    (changed(RAW, theta=[True, 0.2, 0.3]), "theta[0] must be a number"),
    (changed(RAW, theta=[]), "theta must be a list of at least 1"),
    (changed(RAW, theta=[0.0] * 100_000), "theta must be a list of at most 500, got more"),
    (changed(RAW, theta=[0.0] * 4), "tau must be"),
    (changed(RAW, sigma=-1.0), "sigma must be greater than 0, got sigma=-1.0"),
    (changed(RAW, sigma="8"), "sigma must be a number, got sigma=8"),
    (changed(RAW, failure_prob=1.0), "failure_prob must be below 1, got failure_prob=1.0"),
    (changed(RAW, loss={"kind": "canary" * 99, "parameters": {}}), "loss must be one of LogisticLoss"),
    (changed(RAW, loss={"kind": "LogisticLoss", "parameters": {"width": 1.0}}), "LogisticLoss"),
    (changed(RAW, loss="LogisticLoss"), "loss must be a"),
    (changed(RAW, mode="DATA-DEP"), "mode must be DATA-INDEP"),
    (changed(RAW, relations=["REPLACE"]), "relations[0] must be one of 'ADD' or 'REMOVE'"),
    (changed(RAW, more=1), "more must be"),
    (changed(DEPENDENT, hessian=[[1.0, 2.0, 3.0]] * 3), "hessian must be symmetric"),
    (changed(DEPENDENT, hessian=[[0.0] * 3] * 3), "its hessian must not be singular"),
    (changed(DEPENDENT, hessian=None), "must be given together"),
    (changed(DEPENDENT, gradient=[0.1]), "gradient must have shape"),
    (json.dumps(json.loads(RAW) | {"report": [1]}), "report must be a table"),
    (json.dumps(json.loads(RAW) | {"domain": {"dim": 2, "x_bound": 1.0, "y_bound": 1.0}}), "one number of features"),
    (json.dumps(json.loads(RAW) | {"domain": {"dim": 3, "x_bound": 9.0, "y_bound": 1.0}}), "bounds of the preparation"),
    (json.dumps({key: value for key, value in json.loads(RAW).items() if key != "report"}), "report must be given"),
    (rules(features=["age"], categories={}), "one number of features"),
    (rules(features="age"), "features must be a list"),
    (rules(features=[]), "categories"),
    (rules(ranges={"age": [5, 5]}), "data.ranges.age must be two finite numbers, the lower first"),
    (rules(x_bound=None), "x_bound must be given"),
    (rules(file="/etc/passwd"), "preparation must hold known keys, got file"),
    (rules(rows="eat"), "rows must be one of"),
    (RAW + "x", "it must be JSON"),
]


@pytest.mark.parametrize(("published", "words"), MADE_UP)
def test_a_report_that_is_damaged_or_made_up_is_one_line(
    published: str, words: str, tmp_path: Path, capsys: Captured
) -> None:
    code, out, err = ask(tmp_path, published, prepared(0.1, 0.1, 0.1), capsys)
    assert (code, out) == (2, "")
    assert err.startswith("error: report must be a report of pdp-verify: ")
    assert words in err
    assert err.count("\n") == 1
    assert len(err) < 300
    assert err.strip().isprintable()


def test_a_report_of_before_has_no_domain_and_is_read(tmp_path: Path, capsys: Captured) -> None:
    """Files without the domain stay valid, and what their rules say is still asked of a prepared record."""
    old = json.dumps({key: value for key, value in json.loads(RAW).items() if key != "domain"})
    assert ask(tmp_path, old, prepared(0.1, 0.1, 0.1), capsys) == ask(tmp_path, RAW, prepared(0.1, 0.1, 0.1), capsys)
    code, _, err = ask(tmp_path, old, prepared(0.1, 0.1, 9.0), capsys)
    assert code == 2
    assert OUTSIDE in err


def test_the_report_says_which_records_it_is_about() -> None:
    """Also without rules for raw records; no bound is null, and the file is strict JSON."""
    found = strict_json(EMBEDDED)
    assert (found["domain"], found["preparation"]) == ({"dim": 3, "x_bound": 2.0, "y_bound": 1.0}, None)
    scored = RULES.model_copy(update={"standardise": True})
    open_end = strict_json(publishable(report(), scored, Domain(3, math.inf, 1.0)).decode())
    assert (open_end["domain"]["x_bound"], open_end["preparation"]) == (None, None)
    plain = RULES.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert published_bytes(json.loads(BARE), plain, (3, 1.0, 1.0)) == RAW.encode()


def test_raw_and_prepared_records_of_one_person_give_one_answer(tmp_path: Path, capsys: Captured) -> None:
    """The columns of a report may be called x and y: a number is raw, a list prepared."""
    for published, raw, ready in (
        (RAW, '{"age": 75, "ward": 7, "ill": "no", "more": "ignored"}', prepared(0.5 / 3**0.5, 0.0, 3**-0.5, y=-1)),
        (SCALAR, '{"x": 0.5, "y": -1.5}', prepared(0.5, y=-1.5)),
    ):
        answers = [json.loads(ask(tmp_path, published, each, capsys, "--json")[1]) for each in (raw, ready)]
        assert answers[0]["epsilon1_bar"] == pytest.approx(answers[1]["epsilon1_bar"], rel=1e-12)
    for y in (1.5, -1.5):  # the report is about both
        assert ask(tmp_path, SCALAR, prepared(0.5, y=y), capsys)[0] == 0


def test_no_finite_bound_is_said_in_words(tmp_path: Path, capsys: Captured) -> None:
    """Where the bound is infinite for a record of the domain, no number is printed, and JSON says null."""
    wide = publishable(report(), DataSection.model_validate({"source": "fair"}), Domain(3, 9.0, 1.0)).decode()
    code, out, err = ask(tmp_path, wide, prepared(0.1, 0.1, 8.9), capsys)
    assert (code, err) == (0, "")
    assert out.startswith("The report gives no finite bound on your ex-post privacy loss.\n")
    code, out, err = ask(tmp_path, wide, prepared(0.1, 0.1, 8.9), capsys, "--json")
    assert (code, json.loads(out)["epsilon1_bar"], err) == (0, None, "")


def test_files_without_end_and_with_a_mark_are_read(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "report.json").write_text(BARE, encoding="utf-8-sig")
    (tmp_path / "record.json").write_text(prepared(0.1, 0.1, 0.1), encoding="utf-8-sig")
    with (tmp_path / "long").open("wb") as file:
        file.truncate((64 << 20) + 1)  # a hole, which takes no room
    os.mkfifo(tmp_path / "pipe")
    ours, long, pipe = (str(tmp_path / name) for name in ("report.json", "long", "pipe"))
    assert invoke(["my-loss", ours, str(tmp_path / "record.json")]) == 0
    capsys.readouterr()
    for arguments, words in (
        ([long], "report must be a file of at most 64 MiB, got a larger one"),
        ([ours, long], "record must be a file of at most 1 MiB, got a larger one"),
        ([pipe], "report must be a regular file, got another kind"),
        ([ours, "/dev/zero"], "record must be a regular file, got another kind"),
        ([ours, str(tmp_path)], "record must be a regular file, got a folder"),
        ([str(tmp_path / "none"), ours], "got an unreadable report (No such file or directory)"),
    ):
        assert invoke(["my-loss", *arguments]) == 2
        assert words in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.StringIO(" " * (2 << 20)))
    assert invoke(["my-loss", ours]) == 2
    assert "record must be a file of at most 1 MiB" in capsys.readouterr().err


@pytest.mark.slow
def test_what_certify_publishes_is_about_its_public_domain(tmp_path: Path, capsys: Captured) -> None:
    """Both reports of a release, and the same bytes again from the release record alone."""
    found = drawn(tmp_path / "w", MECHANISMS["data-dependent report"], worlds()["base"], tmp_path)
    files = {name.rpartition("/")[2]: each[2] for name, each in found.files.items() if name.startswith("out/release/")}
    header, *rows = [json.loads(line) for line in files["audit.jsonl"].splitlines()]
    domain = (header["data"]["dim"], header["data"]["x_bound"], header["data"]["y_bound"])
    for row, name in zip(
        [row for row in rows if row["kind"] == "release" and "report" in row],
        ["report-independent.json", "report-dependent.json"],
        strict=True,
    ):
        assert published_bytes(row["report"], header["configuration"]["data"], domain) == files[name]
        published = files[name].decode()
        assert ask(tmp_path, published, prepared(0.6, 0.6), capsys)[0] == 0
        code, _, err = ask(tmp_path, published, prepared(0.8, 0.8), capsys)
        assert code == 2
        assert OUTSIDE in err
        assert ask(tmp_path, published, '{"a": 8, "b": 8, "y": -3}', capsys)[0] == 0  # its rules clip


# --- whatever is given ------------------------------------------------------------------------------------------------

NUMBER = st.one_of(
    st.floats(-2, 2), st.floats(), st.integers(-3, 3), st.sampled_from([1e308, -1e308, 10**400, 5e-324, 31337])
)
SCALARS = st.one_of(NUMBER, st.booleans(), st.none(), st.sampled_from(["canary", "7", "yes", "31337", ""]))
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner)
)
RECORDS = st.one_of(
    st.fixed_dictionaries({"x": st.lists(NUMBER, min_size=3, max_size=3), "y": st.sampled_from([1, -1])}),
    st.fixed_dictionaries({"x": st.lists(SCALARS, max_size=4) | ANYTHING, "y": SCALARS}),
    st.fixed_dictionaries(
        {"age": SCALARS, "ward": SCALARS, "ill": SCALARS}, optional={"more": ANYTHING, "x": ANYTHING, "y": ANYTHING}
    ),
    ANYTHING,
)


@st.composite
def published_files(draw: st.DrawFn) -> str:
    """A report file of ours with up to two values, anywhere in it, replaced or left out."""
    document = copy.deepcopy(json.loads(draw(st.sampled_from([RAW, DEPENDENT, EMBEDDED, SCALAR, BARE]))))
    for _ in range(draw(st.integers(0, 2))):
        place, keys = document, sorted(document)
        while True:
            key = draw(st.sampled_from(keys))
            inner = place[key]
            if not (isinstance(inner, dict | list) and inner and draw(st.booleans())):
                break
            place, keys = inner, (sorted(inner) if isinstance(inner, dict) else list(range(len(inner))))
        if draw(st.booleans()):
            place[key] = draw(ANYTHING)
        else:
            del place[key]
    return json.dumps(document)


@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(published_files(), RECORDS, st.booleans())
def test_whatever_is_given_there_is_an_answer_or_one_line(
    tmp_path: Path, capsys: Captured, published: str, record: Any, as_json: bool
) -> None:
    answered(tmp_path, capsys, published, record, as_json)


@pytest.mark.slow
@settings(
    max_examples=1500, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(published_files(), RECORDS, st.booleans())
def test_whatever_is_given_many_times_over(
    tmp_path: Path, capsys: Captured, published: str, record: Any, as_json: bool
) -> None:
    answered(tmp_path, capsys, published, record, as_json)


def answered(tmp_path: Path, capsys: Captured, published: str, record: Any, as_json: bool) -> None:
    """Ask, and see that the answer is one."""
    code, out, err = ask(tmp_path, published, json.dumps(record), capsys, *(["--json"] if as_json else []))
    assert code in (0, 2)
    if code == 2:
        assert (out, err.count("\n"), err[:7]) == ("", 1, "error: ")
        assert len(err) < 400
        assert published.count("canary") or "canary" not in err  # a made-up report may be quoted, a record never
        return
    assert err == ""
    if as_json:
        found = strict_json(out)
        assert found["epsilon1_bar"] is None or found["epsilon1_bar"] >= 0
    else:
        assert not any(word in out.split() for word in ("nan", "inf", "nan.", "inf.", "-inf", "inf,", "nan,"))
