"""The size of the code: lines, files, names, classes, and imports that run in circles.

``python .ci/measure.py`` prints the rows of the table in ``docs/architecture.md``; ``tests/test_repository.py`` holds
the code to that table. Imports inside functions count, since they hold circles open; imports for types alone do not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("mechanisms", "audits", "verify", "reports")
#: Packages of ``verify`` from the lowest to the highest: each imports from those before it.
ORDER = (
    *("messages", "schemas", "kernel", "methods", "figures", "papers", "engine", "diffs", "certificates"),
    *("export", "calibration", "comparisons", "runs", "sweeps", "plugin"),
)


@cache
def modules() -> Mapping[str, tuple[Path, ast.Module]]:
    """Return the modules of the product by their dotted names."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            found[name] = (path, ast.parse(path.read_text(encoding="utf-8")))
    return found


def lines(*folders: str) -> int:
    """Return the lines of Python in folders of the repository."""
    paths = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return sum(path.read_text(encoding="utf-8").count("\n") for path in paths)


def imported(name: str) -> Iterator[str]:
    """Yield the modules of the product that a module imports when it runs."""
    path, tree = modules()[name]
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in _when_run(tree):
        if isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                target = f"{base}.{alias.name}"
                if target in modules():
                    yield target
                elif base in modules() and base != ".".join(package):
                    yield base


def _when_run(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)):
            yield child
            yield from _when_run(child)


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected parts of a graph that have more than one node, the largest first."""
    reached = {node: _reached(graph, node) for node in graph}
    parts = {frozenset(other for other in there if node in reached[other]) | {node} for node, there in reached.items()}
    return sorted((sorted(part) for part in parts if len(part) > 1), key=len, reverse=True)


def _reached(graph: Mapping[str, set[str]], start: str) -> set[str]:
    seen, waiting = set[str](), [start]
    while waiting:
        new = graph[waiting.pop()] - seen
        seen |= new
        waiting += new
    return seen


def arrows_back(graph: Mapping[str, set[str]]) -> list[str]:
    """Return the imports between packages of ``verify`` that run against their order."""
    found = set()
    for name, targets in graph.items():
        for target in targets:
            one, other = (each.split(".")[1] if each.startswith("verify.") else "" for each in (name, target))
            if one in ORDER and other in ORDER and ORDER.index(one) < ORDER.index(other):
                found.add(f"{one} -> {other}")
    return sorted(found)


def measured() -> dict[str, int]:
    """Return every number of the table by the words of its row."""
    graph = {name: set(imported(name)) - {name} for name in modules()}
    trees = [tree for _, tree in modules().values()]
    everything = [
        path for folder in (*PACKAGES, "tests", "benchmarks", ".ci") for path in (ROOT / folder).rglob("*.py")
    ]
    found = circles(graph)
    return {
        "product without papers, lines": lines(*PACKAGES) - lines("verify/papers"),
        "papers, lines": lines("verify/papers"),
        "tests, lines": lines("tests"),
        "Python files": len(everything) + 1,
        "public top-level names": sum(_public(node) for tree in trees for node in tree.body),
        "classes": sum(isinstance(node, ast.ClassDef) for tree in trees for node in ast.walk(tree)),
        "import circles": len(found),
        "modules in the largest circle": max(map(len, found), default=0),
        "imports of `verify` against its order": len(arrows_back(graph)),
    }


def _public(node: ast.stmt) -> bool:
    named = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    return named and not getattr(node, "name", "_").startswith("_")


if __name__ == "__main__":
    for words, number in measured().items():
        print(f"| {words} | {number:,} |")
