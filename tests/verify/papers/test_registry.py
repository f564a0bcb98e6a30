"""Ids, file names and files: the three agree, and a wrong id is answered in one helpful line."""

from collections import Counter
from pathlib import Path

import pytest
from rows import for_each

from verify.kernel.paper import STATEMENT_FILE, Entry
from verify.messages.errors import Defect, UserError
from verify.papers import ledger, registry
from verify.papers.registry import statement_rows


def test_catalogue_is_complete_and_parents_exist() -> None:
    """203 ids: 53 of W19, 61 of W18 and 89 of RW21 (the lists of the three papers); and 24 that were told apart later.

    These are lines of proofs, which must not decide what they stand under, the misprinted sign of W18-F0, and (24).
    """
    catalogue = registry.default().catalogue
    papers = Counter(id_.partition("-")[0] for id_ in catalogue)
    assert papers == {"W19": 53 + 5, "W18": 61 + 21, "RW21": 89}
    assert all(entry.parent in catalogue for entry in catalogue.values() if entry.parent)


def test_a_line_of_a_proof_decides_nothing_and_has_its_own_id_where_it_is_refuted() -> None:
    parts = [part for each in registry.statements() for part in each.parts]
    named = [part for part in parts if "proof" in part.title and not part.reading]
    assert len(named) > 20
    assert [part.id for part in named if not part.proof] == []
    assert [part.id for part in parts if part.proof and "#" in part.id and part.corrected] == []


def test_readings_of_a_damaged_place_begin_with_what_is_most_likely_meant() -> None:
    """The first of them is told where the text is unclear; each damaged place has at least two."""
    damaged: dict[str, list[str]] = {}
    for each in registry.statements():
        for part in each.parts:
            if part.damaged:
                damaged.setdefault(part.display, []).append(part.reading)
    assert damaged == {
        "W18-E6#footnote units": ["linear", "root"],
        "W18-E6#footnote": ["linear", "root"],
        "W18-A1#8": ["sum", "product"],
        "W18-A2#output": ["hat", "raw"],
        "W18-TH3i": ["hat", "raw"],
        "W18-TH3iii": ["hat", "raw"],
        "RW21-T10.t": ["linear", "root"],
        "RW21-C16#condition": ["beta", "sigma"],
    }


def test_file_names_of_parents_are_unique_and_well_formed() -> None:
    files = [entry.file for entry in registry.default().catalogue.values() if not (entry.parent or entry.implemented)]
    assert len(set(files)) == len(files)
    assert [name for name in files if not STATEMENT_FILE.match(name.partition("/")[2].removesuffix(".py"))] == []


@for_each(
    ("id_", "file"),
    [
        ("W19-L2.4", "wang2019/lem_2_4.py"),
        ("W19-T4.1", "wang2019/thm_4_1.py"),
        ("W19-T4.1p", "wang2019/thm_4_1p.py"),
        ("W19-EA.4", "wang2019/eq_a_4.py"),
        ("W19-ALG1", "wang2019/alg_1.py"),
        ("W19-FIG1", "wang2019/fig_1.py"),
        ("W18-A2", "wang2018/alg_2.py"),
        ("W18-S1", "wang2018/alg_s1.py"),
        ("W18-TH2i", "wang2018/thm_2i.py"),
        ("W18-T1", "wang2018/tab_1.py"),
        ("RW21-TabA", "redberg_wang2021/paper.toml"),
        ("RW21-N1", "redberg_wang2021/num_1.py"),
        ("RW21-I1", "redberg_wang2021/num_i1.py"),
        ("RW21-F1", "redberg_wang2021/fig_1.py"),
    ],
)
def test_file_name_encodes_kind_and_number(id_: str, file: str) -> None:
    assert registry.default().catalogue[id_].file == file


def test_selection_is_in_the_order_of_the_catalogue(toys: registry.Registry) -> None:
    assert [source.id for source in toys.select(["RW21-T17", "W19-T4.1"])] == ["W19-T4.1", "RW21-T17"]
    assert [source.id for source in toys.select()] == ["W19-T4.1", "RW21-T17"]
    assert [source.id for source in toys.select(["RW21-T17.2", "RW21-T17"])] == ["RW21-T17"]


