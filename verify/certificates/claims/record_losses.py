"""What every record of the data means to the deployment, in one vectorised pass: per-instance and ex-post losses.

Each function is checked in the tests against ``privacy_loss`` and ``profile`` of one pair at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

import numpy as np

from audits.white_box.tails import LARGE, thinned
from mechanisms import BOTH, Dataset, NeighbouringPair, WhiteBox
from mechanisms.capabilities import ExPostLosses
from mechanisms.data.dataset import FloatArray, row_norms
from mechanisms.records.record_laws import BatchedLaws, batched_laws, dominating_laws
from mechanisms.reference import is_reference
from reports.row import Figure, Mark, Series, Style

from ...kernel.statement_plots import roc_figure
from ..config.mechanism_source import law_of, white_box_of
from .finding import Deployment

#: Most records for which a mechanism without a vectorised form is asked one by one.
ONE_BY_ONE = 2_000
#: The last answer about each data set that is still in use: checks and figures of a claim ask the same.
_LAST: WeakKeyDictionary[Dataset, tuple[object, float, object, FloatArray]] = WeakKeyDictionary()


def record_epsilons(mechanism: object, dataset: Dataset, delta: float) -> FloatArray | None:
    """Return the exact per-instance epsilon of every record at ``delta`` (worse direction), or None where unknown.

    Shape ``(n_records,)``. Of more than 65,536 records the largest is exact, those below are interpolated between exact
    ones.
    """
    batched = _asked_once(mechanism, dataset, delta, batched_laws)
    if batched is not None:
        return batched
    law = law_of(mechanism)
    if law is None or dataset.n_records > ONE_BY_ONE:
        return None
    profiles = (law(NeighbouringPair.remove(dataset, i)) for i in range(dataset.n_records))
    return np.array([max(p.epsilon_at(delta, d) for d in BOTH) for p in profiles])


def dominating_epsilons(mechanism: object, dataset: Dataset, delta: float) -> FloatArray | None:
    """Return a proved bound on every record's epsilon where its exact one is not known, or None."""
    if batched_laws(mechanism, dataset) is not None:
        return None
    return _asked_once(mechanism, dataset, delta, dominating_laws)


def _asked_once(
    mechanism: object, dataset: Dataset, delta: float, laws_of: Callable[[object, Dataset], BatchedLaws | None]
) -> FloatArray | None:
    """Return the larger epsilons of both directions, kept for the next question about these records."""
    known = _LAST.get(dataset)
    if known is not None and known[0] is mechanism and known[1] == delta and known[2] is laws_of:
        return known[3]
    laws = laws_of(mechanism, dataset)
    if laws is None:
        return None
    epsilons = laws.worse_epsilon_at(delta)
    epsilons.setflags(write=False)
    _LAST[dataset] = (mechanism, delta, laws_of, epsilons)
    return epsilons


def ex_post_losses(mechanism: object, output: FloatArray, dataset: Dataset) -> FloatArray | None:
    """Return ``log p_D(o) - log p_{D-z}(o)`` of every record at one output, shape ``(n_records,)``, or None."""
    if isinstance(mechanism, ExPostLosses) and is_reference(mechanism):
        known = mechanism.ex_post_losses(output, dataset)
        if known is not None:
            return known
    white_box = white_box_of(mechanism)
    if white_box is None or dataset.n_records > ONE_BY_ONE:
        return None
    pairs = (NeighbouringPair.remove(dataset, i) for i in range(dataset.n_records))
    return np.array([float(white_box.privacy_loss(output[None], pair)[0]) for pair in pairs])


#: Cells of a histogram, and draws of an attack.
CELLS, ROC_DRAWS = 40, 8_000


def histogram(
    name: str, title: str, caption: str, axis: str, values: FloatArray, marks: tuple[Mark, ...] = ()
) -> Figure:
    """Return how many records have which value; infinite values are left out and counted in the caption."""
    finite = values[np.isfinite(values)]
    if finite.size < values.size:
        caption += f" {values.size - finite.size} records have an infinite value, which is not shown."
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    edges = np.linspace(low, high if high > low else low + 1.0, CELLS + 1)
    counts = np.histogram(finite, edges)[0]
    middles = 0.5 * (edges[1:] + edges[:-1])
    heights = np.maximum(counts, 0.5)
    series = Series("records", tuple(map(float, middles)), tuple(map(float, heights)), style=Style.STEPS)
    return Figure(
        name,
        title,
        caption,
        f"Histogram of {values.size} records on a logarithmic scale: {axis} between {low:.4g} and {high:.4g}",
        axis,
        "records",
        (series,),
        marks,
        y_scale="log",
    )


def roc(name: str, mechanism: WhiteBox, pair: NeighbouringPair, seed: int, most: int | None = None) -> Figure:
    """Return the ROC of the likelihood-ratio attack on the most exposed record; ``most`` draws in a dry run."""
    setting = "Attack by the likelihood ratio, which no other attack beats, on the most exposed record"
    law = law_of(mechanism)
    theory = None if law is None else law(pair)
    wanted = ROC_DRAWS if most is None else min(ROC_DRAWS, most)
    n_draws = wanted if law is not None else thinned(wanted, pair.dataset.n_records)
    if n_draws < wanted:
        setting += f" (fewer draws, as there are more than {LARGE:,} records)"
    return roc_figure(
        name, "Attack on the most exposed record", mechanism, pair, theory, seed, setting, n_draws=n_draws
    )


def roc_work(deployment: Deployment) -> int:
    """Return how much there is to do for the attack on a record of the data: each draw, and its loss."""
    known = law_of(deployment.mechanism) is not None
    return 2 * (ROC_DRAWS if known else thinned(ROC_DRAWS, deployment.dataset.n_records))


def curve(label: str, grid: FloatArray, values: Sequence[float], floor: float) -> Series:
    """Return a curve where it lies above the floor of a logarithmic scale."""
    seen = [(float(e), float(v)) for e, v in zip(grid, values, strict=True) if v > floor]
    return Series(label, tuple(e for e, _ in seen), tuple(v for _, v in seen))


def record_figures(deployment: Deployment, claim: str) -> list[Figure]:
    """Return the loss over the records at one output, and the attack on the longest record."""
    mechanism, dataset = white_box_of(deployment.mechanism), deployment.dataset
    if mechanism is None or dataset.n_records == 0:
        return []
    label = claim.replace(" ", "-")
    output, whose = deployment.released, "the released output"
    if output is None:
        output = mechanism.draw(dataset, 1, rng=deployment.figure_key("one output").rng())[0]
        whose = "one simulated output"
    figures = []
    losses = ex_post_losses(mechanism, output, dataset)
    if losses is not None and np.isfinite(losses).any():
        words = f"Loss of every record at {whose}: the log of its density with the record over that without."
        figures.append(
            histogram(f"losses-{label}", "Ex-post loss over the records", words, "ex-post loss (natural log)", losses)
        )
    pair = NeighbouringPair.remove(dataset, int(row_norms(dataset.X).argmax()))
    figures.append(roc(f"roc-{label}", mechanism, pair, deployment.config.budget.seed, deployment.draws))
    return figures
