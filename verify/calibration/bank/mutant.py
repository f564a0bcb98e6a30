"""What the bank holds: a claim that is false, how strongly, and the audit that is to refute it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from audits import Budget

#: Draws and failure probability of one audit of a mutant: the default budget of this bank.
DEFAULT_DRAWS, DEFAULT_FAILURE_PROB = 50_000, 1e-4

#: Grades of what can be seen when it is slight.
FINE = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2)


@dataclass(frozen=True)
class BankMutant:
    """A mutant and the audit that is to refute it.

    Attributes
    ----------
    strengths : tuple of float
        Of a mutant by degrees, rising; a mutant of one strength has ``(nan,)``.
    refute : callable
        ``refute(strength, budget)`` returns whether this one run refutes it.
    stated : float
        The strength at which the bank promises refutation; nan when it has only one, or when the grades only map out
        where an auditor stops seeing.
    auditor : str
        Who is responsible for it.
    seconds : float
        What one audit costs, roughly; it decides the order of the work and nothing else.
    """

    name: str
    strengths: tuple[float, ...]
    refute: Callable[[float, Budget], bool]
    stated: float
    n_draws: int
    unit: str = "strength"
    auditor: str = "all questions"
    seconds: float = 0.05

    @property
    def graded(self) -> bool:
        """Whether it breaks by degrees."""
        return len(self.strengths) > 1
