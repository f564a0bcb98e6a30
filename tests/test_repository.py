"""The repository itself: directions, sizes, names, the catalogue, the ledger, and what tests may not do."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from reports.document import check_formulas
from reports.row import FormulaBlock
from verify.kernel.paper import papers
from verify.kernel.statement import Part, Standing, Statement
from verify.papers import ledger, registry
from verify.papers.registry import DISPLAY, Source

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("mechanisms", "audits", "verify", "reports")
FOLDERS = (*ROOMS, "tests", "docs", "benchmarks", ".ci")
#: What only tests may import.
TESTS = ("tests", "oracles", "toys", "pytest")
#: Places of the machine that something was written on; spelt in pieces so that this file passes.
MACHINE = [
    "/wo" + "rk/", "../sha" + "red", "sha" + "red/st", "/.lib" + "rary", "`.lib" + "rary", "/tmp" + "/v/",
    "/ro" + "ot/", "/ho" + "me/",
]  # fmt: skip
UNFINISHED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|NotImplemented" + r"Error)\b")


def files(*suffixes: str, folders: tuple[str, ...] = FOLDERS) -> Iterator[Path]:
    """Yield the files of the repository with these suffixes."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix in suffixes and "__pycache__" not in path.parts:
                yield path


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def imports(path: Path) -> list[tuple[str, int]]:
    """Return every imported module with its relative level."""
    found: list[tuple[str, int]] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(alias.name, 0) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append((node.module or "", node.level))
    return found


def test_a_package_imports_itself_relatively_and_no_test() -> None:
    """Which packages may import which is the contract of import-linter in pyproject.toml."""
    wrong = [
        f"{shown(path)} imports {module}"
        for path in files(".py", folders=ROOMS)
        for module, level in imports(path)
        if level == 0 and module.partition(".")[0] in (path.relative_to(ROOT).parts[0], *TESTS)
    ]
    assert wrong == []


def _names_imported(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each module of our rooms that a file imports by its whole name, with each name out of it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] in ROOMS:
            yield from ((str(node.module), alias.name) for alias in node.names)


def test_what_a_benchmark_imports_is_there() -> None:
    wrong = [
        f"{shown(path)} imports {module}.{name}"
        for path in files(".py", folders=("benchmarks",))
        for module, name in _names_imported(path)
        if not hasattr(import_module(module), name) and not find_spec(f"{module}.{name}")
    ]
    assert wrong == []


def test_rooms_do_not_import_the_command_line() -> None:
    wrong = [
        f"{shown(path)} imports {module}"
        for path in files(".py", folders=("verify",))
        if not path.name.startswith(("cli", "__main__"))
        for module, level in imports(path)
        if (level and module.rpartition(".")[2].startswith("cli")) or (module == "click" and path.name != "watch.py")
    ]
    assert wrong == []


def test_every_folder_says_what_it_knows() -> None:
    """In the first sentence of its ``__init__``."""
    silent = []
    for folder in {path.parent for path in files(".py", folders=ROOMS)}:
        face = folder / "__init__.py"
        words = ast.get_docstring(ast.parse(face.read_text(encoding="utf-8"))) if face.is_file() else None
        if not words or not words.partition("\n\n")[0].rstrip().endswith((".", "?")):
            silent.append(shown(folder))
    assert silent == []


def test_tests_mirror_the_product() -> None:
    folders = (path.parent.relative_to(ROOT / "tests") for path in files(".py", folders=("tests",)))
    assert {folder.as_posix() for folder in folders if folder.parts[:1] in {(room,) for room in ROOMS}} <= {
        shown(path.parent) for path in files(".py", folders=ROOMS)
    }


def test_no_file_is_called_utils() -> None:
    assert [shown(path) for path in files(".py") if path.stem in ("utils", "util", "helpers", "misc", "common")] == []


def test_nothing_names_the_machine_it_was_written_on() -> None:
    wrong = []
    own = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff", "pyproject.toml")]
    suffixes = (".py", ".typ", ".md", ".toml", ".csv", ".json", ".bib", "")
    for path in [*own, *files(*suffixes)]:
        text = path.read_text(encoding="utf-8")
        wrong += [f"{shown(path)}: {word}" for word in MACHINE if word in text]
    assert wrong == []


def test_nothing_is_left_unfinished() -> None:
    assert [shown(path) for path in files(".py", ".typ") if UNFINISHED.search(path.read_text(encoding="utf-8"))] == []


def test_no_test_is_skipped_or_passed_over() -> None:
    """No skip, skipif, xfail or importorskip, and no test that leaves early by a bare return."""
    wrong = []
    for path in files(".py", folders=("tests",)):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in ("skip", "skipif", "xfail", "importorskip"):
                wrong.append(f"{shown(path)}:{node.lineno} {node.attr}")
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                returns = [each for each in ast.walk(node) if isinstance(each, ast.Return) and each.value is None]
                wrong += [f"{shown(path)}:{each.lineno} bare return" for each in returns]
    assert wrong == []


# --- statements -------------------------------------------------------------------------------------------------------

SOURCES = registry.default().select()


@cache
def statement(source: Source) -> Statement:
    return source.load()