def test_an_id_is_found_in_any_case(toys: registry.Registry) -> None:
    assert toys.find("w19-t4.1") is toys.find("W19-T4.1")
    assert [source.id for source in toys.select(["rw21-t17.2", "W19-t4.1"])] == ["W19-T4.1", "RW21-T17"]
    assert toys.spelled("w19-t4.1@a") == "W19-T4.1@a"
    assert toys.spelled("w19-t9") == "w19-t9"


def test_unknown_id_names_close_matches(toys: registry.Registry) -> None:
    with pytest.raises(UserError, match=r"^id must be in the catalogue, got id=w19-t4.2; did you mean W19-T4.1"):
        toys.select(["w19-t4.2"])
    with pytest.raises(UserError, match=r"got id=nonsense; `pdp-verify list` shows them all$"):
        toys.select(["nonsense"])


def test_catalogued_id_without_a_file_is_told_apart(toys: registry.Registry) -> None:
    with pytest.raises(UserError, match=r"^id must have a statement file, got id=W19-L2.4"):
        toys.select(["W19-L2.4"])


def test_public_names_are_loaded_on_demand() -> None:
    """``from verify import statements`` works; an unknown name is refused as Python does."""
    import verify

    (theorem,) = verify.statements("W19-T4.1")
    assert theorem.id == "W19-T4.1"
    assert {name for name in verify.__all__ if getattr(verify, name, None) is None} == set()
    with pytest.raises(AttributeError, match="nothing"):
        _ = verify.nothing


def test_every_catalogue_id_is_listed() -> None:
    """What ``list`` shows are exactly the ids of the committed catalogue, sub-statements included, in its order."""
    known = registry.default()
    assert [row["id"] for row in statement_rows(known, ledger.default())] == list(known.catalogue)


def room_of(tmp_path: Path, *names: str) -> Path:
    (tmp_path / "wang2019").mkdir()
    for name in names:
        (tmp_path / "wang2019" / name).touch()
    return tmp_path


def two_ids() -> dict[str, Entry]:
    known = registry.catalogue()
    return {id_: known[id_] for id_ in ("W19-L2.4", "W19-T4.1")}


def test_scan_finds_the_file_of_every_id(tmp_path: Path) -> None:
    found = registry.scan(room_of(tmp_path, "lem_2_4.py", "thm_4_1.py", "shared.py"), "anywhere", two_ids())
    assert {id_: source.module for id_, source in found.items()} == {
        "W19-L2.4": "anywhere.wang2019.lem_2_4",
        "W19-T4.1": "anywhere.wang2019.thm_4_1",
    }


def test_an_id_without_a_file_is_refused_by_both_names(tmp_path: Path) -> None:
    with pytest.raises(Defect, match=r"^wang2019/paper.toml: W19-T4.1 must have its file wang2019/thm_4_1.py"):
        registry.scan(room_of(tmp_path, "lem_2_4.py"), "anywhere", two_ids())


def test_a_file_without_a_table_is_refused_by_both_names(tmp_path: Path) -> None:
    room = room_of(tmp_path, "lem_2_4.py", "thm_4_1.py", "cor_9.py")
    with pytest.raises(Defect, match=r"^wang2019/cor_9.py must have the table of its id in wang2019/paper.toml$"):
        registry.scan(room, "anywhere", two_ids())


def test_a_module_of_another_id_is_refused(toys: registry.Registry) -> None:
    other = registry.Source("W19-L2.4", toys.sources["W19-T4.1"].module, toys.sources["W19-T4.1"].path)
    assert toys.sources["W19-T4.1"].load().id == "W19-T4.1"
    with pytest.raises(Defect, match=r"must export the STATEMENT of W19-L2.4, got that of W19-T4.1$"):
        other.load()


@pytest.mark.parametrize("part", ["W19-T4.1", "W19-T4.1#units", "W19-T4.1@a", "W19-T4.1@a#units"])
def test_a_part_is_decided_by_its_statement(toys: registry.Registry, part: str) -> None:
    assert registry.id_of(part) == "W19-T4.1"
    assert toys.find(part).id == "W19-T4.1"
    with pytest.raises(UserError, match=r"must be in the catalogue, got id=W19-T4\.9"):
        toys.find(part.replace("4.1", "4.9"))
