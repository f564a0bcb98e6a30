"""``max_seconds`` is a stop and ``max_draws`` a cap: what was decided stays, the rest is open, and both are named.

Clocks are counted here, not waited for: a draw takes a second of a clock of its own.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toys.deployments import DATA, MOMENT, QUICK, SSP, dp, imported, pdp, write_uniform

from audits import Budget, StreamKey
from audits.black_box.claims import point_claim
from audits.examination.examine_choose import LEAST, Cap
from audits.examination.examined import Demand
from audits.examination.examined_claim import Examination, examine
from audits.harness.calls import Deadline, OutOfTime
from audits.harness.guarded_subject import Subject
from audits.search.pairs import PublicDomain, examination_pairs
from audits.verdict import Decision, Ground
from mechanisms import Dataset, Relation
from reports.row import Audience
from verify.certificates.asked import Asked, exit_code
from verify.certificates.certificate import decide, read_deployment, record_rows
from verify.certificates.certify_call import certify
from verify.certificates.claims.examination import examined_row
from verify.certificates.claims.finding import Deployment
from verify.certificates.config.config import load
from verify.cli import invoke
from verify.messages.errors import UserError

PAIRS = examination_pairs(PublicDomain(1, 1.0, 1.0), Relation.ADD, count=8)
CLAIM = point_claim(1.0, 1e-2)


class Clock:
    """Seconds that somebody else counts."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Moment:
    """X^T y plus normal noise; a draw takes ``seconds`` of the clock."""

    name = "moment"

    def __init__(self, clock: Clock, sigma: float = 8.0, seconds: float = 1.0) -> None:
        self.clock, self.sigma, self.seconds, self.asked = clock, sigma, seconds, [0]

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
        self.clock.now += self.seconds * n_draws
        self.asked[0] += n_draws
        return dataset.X.T @ dataset.y + self.sigma * rng.standard_normal((n_draws, dataset.dim))

    def __deepcopy__(self, memo: Any) -> Moment:
        return self  # one clock, one count


def run(mechanism: Any, deadline: Deadline | None = None, **more: Any) -> Examination:
    given: dict[str, Any] = {"wanted": 4, "demand": Demand(1, 200)} | more
    return examine(mechanism, PAIRS, CLAIM, Budget(1_000, 1e-4, StreamKey(1)), deadline=deadline, **given)


# --- the stop ---------------------------------------------------------------------------------------------------------


def test_pairs_that_were_done_are_kept_as_they_are_and_the_rest_is_not_reached() -> None:
    whole = run(Moment(Clock()))
    clock = Clock()
    cut = run(Moment(clock), Deadline(3_200.0, clock))
    assert whole.missing == ""
    assert 1 <= len(cut.pairs) < len(whole.pairs)
    assert cut.pairs == whole.pairs[: len(cut.pairs)]  # the same draws, shares and numbers
    assert cut.missing == f"{4 - len(cut.pairs)} of 4 pairs of data sets were not reached"
    assert cut.enough is None  # though the demand of one pair was met
    assert cut.ruling().ground is Ground.NOT_TESTED


def test_a_failure_found_before_the_stop_is_a_failure() -> None:
    clock = Clock()
    cut = run(Moment(clock, sigma=0.05), Deadline(2_500.0, clock), complete=True)
    assert cut.unreached
    assert cut.ruling().decision is Decision.FAIL


@pytest.mark.parametrize("seconds", [0.0, 10.0, 100.0])
def test_a_stop_before_the_first_pair_leaves_nothing(seconds: float) -> None:
    clock = Clock()
    mechanism = Moment(clock, sigma=0.05)
    cut = run(mechanism, Deadline(seconds, clock))
    assert cut.pairs == ()
    assert cut.unreached == "no pair of data sets was reached"
    assert cut.ruling().ground is Ground.NOT_TESTED
    assert mechanism.asked[0] <= seconds + 1


def test_no_call_is_begun_that_would_end_after_the_stop() -> None:
    """A call for many draws of a slow mechanism is one call: the calls before it say how long it will take."""
    clock = Clock()
    subject = Subject(Moment(clock), deadline=Deadline(500.0, clock))
    data = PAIRS[0].pair.second
    with pytest.raises(OutOfTime):
        subject.sample(data, 4_000, np.random.default_rng(1))
    assert 0 < clock.now <= 500.0


