"""The file of a paper: what it states, what is refused and by which name, and that a paper changes nobody's share."""

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from rows import for_each

from verify.kernel.declare import Display, Form, statement
from verify.kernel.paper import KINDS, Consequence, citation, paper_of, papers, read_paper, together
from verify.kernel.provenance import Provenance, Worth
from verify.kernel.shares import SLOTS
from verify.messages.errors import Defect
from verify.papers.registry import statements

PAPER = """
prefix = "T99"
position = 9
slots = 2

[reference]
author = "Ada One and Bea Two"
title = "A toy"
journal = "Journal of Toys"
volume = 3
number = 1
year = 1999

["T99-L1"]
kind = "lemma"
title = "A lemma"
locator = "Lemma 1"
printed = "REFUTED"
corrected = "SUPPORTED"
consequence = "MISPRINT"
why = "a sign"

["T99-L1.a"]
parent = "T99-L1"
kind = "proof step"
title = "A step"
printed = "SUPPORTED"
"""
KEYS = "prefix, position, slots, reference, copies, sources"
COPY = f'[copies.main]\ndigest = "{"0" * 64}"\nmade = "by a machine"\n'
READ = COPY + '[sources]\n"T99-L1" = {'
NO_COPY = '[sources]\n"T99-L1" = {line = 3}\n[reference]'


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "toy1999" / "paper.toml"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    return path


def test_what_a_paper_states(tmp_path: Path) -> None:
    paper = read_paper(write(tmp_path, PAPER))
    assert (paper.name, paper.prefix, paper.position) == ("toy1999", "T99", 9)
    assert paper.citation == "Ada One, Bea Two. A toy. Journal of Toys 3(1), 1999."
    lemma, step = paper.entries.values()
    assert (lemma.id, lemma.kind, lemma.title, lemma.locator) == ("T99-L1", "lemma", "A lemma", "Lemma 1")
    assert lemma.file == "toy1999/lem_1.py"
    assert lemma.expected.row() == {"printed": "REFUTED", "corrected": "SUPPORTED", "readings": {}}
    assert step.parent == "T99-L1"


