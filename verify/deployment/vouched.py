"""On whose word the law of an imported mechanism rests."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Vouched:
    """Who vouches that an imported mechanism is as it says over all data sets, and where the proof is.

    Attributes
    ----------
    who : str
        A person or an organisation; not empty.
    proof : str
        A file relative to the configuration, a DOI or a URL; not empty.
    digest : str
        SHA-256 of the proof where it is a file.
    """

    who: str
    proof: str
    digest: str = ""

    def __post_init__(self) -> None:
        for name in ("who", "proof"):
            if not getattr(self, name).strip():
                raise ValueError(f"{name} must not be empty, got {name}=''")
