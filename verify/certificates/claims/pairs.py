"""The pairs of data sets that a claim speaks about, and simulated checks on them; a failure is confirmed afresh."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.linalg import LinAlgError

from audits import Budget
from audits.black_box.claims import PrivacyClaim
from audits.error_budget import Part
from audits.examination.examine_choose import Named
from audits.search.data_pairs import own_data_pairs
from audits.search.design_search import PairSearch
from audits.search.pairs import GroupPair, NamedGroupPair, PublicDomain, examination_pairs
from audits.search.worst_case import NamedPair, adversarial_pairs
from audits.verdict import CheckRole
from mechanisms import DataError, Dataset, NeighbouringPair, Relation, WhiteBox
from mechanisms.data.dataset import row_norms
from mechanisms.objective.perturbed_solver import SolverError

from ...engine.work import mapped
from ...kernel.pair_evidence import QUANTITY, pair_evidence
from ...kernel.rows import look_twice
from ...kernel.statement import Claim, Evidence, Observer
from ...messages.errors import UserError
from ..config.config import Configuration, PairSection
from .finding import Check, Deployment
from .record_losses import record_epsilons
from .types import PDPClaim

#: Records of the structured pairs of a reference mechanism, and how many of these are simulated.
STRUCTURED_RECORDS, STRUCTURED_PAIRS = 6, 3
#: Units of the search for the worst pair, pairs that it may find, and draws of each data set in an evaluation.
SEARCHES = {"quick": (400, 3, 24), "standard": (1_500, 4, 48), "full": (4_000, 6, 96)}
#: Draws of a search, at most, as a share of what the pairs asked for are given, and the fewest units worth it.
SEARCH_SHARE, LEAST_UNITS = 0.3, 100
#: Why there is no test where the process that drew it ended every time.
DIED = "the worker process died every time"


# --- named by the configuration, or built from public numbers ---------------------------------------------------------


def named_pairs(config: Configuration, dataset: Dataset) -> tuple[Named, ...]:
    """Return the pairs of the configuration in the domain of ``dataset``.

    They are ``ADD``, ``REMOVE`` with ``place``, ``REPLACE`` with ``replaced``.

    Raises UserError: one line: the pair and the rule, never a number of it.
    """
    return tuple(_named_pair(section, place, config, dataset) for place, section in enumerate(config.pairs))


def _named_pair(section: PairSection, place: int, config: Configuration, dataset: Dataset) -> Named:
    if len(section.target_x) != dataset.dim:
        raise UserError(
            f"pairs[{place}].target_x must have {dataset.dim} prepared features, as the data have, "
            f"got {len(section.target_x)}"
        )
    if len(section.X) < config.data.n_min:
        raise UserError(
            f"pairs[{place}].X must have at least data.n_min={config.data.n_min} records, got {len(section.X)}"
        )
    more = 0 if section.replaced is not None else section.count
    if config.data.n_public is not None and len(section.X) + more > config.data.n_public:
        raise UserError(f"pairs[{place}] must have at most data.n_public={config.data.n_public} records, got more")
    rows = np.reshape(np.asarray(section.X, dtype=np.float64), (len(section.X), dataset.dim))
    name, x, y = str(section.name), section.target_x, section.target_y
    try:
        shared = Dataset(rows, np.asarray(section.y), dataset.x_bound, dataset.y_bound, name=name)
        if section.count > 1:
            return NamedGroupPair(name, _group_pair(section, shared))
        if section.replaced is not None:
            return NamedPair(name, NeighbouringPair.replace(shared, section.replaced, x, y))
        if section.place is None:
            return NamedPair(name, NeighbouringPair.add(shared, x, y))
        return NamedPair(name, NeighbouringPair.remove(_with(section, shared, section.place), section.place))
    except DataError as stop:
        raise UserError(f"pairs[{place}] must lie in the public domain: {stop}") from None


def _with(section: PairSection, shared: Dataset, place: int) -> Dataset:
    """Return the shared records with the target among them, as often as it counts."""
    X = np.insert(shared.X, [place] * section.count, section.target_x, axis=0)
    return replace(shared, X=X, y=np.insert(shared.y, [place] * section.count, section.target_y))


def _group_pair(section: PairSection, shared: Dataset) -> GroupPair:
    name, copies, at = str(section.name), section.count, section.replaced
    if at is not None:
        X, y = shared.X.copy(), shared.y.copy()
        X[at : at + copies], y[at : at + copies] = section.target_x, section.target_y
        return GroupPair(shared, replace(shared, X=X, y=y), Relation.REPLACE, name, copies)
    if section.place is None:
        return GroupPair(shared, _with(section, shared, shared.n_records), Relation.ADD, name, copies)
    return GroupPair(_with(section, shared, section.place), shared, Relation.REMOVE, name, copies)


def pairs_for(pairs: tuple[Named, ...], relation: Relation, group: int = 1) -> tuple[Named, ...]:
    """Return those that a claim of a relation (``ADD`` or ``REPLACE``) and a group speaks about."""
    return tuple(
        each
        for each in pairs
        if (each.pair.relation is Relation.REPLACE) is (relation is Relation.REPLACE)
        and getattr(each.pair, "distance", 1) == group
    )


def public_pairs(
    deployment: Deployment, claim: PrivacyClaim, relation: Relation, count: int
) -> tuple[list[Named], list[Named]]:
    """Return at most ``count`` structured pairs of the public domain, and the pairs of the configuration.

    Raises UserError if there is none.
    """
    labels, public = _labels_only(deployment), _public_domain(deployment)
    structured: list[Named] = list(examination_pairs(public, relation, group=claim.group, count=count, labels=labels))
    named = list(pairs_for(deployment.pairs, relation, claim.group))
    if not (structured or named):
        raise UserError(
            "data must allow two neighbouring data sets in its public domain, got none (data.n_min, n_public)"
        )
    return structured, named


def own_pairs(deployment: Deployment, claim: PrivacyClaim, relation: Relation, wanted: int) -> list[Named]:
    """Return pairs around the records of the deployment, at most ``wanted``; none for a group, or without records."""
    if claim.group > 1 or deployment.config.data.dim is not None:
        return []
    n_min, n_max = deployment.config.data.n_min, deployment.domain.n_public
    labels = _labels_only(deployment)
    return list(own_data_pairs(deployment.dataset, relation, wanted, n_min=n_min, n_max=n_max, labels=labels))


def pair_search(deployment: Deployment, claim: PrivacyClaim, relation: Relation) -> PairSearch | None:
    """Return where, and how long, the worst pair of the public domain is searched; None where draws are dear or few."""
    if deployment.config.budget.max_draws is not None or deployment.is_door:
        return None
    units, winners, n_draws = SEARCHES[deployment.config.budget.profile]
    pairs, draws = deployment.examination_size
    units = min(units, int(SEARCH_SHARE * pairs * draws / n_draws))
    if units < LEAST_UNITS:
        return None
    labels = _labels_only(deployment)
    return PairSearch(_public_domain(deployment), relation, claim.group, labels, units, winners, n_draws)


def _public_domain(deployment: Deployment) -> PublicDomain:
    domain, data = deployment.domain, deployment.config.data
    return PublicDomain(domain.dim, domain.x_bound, domain.y_bound, data.n_min, domain.n_public)


def _labels_only(deployment: Deployment) -> bool:
    """Return whether the configuration (not the data, which nobody reads) makes every response a label, -1 or +1."""
    data = deployment.config.data
    coded = bool(data.labels) and set(data.labels.values()) <= {-1.0, 1.0}
    return (data.threshold is not None or coded) and data.response_scale == 1.0 and deployment.domain.y_bound >= 1


def structured_pairs(deployment: Deployment) -> list[NamedPair]:
    """Return a few structured pairs at the edges of the domain that a reference mechanism accepts."""
    domain = deployment.domain
    if not (math.isfinite(domain.x_bound) and math.isfinite(domain.y_bound)):
        return []
    listed = adversarial_pairs(STRUCTURED_RECORDS, domain.dim, x_bound=domain.x_bound, y_bound=domain.y_bound)
    wanted = (
        "rows almost zero; responses alike; least excited direction, response -",
        "rows alike; responses alike; most excited",
        "rows alike; responses alternate; least excited",
        "rows almost zero",
    )
    chosen: list[NamedPair] = []
    rng = np.random.default_rng(0)
    for prefix in wanted:
        for named in listed:
            if named.name.startswith(prefix) and len(chosen) < STRUCTURED_PAIRS and named not in chosen:
                try:
                    deployment.mechanism.draw(named.pair.first, 1, rng=rng)
                    deployment.mechanism.draw(named.pair.second, 1, rng=rng)
                except (ValueError, SolverError):
                    continue  # outside what the mechanism accepts (labels only, a singular design)
                chosen.append(named)
                break
    return chosen


# --- of the records: a given target, those most exposed, targets at the edge of the public domain ---------------------


def target_pair(deployment: Deployment, claim: PDPClaim) -> NeighbouringPair:
    """Return the pair that adds the target of a claim."""
    assert claim.x is not None
    assert claim.y is not None
    try:
        return NeighbouringPair.add(deployment.dataset, claim.x, claim.y)
    except DataError as stop:
        raise UserError(f"claims of scope target must have a target in the public domain: {stop}") from None


def most_exposed(mechanism: object, dataset: Dataset, delta: float) -> int:
    """Return the position of the record with the largest exact epsilon, or else of the longest features."""
    exact = record_epsilons(mechanism, dataset, delta) if delta > 0 else None
    return int(np.argmax(row_norms(dataset.X) if exact is None else exact))


def targets_at_the_edge(deployment: Deployment) -> Iterator[NeighbouringPair]:
    """Yield targets of full length along the eigenvectors of the design and along the least squares solution."""
    dataset, domain = deployment.dataset, deployment.domain
    if not math.isfinite(domain.x_bound + domain.y_bound):
        return
    _, vectors = np.linalg.eigh(dataset.X.T @ dataset.X)
    directions = [vectors[:, 0], vectors[:, -1]]
    solution = np.linalg.lstsq(dataset.X, dataset.y, rcond=None)[0] if dataset.n_records else np.zeros(dataset.dim)
    if np.linalg.norm(solution) > 0:
        directions.append(solution / np.linalg.norm(solution))
    for direction in directions:
        for sign in (1.0, -1.0):
            x = direction * domain.x_bound * (1 - 1e-12)
            yield NeighbouringPair.add(dataset, x, sign * domain.y_bound)


def record_pairs(deployment: Deployment) -> list[NamedPair]:
    """Return the removal of the most exposed record, of extreme ones and of some spread over the file."""
    dataset, wanted = deployment.dataset, deployment.examination_size[0]
    if dataset.n_records == 0:
        raise DataError("n_records must be at least 1 for a claim about records, got n_records=0")
    first = most_exposed(deployment.mechanism, dataset, 1e-6)
    extremes = [first, int(np.argmax(np.abs(dataset.y))), int(np.argmax(row_norms(dataset.X)))]
    spread = np.linspace(0, dataset.n_records - 1, min(wanted, dataset.n_records)).astype(int).tolist()
    places = list(dict.fromkeys([*extremes, *spread]))[:wanted]
    return [
        NamedPair(f"record {number} of those examined, removed", NeighbouringPair.remove(dataset, place))
        for number, place in enumerate(places, start=1)
    ]


def covered_pairs(deployment: Deployment, claim: PDPClaim) -> list[NamedPair]:
    """Return the pairs that a claim speaks about, the most exposed first, no more than an examination takes."""
    if claim.scope == "target":
        return [NamedPair("the target", target_pair(deployment, claim))]
    records = record_pairs(deployment)
    if claim.scope == "records":
        return records
    edges = [
        NamedPair(f"a target at the edge of the public domain, {number}", pair)
        for number, pair in enumerate(targets_at_the_edge(deployment), start=1)
    ]
    return [*edges, *records][: max(deployment.examination_size[0], len(edges))]


# --- simulated checks of a reference mechanism ------------------------------------------------------------------------


@dataclass(frozen=True)
class PairTask:
    """One pair of which delta is simulated, beside its exact value where the law is known."""

    name: str
    mechanism: WhiteBox
    pair: NeighbouringPair
    epsilon: float
    delta: float
    budget: Budget
    private: bool
    role: CheckRole = CheckRole.REFUTES
    words: str = ""

    def check(self, evidence: Evidence) -> Check:
        """Return evidence about the pair as a check."""
        return Check(self.name, self.role, evidence, self.private, self.words)

    def untested(self, why: object) -> Evidence:
        """Return that there is no test: why."""
        relation = self.pair.relation
        shown = Claim(QUANTITY, 0.0, self.delta, self.epsilon, relation=relation, observer=Observer.TRANSCRIPT)
        return Evidence(shown, reason=f"no finite test: {why}")


def ignore(_: float) -> None:
    """Tell nobody."""


def work_of(tasks: Sequence[PairTask]) -> int:
    """Return how much there is to do: each draw, and its loss."""
    return 2 * sum(task.budget.n_draws for task in tasks)


def run_tasks(tasks: Sequence[PairTask], jobs: int, step: Callable[[float], None] = ignore) -> list[Check]:
    """Return the checks of all tasks, in their order; ``step`` is told of what other processes have done."""
    few = len(tasks) < 2 or sum(task.budget.n_draws for task in tasks) < 20_000
    told = ignore if few or jobs == 1 else step
    results = mapped(
        run_task,
        [replace(task, budget=task.budget.apart()) for task in tasks],
        1 if few else jobs,
        told=lambda task, _: told(work_of([task])),
        died=lambda task: (task.check(task.untested(DIED)), ()),
    )
    for task, (_, spent) in zip(tasks, results, strict=True):
        task.budget.adopt(spent)
    return [check for check, _ in results]


def run_task(task: PairTask) -> tuple[Check, tuple[Part, ...]]:
    """Return the check of one task, and what it spent; a pure function of the task."""
    looks = look_twice(partial(_delta_evidence, task), *task.budget.split({"look": 0.5, "confirm": 0.5}).values())
    if looks.error is not None:
        raise looks.error
    evidence = looks.confirmation if looks.unconfirmed else looks.first
    assert evidence is not None
    if looks.unconfirmed:
        evidence = replace(evidence, sampled=None, reason="unconfirmed: it failed once and not again on fresh draws")
    return task.check(evidence), task.budget.tree()


def _delta_evidence(task: PairTask, budget: Budget) -> Evidence:
    """Return the evidence; draws that float64 cannot make are none, and refute nothing."""
    try:
        return pair_evidence(task.mechanism, task.pair, task.epsilon, task.delta, budget)
    except (SolverError, LinAlgError) as stop:
        return task.untested(stop)
