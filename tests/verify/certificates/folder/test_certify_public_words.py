"""What is found on private records alone changes no word that the public reads about an imported mechanism."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from verify import certify

MECHANISM = '''
import numpy as np
from mechanisms import GaussianProfile


class OwnDataOnly:
    """Private everywhere but near the user's own data, which have 17 records."""

    name = "own data only"

    def draw(self, dataset, n_draws, *, rng):
        sigma = 1e-3 if dataset.n_records in (16, 17) else 20.0
        return dataset.y.sum() + sigma * rng.standard_normal((n_draws, 1))

    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs[:, 0] - dataset.y.sum()) / 20.0)

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(y_bound / 20.0)
'''
CONFIGURATION = """
[data]
file = "data.csv"
features = ["a"]
target = "y"
x_bound = 1.0
y_bound = 1.0

[mechanism]
import = "mine.py:OwnDataOnly"
vouched_by = {{ who = "its author", proof = "10.1000/182" }}

[[claims]]
type = "dp"
epsilon = {epsilon}
delta = 1e-6

[budget]
profile = "quick"
pairs = 2
draws = 3000
"""


@pytest.mark.parametrize("epsilon", [1.0])
def test_the_public_reads_nothing_of_what_own_records_gave_away(epsilon: float, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MECHANISM, encoding="utf-8")
    (tmp_path / "c.toml").write_text(CONFIGURATION.format(epsilon=epsilon), encoding="utf-8")
    texts = []
    for n in (17, 40):  # leaking and not
        rows = np.column_stack([0.5 * np.sin(np.arange(n)), 0.9 * np.cos(np.arange(n))])
        np.savetxt(tmp_path / "data.csv", rows, delimiter=",", header="a,y", comments="")
        inside, outside = (certify(tmp_path / "c.toml", audience=who) for who in ("curator", "release"))
        assert inside.decision.name == ("FAIL" if n == 17 else "PASS")
        assert "your data" in str(inside.rows)
        assert "your data" not in str(outside.rows)
        texts.append(str(outside.rows))
    assert texts[0] == texts[1]
