"""Print pip constraints that pin every direct dependency to the lower bound that ``pyproject.toml`` declares."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["project"]
extras = project["optional-dependencies"]
tested = [each for extra in ("accounting", "dask", "interchange", "parquet", "test") for each in extras[extra]]
for requirement in [*project["dependencies"], *tested]:
    bound = re.match(r"([\w.-]+)(?:\[\w+\])?>=([\w.]+)", requirement)
    if bound:
        print(f"{bound[1]}=={bound[2]}")
