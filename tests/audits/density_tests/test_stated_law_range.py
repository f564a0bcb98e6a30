"""Draws that stop where the stated density goes on: twins, laws that are cut off, true laws that pass."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.audits import mixed_laws
from oracles.audits import stated_law as twin
from oracles.audits.stated_laws import CUT_OFF, HONEST, Stated, laplace, laplace_density
from oracles.toy_mechanisms import toy_pair
from rows import for_each

from audits import Budget, StreamKey
from audits.black_box.claims import PrivacyClaim
from audits.density_tests.stated_law import audit_law, stated
from audits.density_tests.stated_law_range import Fill, Outward, Push, Reach, Swell, audit_range, payoffs, reaches_of
from audits.examination.examine_pair import STOPS, PairWork, examine_pair
from audits.verdict import CheckRole
from verify.calibration.series.series import PAIR

LEVEL, DRAWS = 1e-6, 20_000
SLOW_NAMES = ("30-D", "5-D")


def budget(name: str, n_draws: int = DRAWS, level: float = LEVEL) -> Budget:
    return Budget(n_draws, level, StreamKey(3, (name,)))


def reaches(k: int) -> tuple[Reach, ...]:
    return tuple(Reach(j, 0.1 * j, -2.0 - j, 3.0, -np.inf, np.inf) for j in range(k))


@for_each(
    ("move", "threshold"),
    [
        (Push("", reaches(1), 1.5), 0.6),
        (Push("", reaches(1), 1.5, 1), 0.6),
        (Swell("", reaches(1), 1.5), 0.6),
        (Fill("", reaches(1), 0.2, 0.0), -0.1),
    ],
)
def test_payoffs_are_those_of_the_twin(move: Outward, threshold: float) -> None:
    drawn = np.random.default_rng(1).laplace(size=(300, 1))
    density = stated(lambda o, _: -(np.abs(o[:, 0]) ** 1.5), "", None)
    (x,) = payoffs(density, move, drawn, density(drawn), [threshold])
    expected = twin.payoffs_beyond(
        lambda o: -(abs(o) ** 1.5),
        lambda o: float(move.score(np.array([[o]]), density(np.array([[o]])))[0]),
        drawn[:, 0].tolist(),
        move.factor,
        threshold,
        moves=lambda o: not (isinstance(move, Push) and move.side == 1 and o <= 0),
    )
    assert x == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert (x < 0).any()
    assert (x > 0).any()


@for_each(
    "move",
    [
        Push("", reaches(3), 1.4),
        Swell("", reaches(3), 1.4),
        Push("", reaches(3), 1.4, -1),
        Fill("", reaches(3)[1:2], 0.2, 0.4),
    ],
)
def test_a_move_is_injective_with_its_jacobian(move: Outward) -> None:
    points = np.random.default_rng(2).standard_normal((200, 3))
    images = move.images(points)
    back, reached = move.origins(images)
    assert reached.all()
    assert back == pytest.approx(points, abs=1e-12)
    steps = [(move.images(points + h) - move.images(points - h)) / 2e-7 for h in 1e-7 * np.eye(3)]
    jacobian = np.linalg.det(np.stack(steps, axis=1))
    assert np.median(np.log(np.abs(jacobian))) == pytest.approx(move.log_jacobian, abs=1e-6)


def test_what_is_no_image_of_a_push_has_no_origin() -> None:
    move = Push("", reaches(2), 2.0)
    points = np.array([[3.0, 0.1], [3.0, 2.9], [1.0, 0.9]])
    assert move.origins(points)[1].tolist() == [True, False, False]


@for_each("law", [law for law in CUT_OFF if not any(name in law.name for name in SLOW_NAMES)])
def test_a_law_that_is_cut_off_is_seen(law: Stated) -> None:
    """Level 1e-6, 20,000 draws of one data set."""
    found = audit_range(law, PAIR.first, budget(law.name))
    assert found.refuted
    assert (found.worst.name, found.worst.words) == ("range", STOPS)
    assert "column" in found.worst.event


@pytest.mark.parametrize(
    "law", [law for law in HONEST if not any(name in law.name for name in SLOW_NAMES)], ids=lambda law: law.name
)
def test_a_true_law_goes_as_far_as_is_stated(law: Stated) -> None:
    """Level 1e-6: 4,000 draws from each data set."""
    for dataset in (PAIR.first, PAIR.second):
        assert not audit_range(law, dataset, budget(f"{law.name} {dataset.n_records}", 4000)).refuted


@pytest.mark.parametrize("law", mixed_laws.HONEST, ids=lambda law: law.name)
def test_a_law_that_is_clamped_does_not_stop(law: Stated) -> None:
    """Level 1e-6: 2,000 draws, in which the mass of the farther ends is seldom or never drawn."""
    assert not audit_range(law, PAIR.first, budget(law.name, 2000)).refuted


def test_a_flat_density_is_none() -> None:
    """A bound that no learning draw reaches ends the reach; what decreases beyond an atom, or is 0 there, does not."""
    ends = {}
    for says in (-5.0, -np.inf, None):

        def density(o: np.ndarray, says: float | None = says) -> np.ndarray:
            x = o[:, 0]
            return -np.abs(x) if says is None else np.where(np.abs(x) < 4, -np.abs(x), says)

        drawn = np.random.default_rng(5).uniform(-3, 3, (400, 1))
        (reach,) = reaches_of(density, drawn, 100)
        ends[says] = reach.start, reach.end
    assert ends[-5.0] == pytest.approx((-4.0, 4.0), abs=1e-12)
    assert ends[-np.inf] == ends[None] == (-np.inf, np.inf)


def test_what_is_not_continuous_is_not_tried() -> None:
    for name in ("geometric", "randomised response", "exponential mechanism"):
        law = next(each for each in HONEST if each.name == name)
        found = audit_range(law, PAIR.first, budget(name, 1000))
        assert (found.refuted, found.examined) == (False, 0.0)
        assert "no column is continuous" in found.worst.words
    assert audit_range(HONEST[0], PAIR.first, budget("few", 30)).examined == 0.0


class CutOff:
    """Laplace noise on a sum, drawn again beyond six scales; the density may say so."""

    name = "cut off"

    def __init__(self, *, says: bool) -> None:
        self.says = says

    def draw(self, dataset, n_draws, *, rng):
        noise = rng.laplace(size=(2 * n_draws + 50, 1))
        return self._centre(dataset) + 2 * noise[np.abs(noise[:, 0]) <= 6][:n_draws]

    def log_density(self, outputs, dataset):
        places = np.abs(outputs[:, 0] - self._centre(dataset)) / 2
        return np.where(self.says & (places > 6), -np.inf, -places)

    def _centre(self, dataset):
        return 0.05 * dataset.n_records


@pytest.mark.parametrize("says", [False, True])
def test_an_examination_is_not_supported_by_a_law_that_is_cut_off(says: bool) -> None:
    pair = toy_pair()
    claim = PrivacyClaim(3.0, 1e-2, (pair.relation,))
    work = PairWork(CutOff(says=says), "pair", pair, claim, budget("examined", 2 * DRAWS, 1e-3))
    found = examine_pair(work)
    ranges = [witness for witness in found.witnesses if witness.about.startswith("stated range")]
    assert [witness.about for witness in ranges] == ["stated range: first data set", "stated range: second data set"]
    assert all(witness.role is CheckRole.REPORTS and not witness.refutes for witness in ranges)
    assert found.law == ("" if says else STOPS)
    assert not any(witness.refutes for witness in found.witnesses)


def test_moves_inside_the_range_do_not_see_it() -> None:
    cut = next(law for law in CUT_OFF if law.name == "Laplace, drawn again beyond 6")
    assert not audit_law(cut, PAIR.first, budget("inside")).refuted
    whole = Stated("", laplace, laplace_density)
    assert not audit_range(whole, PAIR.first, budget("whole")).refuted


@pytest.mark.slow
@pytest.mark.parametrize("law", CUT_OFF, ids=lambda law: law.name)
def test_every_law_that_is_cut_off_is_seen_in_every_seed(law: Stated) -> None:
    """Level 1e-6, 20,000 draws of one data set."""
    for seed in range(5):
        assert audit_range(law, PAIR.first, Budget(DRAWS, LEVEL, StreamKey(seed, (law.name,)))).refuted


@pytest.mark.slow
@pytest.mark.parametrize("law", HONEST, ids=lambda law: law.name)
def test_no_true_law_is_said_to_stop(law: Stated) -> None:
    """Level 1e-4 each: 20,000 draws from each data set, three seeds."""
    for seed in range(3):
        for dataset in (PAIR.first, PAIR.second):
            key = StreamKey(seed, (law.name, str(dataset.n_records)))
            assert not audit_range(law, dataset, Budget(DRAWS, 1e-4, key)).refuted
