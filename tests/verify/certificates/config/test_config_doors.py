"""Mechanisms behind a command or a url: what a configuration may say of them, and one line for whatever it may not."""

from __future__ import annotations

import hashlib
import json
import pickle
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toys.deployments import DRAWN, dp, section

from audits import CommandMechanism, ServiceMechanism
from reports.row import Audience
from verify.certificates.certificate import public_configuration
from verify.certificates.config.config import json_schema, load, parse
from verify.certificates.config.config_mechanisms import CommandSection, UrlSection, wrong_url
from verify.certificates.config.mechanism_source import (
    DoorSource,
    Imported,
    build_mechanism,
    code_of,
    door_digest,
    source_of,
)
from verify.messages.errors import UserError

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
def test_mistakes_name_key_rule_and_value_in_one_line(values: dict[str, Any], message: str) -> None:
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
