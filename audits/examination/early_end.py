"""An examination ends with the first pair that refutes the claim, unless all of it is asked for.

Every pair has a share of the failure probability of its own, fixed before anything is drawn, so that leaving pairs out
never raises the probability of a false verdict. Pairs count in the order in which they are given, whichever of them is
done first: what is found is the same for any number of processes.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence

from .examine_pair import PairExamination, PairWork, refutes_the_claim


def until_refuted(results: Iterable[PairExamination], *, complete: bool) -> tuple[PairExamination, ...]:
    """Return results up to the first that refutes the claim, in their order; all of them if ``complete``."""
    taken: list[PairExamination] = []
    for result in results:
        taken.append(result)
        if not complete and refutes_the_claim(*taken):
            break
    if isinstance(results, Generator):
        results.close()  # ends what other processes are doing
    return tuple(taken)


def passed_over(works: Sequence[PairWork], results: Sequence[PairExamination]) -> tuple[str, str]:
    """Return how many pairs were left out since the claim was refuted: of all, and of those that are not private."""
    of_all = len(results), len(works)
    public = sum(not item.private for item in results), sum(not item.private for item in works)
    return _left_out(*of_all), _left_out(*public)


def _left_out(done: int, n: int) -> str:
    return f"{n - done} of {n} pairs of data sets were not examined: the claim was refuted before" if done < n else ""
