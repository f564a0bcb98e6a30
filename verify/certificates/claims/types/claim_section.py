"""What every type of claim says about itself: its numbers, whom it speaks about, and how it is decided."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from reports.numbers import format_number

from ...config.config_section import ConfigSection

if TYPE_CHECKING:
    from collections.abc import Callable, Set

    from ..finding import Deployment, Finding
    from ..odds import Odds

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]{0,60}$")]
Epsilon = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Delta = Annotated[float, Field(ge=0, lt=1)]
Probability = Annotated[float, Field(ge=1e-100, le=1 - 1e-9)]  # a share of it, and what it leaves, are numbers too


def said(*values: float) -> str:
    """Return numbers as a claim says them, six digits and a bare exponent each; several of them are a point.

    Examples
    --------
    >>> said(1e-6), said(1.0, 1e-6)
    ('1e-6', '(1, 1e-6)')
    """
    words = ", ".join(format_number(value, 6) for value in values)
    return words if len(values) == 1 else f"({words})"


class ClaimSection(ConfigSection):
    """A claim of a configuration, by default over all data sets in the public domain.

    A type of claim is one class in a file of this folder, listed in its ``__init__``.

    Attributes
    ----------
    everywhere : bool
        Whether it speaks about all data sets in the public domain (then it may be published), or about the records.
    promise : str
        To whom a claim that passed may be told, and what it means to them.
    draft : str
        Its lines in the draft of a configuration; ``{epsilon}`` and ``{delta}`` are filled in.
    needs : tuple of str
        Sections of the configuration that must be given beside it.
    simulated : bool
        Whether a simulation alone may support it (how good an output is; never how private).
    audits_pairs, looks_at_records : bool
        Whether pairs of an imported mechanism are examined for it, and whether every record's loss is computed (for
        the estimate of ``--dry-run``).
    """

    everywhere: ClassVar[bool] = True
    promise: ClassVar[str]
    draft: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    simulated: ClassVar[bool] = False
    audits_pairs: ClassVar[bool] = False
    looks_at_records: ClassVar[bool] = False

    type: str
    name: Name | None = None

    @property
    def kind(self) -> str:
        """What the claim is called when the configuration gives it no name."""
        return self.type

    @property
    def odds(self) -> Odds | None:
        """What it means to somebody who guesses; None for a claim that is not about privacy."""
        return None

    @property
    def is_public(self) -> bool:
        """Whether anybody may know that the claim was made, and its numbers (not: its verdict)."""
        return True

    def draws(self, thin: Callable[[int], int], attack: int, check: int) -> int:
        """Return about how many draws it takes from the data themselves.

        Parameters
        ----------
        thin : callable
            How many of so many draws are made where there are very many records.
        attack, check : int
            Draws of an attack, and of a sampled check.
        """
        return 0

    def refusals(self, absent: Set[str]) -> list[str]:
        """Return ``key|rule|value`` for each section that it needs and that is absent."""
        return [
            f"{name}|given where a claim of type {self.type} is made|nothing" for name in self.needs if name in absent
        ]

    @abstractmethod
    def finding(self, deployment: Deployment) -> Finding:
        """Return what is known about the claim."""


class RecordsClaim(ClaimSection):
    """A claim about the records: on private data its verdict stays with the curator."""

    everywhere: ClassVar[bool] = False

    public: bool = Field(
        default=False, description="The claim's name and numbers are public knowledge and may be published."
    )

    @property
    def is_public(self) -> bool:
        """Whether the configuration declares it public."""
        return self.public
