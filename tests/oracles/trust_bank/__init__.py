"""The bank that a certificate must withstand: mechanisms that are not private, and some that are, with equality.

Each module of this folder is a file that ``certify`` can import by its path; it imports numpy, scipy, ``mechanisms``
and modules of ``oracles`` alone (pandas where it answers with frames). ``bank.toml`` lists its mechanisms, and
``zoo_names`` the honest laws; here they become ``Entry`` objects. The bank is written from how authors err; it knows no
detector. ``leaks`` holds an event for every broken one, whose probabilities break the claim.
"""

import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType

from . import answers, composition, few_states, formulas, moments, named, read_off, remembered, training
from .registry import CLASSES, Claim, Entry
from .zoo_names import ZOO

__all__ = ["BROKEN", "CLASSES", "ENTRIES", "HONEST", "ZOO", "Claim", "Entry"]


def _table(module: ModuleType) -> Iterator[Entry]:
    """Yield what ``bank.toml`` has of a file."""
    file = Path(module.__file__ or "").name
    for klass, rows in TABLE[file].items():
        for name, row in rows.items():
            kind, parameters = getattr(module, row.pop("kind")), row.pop("parameters", {})
            own = {key: row.pop(key) for key in Claim.__dataclass_fields__ if key in row}
            if "points" in own:
                own["points"] = tuple(map(tuple, own["points"]))
            rest = {"relation": "add-remove", "why": kind.__doc__, **row}
            origin, made = f"{file}:{kind.__name__}", partial(kind, **parameters)
            yield Entry(name, int(klass), made, origin, parameters, Claim(**own), **rest)


TABLE = tomllib.loads((Path(__file__).parent / "bank.toml").read_text(encoding="utf-8"))
_MODULES = (moments, named, training, remembered, answers, few_states, formulas, read_off, composition)
_ENTRIES = sorted((entry for module in _MODULES for entry in _table(module)), key=lambda entry: entry.klass)
BROKEN = tuple(entry for entry in _ENTRIES if entry.klass)
HONEST = tuple(entry for entry in _ENTRIES if not entry.klass)
ENTRIES = {entry.name: entry for entry in (*BROKEN, *HONEST, *ZOO)}