@for_each(
    ("old", "new", "message"),
    [
        ("prefix =", "prefx =", "prefix must be given, got prefix=None"),
        ('"T99"', "99", "prefix must be a valid string, got prefix=99"),
        ("slots = 2", "", "slots must be given"),
        ('author = "Ada One and Bea Two"', "", "reference.author must be given"),
        ("slots = 2", "slots = 2\ncolour = 1", f"colour must be {KEYS} or an id"),
        ("year = 1999", "year = 1999\nyeer = 1", "reference.yeer must be author, title, year, journal,"),
        ('["T99-L1.a"]', '["T98-L1.a"]', f"T98-L1.a must be {KEYS} or an id"),
        ('kind = "lemma"', 'kind = "lema"', "T99-L1.kind must be one of theorem, lemma,"),
        ('kind = "lemma"', "", "T99-L1.kind must be given"),
        ('title = "A lemma"', "", "T99-L1.title must be given"),
        ('locator = "Lemma 1"', "", "T99-L1.locator must be given"),
        ('"REFUTED"', '"FALSE"', "T99-L1.printed must be one of SUPPORTED, REFUTED,"),
        ('"MISPRINT"', '"TYPO"', "T99-L1.consequence must be one of PRIVACY,"),
        ('why = "a sign"', 'because = "a sign"', "T99-L1.because must be kind, title, locator, parent, printed,"),
        ('parent = "T99-L1"', 'parent = "T99-L2"', "T99-L1.a.parent must be an id with a file of its own,"),
        ('parent = "T99-L1"', 'parent = "T99-L1.a"', "T99-L1.a.parent must be an id with a file of its own"),
        ('why = "a sign"', 'formula = "x"', "T99-L1.implemented must be given with implemented, formula,"),
        ("year = 1999", "year =", "(at line "),
        *(
            ("slots = 2", f"slots = {value}", f"slots must be {rule}, got slots={shown}")
            for value, rule, shown in (
                ("0", "greater than or equal to 1", "0"),
                ("-3", "greater than or equal to 1", "-3"),
                ("257", "less than or equal to 256", "257"),
                ("true", "a valid integer", "True"),
                ("2.0", "a valid integer", "2.0"),
                ("'2'", "a valid integer", "'2'"),
            )
        ),
        ("position = 9", "position = true", "position must be a valid integer, got position=True"),
        ('"T99"', '""', "prefix must be letters and digits, got prefix="),
        ('"T99"', '"T9-9"', "prefix must be letters and digits, got prefix="),
        ('"Ada One and Bea Two"', "3", "reference.author must be a valid string, got author=3"),
        ("year = 1999", "year = '1999'", "reference.year must be a valid integer, got year='1999'"),
        ('why = "a sign"', "why = 3", "T99-L1.why must be a valid string, got why=3"),
        ('why = "a sign"', 'readings = "a"', "T99-L1.readings must be a valid dictionary, got readings='a'"),
        ('why = "a sign"', "readings = {a = 'MAYBE'}", "T99-L1.readings.a must be one of SUPPORTED, REFUTED,"),
        ('"Lemma 1"', "1", "T99-L1.locator must be a valid string, got locator=1"),
        ('"A lemma"', "1", "T99-L1.title must be a valid string, got title=1"),
        ('"A lemma"', '""', "T99-L1.title must be a line of text without space around it"),
        ('"A lemma"', '" "', "T99-L1.title must be a line of text without space around it"),
        ('"T99-L1"', '"T99-../L1"', f"T99-../L1 must be {KEYS} or an id T99-…"),
        ('"T99-L1"', '"T99-a/L1"', f"T99-a/L1 must be {KEYS} or an id T99-…"),
        ('"T99-L1.a"', '"T99-..a"', f"T99-..a must be {KEYS} or an id T99-…"),
        ('"T99-L1"', '"T99-"', f"T99- must be {KEYS} or an id T99-…"),
        ('printed = "REFUTED"', 'printed = "SUPPORTED"', "consequence must stand with printed=REFUTED or TEXT_UNC"),
        ('why = "a sign"', 'root = "nowhere"', "T99-L1.root must be sqrt-two"),
        ('[reference]', COPY.replace('"0', '"') + '[reference]', "copies.main.digest must be 64 hexadecimal digits"),
        ('[reference]', NO_COPY, "copy must be stated in a table [copies.NAME], got copy=None"),
        ('[reference]', READ + 'copy = "b", line = 3}\n[reference]', "copy must be main, got copy=b"),
        ('[reference]', READ + 'line = 0}\n[reference]', "sources.T99-L1.line must be greater than or equal to 1"),
        (
            '[reference]', READ + 'line = 3, worth = "DAMAGED"}\n[reference]',
            "sources.T99-L1.evidence must be given with worth=DAMAGED, got evidence=None",
        ),
        ('[reference]', READ + 'line = 3, page = 4}\n[reference]', "T99-L1.page must be copy, line, worth, evidence"),
        (
            '[reference]', READ + 'line = 3}\n"T99-L7#b" = {line = 4}\n[reference]',
            "sources.T99-L7#b must be of an id that has a table, got T99-L7",
        ),
        (
            '[reference]', READ + 'line = 3, worth = "DAMAGED", evidence = "e"}\n"T99-L1@a" = {line = 3}\n[reference]',
            "sources.T99-L1@a.worth must be DAMAGED, as T99-L1 is, got worth=None",
        ),
        ('[reference]', READ + 'line = 3, worth = "GOOD"}\n[reference]', "worth must be one of CONFIRMED, SINGLE"),
        (
            '["T99-L1.a"]\nparent = "T99-L1"\nkind = "proof step"',
            '["T99-1"]\nlocator = "Lemma 1"\nkind = "lemma"',
            "T99-1 must have a file of its own, got toy1999/lem_1.py of T99-L1",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line_with_file_and_key(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in PAPER
    with pytest.raises(Defect) as refusal:
        read_paper(write(tmp_path, PAPER.replace(old, new, 1)))
    line = str(refusal.value)
    assert line.startswith("toy1999/paper.toml: ")
    assert message in line
    assert "\n" not in line


@for_each(("slots", "share"), [(1, Fraction(1, 512)), (2, Fraction(1, 256)), (5, Fraction(1, 256))])
def test_ids_keep_one_slot_each_and_share_them_out_where_they_are_more(
    tmp_path: Path, slots: int, share: Fraction
) -> None:
    """A line of a proof, or another child, spends its parent's."""
    second = '["T99-L2"]\nkind = "lemma"\ntitle = "Another"\nlocator = "Lemma 2"\nprinted = "SUPPORTED"\n'
    paper = read_paper(write(tmp_path, PAPER.replace("slots = 2", f"slots = {slots}") + second))
    assert len(paper.entries) == 3
    assert paper.share == share
    assert paper.share * 2 <= Fraction(slots, SLOTS)


def test_a_paper_without_ids_has_a_share(tmp_path: Path) -> None:
    """It is spent by nobody, and is no division by zero."""
    paper = read_paper(write(tmp_path, PAPER.partition('["T99-L1"]')[0].replace("slots = 2", "slots = 1")))
    assert (dict(paper.entries), paper.share) == ({}, Fraction(1, 256))


def test_a_new_paper_changes_nobodys_share(tmp_path: Path) -> None:
    before = {paper.name: paper.share for paper in papers()}
    toy = read_paper(write(tmp_path, PAPER))
    assert [paper.name for paper in together([toy, *papers()])] == [*before, "toy1999"]
    assert {paper.name: paper.share for paper in together([toy, *papers()])} == before | {"toy1999": Fraction(1, 256)}


@for_each(
    ("old", "new", "message"),
    [
        ('prefix = "T99"', 'prefix = "W19"', "toy1999/paper.toml: prefix must be its own, got W19 of wang2019"),
        ("slots = 2", "slots = 54", "toy1999/paper.toml: slots of all papers must be at most 256 together, got 257"),
    ],
)
def test_papers_that_do_not_go_together_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = PAPER.replace(old, new).replace('"T99-', f'"{new[-4:-1] if "prefix" in new else "T99"}-')
    with pytest.raises(Defect, match=message):
        together([*papers(), read_paper(write(tmp_path, text))])


def test_where_a_part_was_read(tmp_path: Path) -> None:
    lines = '[sources]\n"T99-L1" = {line = 3}\n"T99-L1#b" = {line = 5, worth = "DAMAGED", evidence = "a hat is lost"}\n'
    paper = read_paper(write(tmp_path, PAPER.replace("[reference]", COPY + lines + "[reference]")))
    assert paper.provenance("T99-L1") == Provenance("main", "0" * 64, 3)
    damaged = Provenance("main", "0" * 64, 5, Worth.DAMAGED, "a hat is lost")
    assert [paper.provenance(part) for part in ("T99-L1#b", "T99-L1#b@raw", "T99-L1.a")] == [damaged, damaged, None]
    form = Display("x", Form("x = 1"))
    with pytest.raises(Defect, match=r"T99-L1#b must be decided in readings \(T99-L1#b@a\)"):
        statement("T99-L1", domain="", displays={"#b": form}, paper=paper)
    readings = statement("T99-L1", domain="", displays={"#b@raw": form, "#b@hat": form, ".a": form}, paper=paper)
    assert [(part.display, part.reading, part.damaged, part.proof) for part in readings.parts] == [
        ("T99-L1#b", "raw", True, False), ("T99-L1#b", "hat", True, False), ("T99-L1.a", "", False, True),
    ]  # fmt: skip
    with pytest.raises(Defect, match="T99-L1#b must have two readings at least, since our copy is damaged there"):
        statement("T99-L1", domain="", displays={"#b@raw": form}, paper=paper)
    with pytest.raises(Defect, match="T99-L1#c must be a line of a proof in all of its readings, or in none"):
        statement("T99-L1", domain="", displays={"#c@x": form, "#c@y": replace(form, proof=True)}, paper=paper)
    with pytest.raises(ValueError, match="a display must be one or have readings, got T99-L1#a@x and T99-L1#a"):
        statement("T99-L1", domain="", displays={"#a": form, "#a@x": form}, paper=paper)


def test_committed_papers_are_whole() -> None:
    assert [paper.prefix for paper in papers()][:3] == ["W19", "W18", "RW21"]
    assert [paper.position for paper in papers()] == sorted({paper.position for paper in papers()})
    for paper in papers():
        for entry in paper.entries.values():
            assert entry.kind in KINDS
            assert entry.expected.why, entry.id
            expected = entry.expected
            in_every_reading = expected.printed == "TEXT_UNCLEAR" and set(expected.readings.values()) == {"REFUTED"}
            assert bool(expected.consequence) == (expected.printed == "REFUTED" or in_every_reading), entry.id
            assert not entry.expected.consequence or entry.expected.consequence in Consequence.__members__


def test_references_are_those_of_the_papers() -> None:
    assert citation("wang2019") == (
        "Yu-Xiang Wang. Per-instance Differential Privacy. Journal of Privacy and Confidentiality 9(1), 2019."
    )
    assert citation("wang2018").endswith("34th Conference on Uncertainty in Artificial Intelligence, 2018.")
    assert citation("redberg_wang2021").startswith("Rachel Redberg, Yu-Xiang Wang. Privately Publishable")


def test_the_paper_of_an_id() -> None:
    assert paper_of("RW21-T10.p1").name == "redberg_wang2021"
    with pytest.raises(Defect, match=r"^id must have a table in the paper.toml of its paper, got id=RW21-T99$"):
        paper_of("RW21-T99")


# Where every part was read: a line of a copy for each, and none for a part that is not there.
def unread(parts: Iterable[str], sources: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the parts without a source, and the sources without a part; a display's source serves its readings."""
    known, given = set(parts), set(sources)
    displays = {part.partition("@")[0] for part in known}
    return (
        sorted(part for part in known if not {part, part.partition("@")[0]} & given),
        sorted(given - known - displays),
    )


def test_every_part_was_read_in_a_line_of_a_copy() -> None:
    """All parts of all statements have their line; no line is left over from a part that was renamed."""
    of_paper: dict[str, list[str]] = {paper.prefix: [] for paper in papers()}
    for found in statements():
        of_paper[found.id.partition("-")[0]] += [part.id for part in found.parts]
    for paper in papers():
        assert unread(of_paper[paper.prefix], paper.sources) == ([], [])
        assert len({copy["digest"] for copy in paper.copies.values()}) == len(paper.copies)


def test_a_part_was_read_in_its_own_paper() -> None:
    """A statement that one paper quotes from another has the lines of the paper that quotes it."""
    of = {paper.name: paper for paper in papers()}
    for found in statements():
        for part in found.parts:
            assert part.provenance == of[found.paper].provenance(part.id), part.id


def test_a_part_without_a_line_and_a_line_without_a_part_are_found() -> None:
    """The rule sees what is missing and what is left over, with readings counted once."""
    assert unread(["A", "B@x", "B@y", "C#d"], ["A", "B", "C#d@lost"]) == (["C#d"], ["C#d@lost"])


def test_what_is_more_than_one_transcription_says_why() -> None:
    """Confirmed and damaged places have evidence, and damaged ones are decided in readings."""
    for found in statements():
        for part in found.parts:
            source = part.provenance
            assert source, part.id
            assert source.worth is Worth.SINGLE or source.evidence.strip(), part.id
            assert source.worth is not Worth.DAMAGED or part.reading, part.id
