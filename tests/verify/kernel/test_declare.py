"""A declaration becomes parts, cases and a dispatch; names, ids and standings are derived, and nothing is dropped."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits import Budget, Estimate, StreamKey
from verify.kernel.declare import (
    At,
    Display,
    Form,
    Mutant,
    definition,
    over,
    search,
    smallest,
    statement,
)
from verify.kernel.statement import Case, Claim, Evidence, Role, Standing
from verify.messages.errors import Defect
from verify.papers.paper import Paper, read_paper

TOML = """
prefix = "T99"
position = 9
slots = 1
[reference]
author = "Ada One"
title = "A toy"
year = 1999
["T99-T1"]
kind = "theorem"
title = "A theorem"
locator = "Theorem 1"
printed = "REFUTED"
["T99-T1.a"]
parent = "T99-T1"
kind = "theorem"
title = "A child"
printed = "SUPPORTED"
["T99-D1"]
kind = "definition"
title = "A definition"
locator = "Definition 1"
printed = "DEFINITION"
implemented = "somewhere.Something"
formula = "x := 1"
domain = "everywhere"
summary = "One."
"""
BUDGET = Budget(7, 0.25, StreamKey(1))


@pytest.fixture
def paper(tmp_path: Path) -> Paper:
    path = tmp_path / "toy1999" / "paper.toml"
    path.parent.mkdir()
    path.write_text(TOML, encoding="utf-8")
    return read_paper(path)


def says(case: Case, *, words: str) -> Evidence:
    """Evidence whose quantity tells which version was asked."""
    return Evidence(Claim(words, 0.0, 1.0, 1.0), exact=Estimate.proved(0.5, 0.5, "made up"))


def draws(case: Case, budget: Budget) -> Evidence:
    return says(case, words=f"{budget.n_draws} draws of {case.number('n'):g}")


def example(paper: Paper):  # type: ignore[no-untyped-def]
    small = smallest("small", {"n": 1})
    return statement(
        "T99-T1",
        domain="everywhere",
        derivation="docs/derivations/toy.md",
        paper=paper,
        displays={
            "": Display(
                "the bound",
                Form("x <= 1", partial(says, words="printed"), [small, search()]),
                Form(
                    "x <= 2",
                    partial(says, words="corrected"),
                    [small, *over("grid", {"n": (1.5, 3), "what": ("a", "b")}, draws=(1, 2, 3), quick_every=3)],
                ),
                "a factor",
                {
                    "2 % less": Mutant(partial(says, words="less"), {"n": 2}, severity=0.02, quick=False),
                    "searched": Mutant(partial(says, words="searched")),
                    "twice": Mutant(partial(says, words="twice"), [{"n": 1}, None, {}][:2]),
                },
            ),
            "#10": Display("ten", Form("y = 2", draws, [At("edge", {"n": 4}, role=Role.EDGE, quick=False)])),
            ".a": Display("", Form("z = 3", partial(says, words="child"), [At("on the box")])),
            "#w@a": Display("a reading", Form("w = 4", partial(says, words="reading"), [At("as read")])),
            "#shown": Display("not decided", Form("v = 5")),
        },
    )


def test_parts_are_derived(paper: Paper) -> None:
    found = example(paper)
    assert (found.id, found.paper, found.kind, found.title, found.locator) == (
        "T99-T1", "toy1999", "theorem", "A theorem", "Theorem 1",
    )  # fmt: skip
    assert [(part.id, part.title, part.reading) for part in found.parts] == [
        ("T99-T1", "the bound", ""),
        ("T99-T1#10", "ten", ""),
        ("T99-T1.a", "A child", ""),
        ("T99-T1#w@a", "a reading", "a"),
        ("T99-T1#shown", "not decided", ""),
    ]
    assert [part.derivation for part in found.parts] == ["docs/derivations/toy.md", "", "", "", ""]
    assert found.parts[0].corrected is not None
    assert found.parts[0].corrected.text == "x <= 2"
    assert found.share == paper.share


def test_cases_are_derived(paper: Paper) -> None:
    found = {case.name: case for case in example(paper).cases}
    assert list(found) == [
        "T99-T1 | printed | n=1",
        "T99-T1 | printed search",
        "T99-T1 | corrected | n=1",
        "T99-T1 | corrected | n=1.5 what=a",
        "T99-T1 | corrected | n=1.5 what=b",
        "T99-T1 | corrected | n=3 what=a",
        "T99-T1 | corrected | n=3 what=b",
        "T99-T1 | mutant: 2 % less | n=2",
        "T99-T1 | mutant: searched",
        "T99-T1 | mutant: twice | n=1",
        "T99-T1 | mutant: twice",
        "T99-T1#10 | printed | n=4",
        "T99-T1.a | printed",
        "T99-T1#w@a | printed",
    ]
    assert [case.quick for case in found.values()] == [
        True, True, True, True, False, False, True, False, True, True, True, False, True, True,
    ]  # fmt: skip
    assert found["T99-T1 | printed | n=1"].role is Role.COUNTEREXAMPLE
    assert found["T99-T1 | printed search"].role is Role.ADVERSARIAL
    assert found["T99-T1 | mutant: searched"].role is Role.ADVERSARIAL
    assert found["T99-T1#10 | printed | n=4"].role is Role.EDGE
    wrong = found["T99-T1 | mutant: 2 % less | n=2"]
    assert (wrong.standing, wrong.mutant, wrong.severity) == (Standing.MUTANT, "2 % less", 0.02)
    assert found["T99-T1 | corrected | n=3 what=b"].draws == (1, 2, 3)


def test_each_version_is_decided_by_its_own_check(paper: Paper) -> None:
    found = example(paper)
    asked = {case.name: found.check(case, BUDGET).claim.quantity for case in found.cases}
    assert asked["T99-T1 | printed search"] == "printed"
    assert asked["T99-T1 | corrected | n=3 what=b"] == "corrected"
    assert asked["T99-T1 | mutant: 2 % less | n=2"] == "less"
    assert asked["T99-T1 | mutant: twice"] == "twice"
    assert asked["T99-T1#10 | printed | n=4"] == "7 draws of 4"
    assert asked["T99-T1.a | printed"] == "child"
    assert asked["T99-T1#w@a | printed"] == "reading"


def test_a_definition_has_nothing_to_decide(paper: Paper) -> None:
    found = definition("T99-D1", paper)
    assert found.cases == ()
    assert (found.definition, found.domain, found.summary) == ("somewhere.Something", "everywhere", "One.")
    assert [(part.id, part.title, part.printed.typst) for part in found.parts] == [("T99-D1", "A definition", "x := 1")]
    assert paper.entries["T99-D1"].file == "toy1999/paper.toml"


def test_an_id_needs_its_table() -> None:
    with pytest.raises(Defect, match=r"got id=T99-T1$"):
        definition("T99-T1")


def test_a_child_needs_its_table(paper: Paper) -> None:
    with pytest.raises(Defect, match=r"^toy1999/paper.toml must have a table for T99-T1\.b, or its display a title$"):
        statement("T99-T1", domain="", paper=paper, displays={".b": Display("", Form("x = 1"))})


def test_what_a_mutant_changes_is_a_keyword_of_its_check() -> None:
    changed = Mutant(says, {"n": 1}, severity=0.5, words="twice")
    assert changed.check(Case("", "", Standing.MUTANT, {})).claim.quantity == "twice"
    assert Mutant(says).check is says
    with pytest.raises(TypeError, match="wrds"):
        Mutant(says, wrds="twice")


def test_two_cases_of_one_name_are_refused(paper: Paper) -> None:
    twice = Form("x = 1", partial(says, words=""), [At("one", {"n": 1}), At("two", {"n": 1})])
    with pytest.raises(ValueError, match=r"^case names must be unique in T99-T1, got twice: T99-T1 \| printed \| n=1$"):
        statement("T99-T1", domain="", paper=paper, displays={"": Display("x", twice)})


def test_cases_without_a_check_are_refused(paper: Paper) -> None:
    with pytest.raises(ValueError, match=r"^a version with cases must have a check, got none for T99-T1 \(printed\)$"):
        statement("T99-T1", domain="", paper=paper, displays={"": Display("x", Form("x = 1", None, [At("one")]))})


@given(
    st.dictionaries(st.sampled_from(["a", "b", "c"]), st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True)),
    st.integers(1, 5),
)
def test_a_grid_holds_every_point_once(axes: dict[str, list[int]], every: int) -> None:
    cases = over("grid", axes, quick_every=every)
    size = 1
    for values in axes.values():
        size *= len(values)
    points = {tuple(sorted(case.params.items())) for case in cases}
    assert len(points) == len(cases) == size
    assert [case.quick for case in cases] == [i % every == 0 for i in range(size)]
    assert all(list(case.params) == list(axes) for case in cases)
