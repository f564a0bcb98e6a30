"""Where a reader can look further: a paper's page, the project's own addresses as its metadata state them."""

from __future__ import annotations

from importlib import metadata


def project_address(*labels: str) -> str:
    """Return the address that the project's metadata give under one of these labels, or nothing.

    Parameters
    ----------
    labels : str
        As in ``[project.urls]``, in any case: "issues", "tracker".
    """
    wanted = {label.lower() for label in labels}
    for entry in metadata.metadata("pdp-verify").get_all("Project-URL") or ():
        label, _, address = str(entry).partition(",")
        if label.strip().lower() in wanted:
            return address.strip()
    return ""


def tracker() -> str:
    """Return the address of the project's issues, or nothing where its metadata state none."""
    return project_address("issues", "issue tracker", "tracker", "bug tracker")


def paper_address(doi: str) -> str:
    """Return the address of a paper, or nothing without an identifier."""
    return f"https://doi.org/{doi}" if doi else ""