def test_what_a_mechanism_raises_is_not_taken_for_the_stop_nor_the_stop_for_it() -> None:
    class Refusing(Moment):
        def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
            super().draw(dataset, n_draws, rng=rng)
            raise TimeoutError("no")

    clock = Clock()
    found = run(Refusing(clock), Deadline(1e9, clock))
    assert found.unreached == ""
    assert found.skipped
    clock = Clock()
    assert run(Refusing(clock), Deadline(5.0, clock)).unreached


def test_without_a_deadline_nobody_asks_a_clock() -> None:
    assert Deadline.after(None) is None
    clock = Clock()
    later = Deadline.after(3.0, clock)
    assert later is not None
    assert not later.reached()
    assert later.reached(3.0)


# --- the cap ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 30, 120, 200, 400, 700, 1_000, 2_000, 4_000])
def test_no_more_is_asked_than_the_cap_allows_and_what_is_left_out_is_named(most: int) -> None:
    mechanism = Moment(Clock())
    found = run(mechanism, max_draws=most, demand=None)
    assert mechanism.asked[0] <= most
    compared = [pair for pair in found.pairs if not pair.skipped]
    if len(compared) < 4:
        assert found.missing.startswith(f"{4 - len(compared)} of 4 pairs of data sets were left out")
        assert found.enough is None


def test_a_cap_shrinks_draws_then_pilots_then_pairs() -> None:
    plans = [Cap.of(most, 1_000, 8, 4) for most in (20_000, 5_000, 2_500, 1_200, 300, 50)]
    assert [plan.tight for plan in plans] == [False, False, True, True, True, True]
    assert plans[0].n_draws == 1_000
    assert LEAST <= plans[1].n_draws < 1_000
    assert [plan.most for plan in plans[2:]] == [4, 2, 1, 0]
    assert [bool(plan.spared) for plan in plans] == [False, False, False, True, True, True]


def test_a_leak_is_still_found_under_a_tight_cap() -> None:
    mechanism = Moment(Clock(), sigma=0.01)
    assert run(mechanism, max_draws=700).ruling().decision is Decision.FAIL
    assert mechanism.asked[0] <= 700


# --- certificates -----------------------------------------------------------------------------------------------------