def test_every_file_that_exports_a_statement_is_in_the_catalogue() -> None:
    exporting = {
        shown(path)
        for path in files(".py", folders=("verify/papers",))
        if re.search(r"^STATEMENT =", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    catalogue = registry.default().catalogue
    assert exporting == {f"verify/papers/{catalogue[source.id].file}" for source in SOURCES if source.module}


def test_statements_agree_with_their_files_and_the_catalogue() -> None:
    catalogue = registry.default().catalogue
    wrong: list[str] = []
    for source in SOURCES:
        found, entry = statement(source), catalogue[source.id]
        said = (found.id, found.paper, found.kind, found.title, found.locator)
        wrong += [] if said == (source.id, entry.paper, entry.kind, entry.title, entry.locator) else [source.id]
        for part in found.parts:
            child = part.id in catalogue and catalogue[part.id].parent == source.id
            own = part.id == source.id or part.id.startswith(f"{source.id}{DISPLAY}") or part.reading
            if not (child or own) or (child and part.title != catalogue[part.id].title):
                wrong.append(part.id)
        children = {entry.id for entry in catalogue.values() if entry.parent == source.id}
        wrong += sorted(children - {part.display for part in found.parts})
    assert wrong == []


def test_cases_are_declared_completely() -> None:
    wrong: list[str] = []
    for source in SOURCES:
        found = statement(source)
        for case in found.cases:
            draws = list(case.draws) == sorted(case.draws) and (all(case.draws) or not any(case.draws))
            if not draws or bool(case.mutant) != (case.standing is Standing.MUTANT):
                wrong.append(f"{source.id}: {case.name}")
        corrected = {case.part for case in found.cases if case.standing is Standing.CORRECTED}
        wrong += sorted(corrected ^ {part.id for part in found.parts if part.corrected})
        wrong += [] if found.cases or found.definition else [source.id]
    assert wrong == []


def test_what_is_supported_has_a_mutant() -> None:
    def mutants(source: Source) -> bool:
        return any(case.standing is Standing.MUTANT for case in statement(source).cases)

    expected = ledger.default()
    supported = [each for each in SOURCES if "SUPPORTED" in (expected[each.id].printed, expected[each.id].corrected)]
    assert len(supported) > 50
    assert [source.id for source in supported if not mutants(source)] == []


@pytest.mark.parametrize("paper", [paper.name for paper in papers()])
def test_formulas_are_typst_math(paper: str) -> None:
    check_formulas(
        FormulaBlock(part.id, formula.typst, formula.text)
        for source in SOURCES
        if statement(source).paper == paper
        for part in statement(source).parts
        for formula in (part.printed, part.corrected)
        if formula
    )


def test_ledger_has_exactly_the_ids_that_are_listed() -> None:
    rows = list(registry.statement_rows(registry.default(), ledger.default()))
    assert set(ledger.default()) == {row["id"] for row in rows}
    for source in SOURCES:
        parts = statement(source).parts
        deciding = [part for part in parts if not part.proof] or list(parts)
        own = [part for part in parts if part.display == source.id or DISPLAY in part.id]
        _expects(source.id, deciding, [part.id.removeprefix(source.id).lstrip("#@") for part in own if part.reading])
        for id_ in {part.display for part in parts} - {part.display for part in own}:
            child = [part for part in parts if part.display == id_]
            _expects(id_, child, [part.reading for part in child if part.reading])


def _expects(id_: str, parts: Sequence[Part], readings: Sequence[str]) -> None:
    """Hold the ledger to a corrected form where there is one, or a damaged text, and to every reading."""
    expected = ledger.default()[id_]
    assert (expected.corrected is not None) == any(part.corrected or part.damaged for part in parts), id_
    assert set(expected.readings) == set(readings), id_


@cache
def named_in_tests(paper: str) -> frozenset[str]:
    """Return the texts that stand by themselves in the tests of a paper."""
    folder = ROOT / "tests" / "verify" / "papers" / paper
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in folder.glob("test_*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return frozenset(node.value for node in nodes if isinstance(node.value, str))


def test_a_statement_with_a_check_has_its_test() -> None:
    """Its id stands in a test of its paper; what is a definition, or waits for data, has nothing to test."""
    untested = [
        source.id
        for source in SOURCES
        if source.id not in named_in_tests(source.path.parent.name)
        and not statement(source).definition
        and (ledger.default()[source.id].printed != "UNDECIDED" or any(case.mutant for case in statement(source).cases))
    ]
    assert untested == []


# --- what ships -------------------------------------------------------------------------------------------------------


def test_version_is_the_same_everywhere() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_package_data_can_be_read() -> None:
    verify = ROOT / "verify"
    for name in ("record", "run"):
        assert json.loads((verify / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))["title"]
    assert len(papers()) >= 3


def test_contributing_fits_on_one_screen() -> None:
    assert len((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()) <= 60


def test_readme_starts_with_its_two_commands() -> None:
    """The first screen has two commands to copy, each of which makes its own environment."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    screen = "\n".join(text.splitlines()[:45])
    assert len(text.split()) <= 450
    blocks = re.findall(r"```(?:sh|bash|console)\n(.*?)```", screen, re.DOTALL)
    assert len(blocks) == 2
    assert all(block.startswith("python3 -m venv ") and block.count("\n") == 1 for block in blocks)
    assert blocks[0].rstrip().endswith("pdp-verify run")
    assert "pytest" in blocks[1]


def test_the_code_is_not_larger_than_its_table_says() -> None:
    """What went away does not come back: raise a number of docs/architecture.md only for a reason."""
    spec = spec_from_file_location("measure", ROOT / ".ci" / "measure.py")
    assert spec is not None
    assert spec.loader is not None
    measure = module_from_spec(spec)
    spec.loader.exec_module(measure)
    table = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").partition("<!-- size: begin -->")[2]
    cells = [line.strip("| ").split(" | ") for line in table.partition("<!-- size: end")[0].splitlines() if "|" in line]
    most = {row[0]: int(row[-1].replace(",", "")) for row in cells[2:]}
    found = measure.measured()
    assert set(found) == set(most)
    assert {words: number for words, number in found.items() if number > most[words]} == {}
