"""What ``repr`` says of objects that hold records: it goes to logs, notebooks and test reports, so never a cell."""

import numpy as np
import pandas as pd
import pytest

from mechanisms import LogisticLoss, ObjectivePerturbation, PosteriorSampling
from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.linear.ridge import ridge_fit
from mechanisms.numerics.spectra import GramSpectrum
from mechanisms.records.leverage import record_quantities
from mechanisms.records.record_laws import record_laws

CELLS = (0.123456, -0.654321, 0.777777)
SECRET = Dataset(np.array([[CELLS[0], CELLS[1]], [0.5, 0.25]]), np.array([CELLS[2], 0.5]), 1.0, 1.0, name="clinic")
PAIRS = {
    "add": NeighbouringPair.add(SECRET, [0.314159, 0.271828], 0.161803),
    "remove": NeighbouringPair.remove(SECRET, 0),
    "replace": NeighbouringPair.replace(SECRET, 1, [0.314159, 0.271828], 0.161803),
}


def objective_terms():
    mechanism = ObjectivePerturbation(LogisticLoss(), 1.0, 1.0)
    labels = Dataset(SECRET.X, np.array([1.0, -1.0]), 1.0, 1.0)
    return mechanism.loss_terms(np.zeros((1, 2)), NeighbouringPair.remove(labels, 0)), mechanism.objective(labels)


HOLDERS = {
    "data set": lambda: SECRET,
    **{f"pair, {name}": lambda pair=pair: pair for name, pair in PAIRS.items()},
    "ridge fit": lambda: ridge_fit(SECRET, 1.0),
    "spectrum": lambda: GramSpectrum.of(SECRET),
    "record quantities": lambda: record_quantities(SECRET, 1.0),
    "record laws": lambda: record_laws(PosteriorSampling(1.0, 1.0), SECRET),
    "objective": objective_terms,
}


@pytest.mark.parametrize("name", HOLDERS)
@pytest.mark.parametrize(
    "shown", [repr, str, lambda v: f"{v!r}", lambda v: repr([{"frame": v}]), lambda v: repr(pd.Series([v, v]))]
)
def test_no_representation_shows_a_cell(name, shown):
    text = shown(HOLDERS[name]())
    digits = [f"{abs(cell):.6f}"[2:6] for cell in (*CELLS, 0.314159, 0.271828, 0.161803)]
    assert not [digit for digit in digits if digit in text]
    assert "array(" not in text
    assert len(text) < 400


def test_a_number_of_records_is_shown_only_where_it_is_public():
    assert repr(SECRET) == "Dataset('clinic', dim=2, private)"
    public = Dataset(SECRET.X, SECRET.y, 1.0, 1.0, name="open", public=True)
    assert repr(public) == "Dataset('open', n_records=2, dim=2, public)"
    assert repr(PAIRS["remove"]) == "NeighbouringPair(REMOVE, Dataset('clinic', dim=2, private))"


def test_the_digits_that_are_looked_for_would_be_found():
    assert "1234" in repr(SECRET.X)