MINE = imported("mine.py:make")
CODE = MOMENT.replace("class Mine:\n", 'class Mine:\n    name = "mine"\n')


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_uniform(tmp_path)
    (tmp_path / "mine.py").write_text(CODE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(work: Path, mechanism: str = SSP, more: str = "", public: str = "false") -> Path:
    path = work / "d.toml"
    path.write_text(DATA + f"public = {public}\n" + mechanism + dp(1.0) + pdp(1.0) + QUICK + more, encoding="utf-8")
    return path


def deployment_of(path: Path, deadline: Deadline | None = None) -> Deployment:
    return replace(read_deployment(load(path), jobs=1)[0], deadline=deadline)


def test_a_claim_that_was_not_begun_is_not_reached_and_the_one_before_stands(work: Path) -> None:
    clock = Clock()
    loaded = load(write(work, more="max_seconds = 60"))

    def tell(_: Any) -> None:
        clock.now += 61.0

    whole = decide(deployment_of(loaded.path))
    cut = decide(deployment_of(loaded.path, Deadline(60.0, clock)), tell=tell)
    first, second = cut.findings
    assert first.verdict == whole.findings[0].verdict
    assert first.verdict.decision is Decision.PASS
    assert second.verdict.decision is Decision.UNDECIDED
    assert second.verdict.ground is Ground.NOT_TESTED
    assert second.verdict.why == "not reached (budget.max_seconds = 60)"
    for asked in (Asked(), Asked(undecided=True), Asked(proved=True)):
        assert exit_code(cut.standings(Audience.CURATOR), asked) == 3


def test_an_examination_that_was_cut_names_the_stop(work: Path) -> None:
    path = write(work, MINE, "max_seconds = 60\npairs = 3\ndraws = 200")

    class Late(Clock):
        def __call__(self) -> float:
            self.now += 1.0  # every look at it is a second later
            return self.now

    cut = decide(deployment_of(path, Deadline(1_000.0, Late())))
    ruling = cut.findings[0].verdict
    assert ruling.ground is Ground.NOT_TESTED
    assert "pairs of data sets were not reached" in ruling.why
    assert ruling.why.endswith("(budget.max_seconds = 60)")
    rows = record_rows(cut, Audience.CURATOR, load(path))
    claims = [row for row in rows if row["kind"] == "claim"]
    assert ["budget.max_seconds = 60" in row["reason"] for row in claims] == [True, True]  # both claims say so


@pytest.mark.parametrize("mechanism", [SSP, MINE])
@pytest.mark.parametrize("more", [(), ("--allow-undecided",)])
def test_the_command_exits_with_3_whatever_is_allowed(
    mechanism: str, more: tuple[str, ...], work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(work, mechanism, "max_seconds = 1e-9")
    assert invoke(["certify", str(path), "--out", "out", *more]) == 3
    assert "UNDECIDED (not tested)" in capsys.readouterr().out
    record = (work / "out" / "curator" / "audit.jsonl").read_text(encoding="utf-8")
    claims = [row for row in map(json.loads, record.splitlines()) if row["kind"] == "claim"]
    assert [row["reason"] for row in claims] == ["not reached (budget.max_seconds = 1e-09)"] * 2
    assert invoke(["check", "out/curator"]) == 0


def test_where_nobody_answered_no_budget_is_named(work: Path) -> None:
    words = "a request for 1 draw got no answer in 60 s (mechanism.timeout)"
    found = examine(Moment(Clock()), PAIRS[:1], CLAIM, Budget(200, 1e-4, StreamKey(1)))
    deployment = deployment_of(write(work, MINE, "max_seconds = 60\nmax_draws = 5000"))
    for stopped, ends in ((words, words), ("", "(budget.max_seconds = 60)")):
        cut = replace(found, unreached=f"no pair of data sets was reached: {words}", stopped=stopped)
        assert examined_row(cut, deployment, Relation.ADD).missing.endswith(ends)


def test_a_stop_that_was_not_reached_changes_no_row(work: Path) -> None:
    plain = certify(write(work, MINE, "pairs = 2\ndraws = 100")).rows
    stopped = certify(write(work, MINE, "pairs = 2\ndraws = 100\nmax_seconds = 1e6")).rows
    assert plain[1:] == stopped[1:]


def test_a_cap_is_named_in_the_reason(work: Path) -> None:
    found = certify(write(work, MINE, "max_draws = 600")).certificate
    reason = found.findings[0].verdict.why
    assert "pairs of data sets were left out" in reason
    assert reason.endswith("(budget.max_draws = 600)")


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_stop_is_refused_where_what_is_reached_would_be_seen(
    more: tuple[str, ...], work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(work, SSP, "max_seconds = 60")
    assert invoke(["certify", str(path), "--audience", "release", "--out", "out", *more]) == 2
    err = capsys.readouterr().err
    assert "budget.max_seconds must be absent for --audience release on private data, got budget.max_seconds=60" in err
    assert not (work / "out").exists()
    with pytest.raises(UserError, match=r"budget\.max_seconds must be absent"):
        certify(path, audience="release")


def test_public_data_may_have_one(work: Path) -> None:
    found = certify(write(work, SSP, "max_seconds = 1e6", public="true"))
    assert found.decision is Decision.PASS


def test_few_draws_are_too_few_and_no_defect(work: Path) -> None:
    """Below 50 draws of a data set the black box is not asked; before, this ended with exit code 4."""
    assert invoke(["certify", str(write(work, MINE, "pairs = 1\ndraws = 30")), "--out", "few"]) == 3


@pytest.mark.slow
def test_two_processes_share_one_stop(work: Path) -> None:
    """A stop travels to workers: one far away changes no row, and one that is over leaves nothing reached."""
    more = "pairs = 2\ndraws = 100\nmax_seconds = 1e6"
    rows = [certify(write(work, MINE, more), jobs=jobs).rows for jobs in (1, 2)]
    assert rows[0] == rows[1]
    path = write(work, MINE, "pairs = 2\ndraws = 100\nmax_seconds = 1e-9")
    over = certify(path, jobs=2)
    assert set(over.words.values()) == {"UNDECIDED (not tested)"}
