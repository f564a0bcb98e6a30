"""An examination ends with the first pair that refutes the claim, and says what it left out."""

from dataclasses import replace
from functools import partial

import pytest
from toys.noisy_sum import NoisySum

from audits import Budget, StreamKey
from audits.black_box.claims import point_claim
from audits.estimate import Estimate
from audits.examination.examine_choose import until_refuted
from audits.examination.examine_pair import PairExamination, refutes_the_claim
from audits.examination.examined import DrawnPair
from audits.examination.examined_claim import examine
from audits.examination.witnesses import Witness, of_test
from audits.search.pairs import PublicDomain, examination_pairs
from audits.verdict import CheckRole, Decision, Ground, Stated
from mechanisms import Relation
from verify.certificates.claims.imported.claims_imported import runner
from verify.engine.work import in_order

PAIRS = examination_pairs(PublicDomain(1, 1.0, 1.0), Relation.ADD, count=6)
OWN = [replace(named, name=f"own {place}") for place, named in enumerate(PAIRS[:2])]


def found(least=10**9, **more):
    budget = Budget(2_000, 1e-4, StreamKey(3))
    return examine(NoisySum(least), PAIRS, point_claim(1.0, 0.0), budget, own=OWN, private=True, **more)


def test_an_honest_mechanism_is_examined_on_every_pair():
    honest = found()
    assert honest.ruling(attested=True).ground is Ground.EXAMINED
    assert honest.left_out == ("", "")
    assert len(honest.pairs) >= len(PAIRS) + len(OWN)


def test_the_first_pair_that_refutes_ends_it_and_what_is_left_out_is_said():
    early, whole = found(0), found(0, complete=True)
    assert early.ruling().decision is whole.ruling().decision is Decision.FAIL
    assert len(early.pairs) == 1
    assert len(whole.pairs) >= len(PAIRS) + len(OWN)
    left, n = len(whole.pairs) - 1, len(whole.pairs)
    assert early.left_out[0] == f"{left} of {n} pairs of data sets were not examined: the claim was refuted before"
    assert early.public().left_out[0].startswith(f"{left - 2} of {n - 2} ")  # of private pairs nothing is said outside
    assert early.missing
    assert early.enough is None
    assert whole.left_out == ("", "")
    assert early.pairs[0] == whole.pairs[0]


def test_a_late_leak_is_found_and_what_was_examined_before_stays():
    late = found(100)
    assert late.ruling().decision is Decision.FAIL
    assert [refutes_the_claim(pair) for pair in late.pairs] == [False] * (len(late.pairs) - 1) + [True]


@pytest.mark.parametrize("least", [0, 20])
def test_the_record_is_the_same_for_any_number_of_processes(least):
    alone, apart = (found(least, run=runner(jobs), make=partial(NoisySum, least)) for jobs in (1, 2))
    assert alone.pairs == apart.pairs
    assert alone.left_out == apart.left_out


def pair(*witnesses):
    return PairExamination("a pair", False, witnesses, DrawnPair("a pair", 100, 100))


def outcome(about, refuted):
    role, tests = (CheckRole.STATES, Stated.DENSITY) if about.startswith("stated law") else (CheckRole.REFUTES, None)
    p_value = 1e-9 if refuted else 0.5
    return of_test(about, p_value, 1e-6, 100, refuted=refuted, words="", role=role, tests=tests)


def by_law(low, whose="the claim"):
    number = Estimate(low, low, low, 1e-6, 100, "sampled")
    claimed = whose == "the claim"
    return Witness(
        "delta by the stated law",
        CheckRole.REFUTES if claimed else CheckRole.STATES,
        f"delta at epsilon 1 against {whose}",
        0.0,
        0.1,
        None,
        number,
        tests=None if claimed else Stated.WORST_CASE,
        rests_on=(Stated.DENSITY,),
    )


@pytest.mark.quick
def test_what_refutes_the_claim_and_what_refutes_a_statement():
    assert refutes_the_claim(pair(outcome("black box: the claim", True)))
    assert refutes_the_claim(pair(by_law(0.2)))
    assert refutes_the_claim(
        pair(by_law(0.2), outcome("black box: the claim", True), outcome("stated law: first data set", True))
    )
    assert not refutes_the_claim(pair(outcome("black box: the claim", False), by_law(0.05)))
    assert not refutes_the_claim(pair(by_law(0.2), outcome("stated law: first data set", True)))
    assert not refutes_the_claim(pair(by_law(0.2, "worst_profile")))
    assert not refutes_the_claim(pair(outcome("stated law: ratio of the two", True)))


def test_nothing_is_begun_after_the_end():
    begun = []
    results = in_order(
        lambda place: begun.append(place) or pair(outcome("black box: the claim", place == 2)), range(9), 1
    )
    assert len(until_refuted(results, complete=False)) == 3
    assert begun == [0, 1, 2]
