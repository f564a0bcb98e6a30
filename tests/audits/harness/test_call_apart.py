"""Calls in a process of their own: a death is an output, and everything else is as it is without."""

from __future__ import annotations

import os
import random
import signal
from typing import Any

import numpy as np
import pytest

from audits import StreamKey
from audits.harness.call_note import AGAIN
from audits.harness.calls import NoAnswer
from audits.harness.guarded_subject import Subject
from audits.harness.output_leaves import Refusal
from mechanisms import Dataset

DATA = Dataset(np.array([[0.5], [0.25]]), np.array([0.5, -0.5]), 1.0, 1.0, public=True)


class Counts:
    """It remembers its calls, uses every generator and writes to its data; ``ends`` is called at the third call."""

    def __init__(self, ends: Any = None) -> None:
        self.calls, self.ends = 0, ends

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
        self.calls += 1
        if self.ends is not None and self.calls == 3:
            self.ends()
        if self.calls == 5:
            raise LookupError("five")
        dataset.X[0] = self.calls
        noise = [random.random(), np.random.random(), rng.random()]  # noqa: NPY002
        return iter([[self.calls, *noise, *dataset.y]] * n_draws)


def seen(mechanism: Counts) -> tuple[Any, ...]:
    """Return what the outputs of calls of ten are, and what is noted of them and of single calls on fresh objects."""
    subject = Subject(mechanism)
    refused = subject.refusal(DATA, StreamKey(2))
    outputs = subject.sample(DATA, 80, StreamKey(1).rng(), width=1 << 20)
    ledger = subject.ledger
    return [list(part) for part in outputs], refused, ledger.wrote, ledger.used_rng, ledger.used_globals


def test_what_does_not_die_is_drawn_apart_as_it_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    here = seen(Counts())
    monkeypatch.setenv(AGAIN, "1")
    apart = seen(Counts())
    assert repr(apart) == repr(here)
    assert apart[2:] == (True, True, True)
    assert "LookupError" in repr(apart[0])


@pytest.mark.parametrize(
    ("ends", "kind"), [(os.abort, f"signal {signal.SIGABRT}"), (lambda: os._exit(0), "exit 0"), (exit, "exit 0")]
)
def test_the_end_of_a_process_is_an_output_of_its_call(ends: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(AGAIN, "1")
    outputs = [output for part in seen(Counts(ends))[0] for output in part]
    refused = [output for output in outputs if isinstance(output, Refusal)]
    assert len(outputs) == 80
    assert {output.kind for output in refused} == {kind}


def test_exit_is_an_output_without_a_process_of_its_own() -> None:
    outputs = [output for part in seen(Counts(lambda: exit(3)))[0] for output in part]
    assert {output.kind for output in outputs if isinstance(output, Refusal)} >= {"exit 3"}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_that_somebody_else_may_have_ended_says_nothing(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(AGAIN, "1")
    with pytest.raises(NoAnswer, match=f"signal {number}"):
        seen(Counts(lambda: os.kill(os.getpid(), number)))
