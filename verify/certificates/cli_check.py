"""``pdp-verify check``: do the files of a certificate belong together?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..messages.errors import UserError

if TYPE_CHECKING:
    from .folder.check_folder import Checked

FILE = click.Path(path_type=Path)
COMPARED = "every file is the one that was attested, and what the record makes was made again: they belong together"
BUT_PAGES = "every file is the one that was attested, and what the record makes, PDF and HTML aside, was made again"


@click.command()
@click.argument("folder", type=FILE)
@click.option("--artefact", type=FILE, help="The file that was shipped: is it the one that was attested?")
def check(folder: Path, artefact: Path | None) -> int:
    """Say whether the files of FOLDER belong together: each is compared (signatures are not).

    Exits with 0 when they do, 1 when one does not, 3 when that cannot be decided here.
    """
    from .folder.artefact import digest_of
    from .folder.certificate_files import PARTS, kind_of
    from .folder.check_folder import check_folder, compare_parts, is_certificate, misplaced

    if not folder.is_dir():
        raise UserError(f"folder must be a folder, got folder={folder}")
    digest = None if artefact is None else digest_of(artefact, "--artefact", str(artefact))
    parts = [folder / name for name in PARTS if kind_of(folder / name) != "nothing"]
    if not parts:
        if not is_certificate(folder):
            raise UserError(f"folder must be that of a certificate, got folder={folder}")
        parts = [folder]
    checked = {}
    for part in parts:
        if part is not folder and kind_of(part) != "folder":
            click.echo(f"{part.name}: it is no folder")
            return 1
        checked[part] = check_folder(part)
        checked[part].wrong += misplaced(part.resolve(), checked[part])
    if len(parts) == len(PARTS) and not any(each.wrong for each in checked.values()):
        checked[parts[-1]].wrong += compare_parts(*(checked[part] for part in parts))
    for part, found in checked.items():
        if artefact is not None and digest is not None and not found.wrong:
            _compare_artefact(found, artefact, digest)
        _say(part.resolve().name, found)
    return 1 if any(each.wrong for each in checked.values()) else 3 if any(e.undecided for e in checked.values()) else 0


def _compare_artefact(found: Checked, artefact: Path, digest: str) -> None:
    """Hold a file against the digest that a folder attests."""
    from .folder.certificate_files import shown
    from .folder.check_folder import artefact_of_folder

    attested = artefact_of_folder(found.rows)
    if attested is None:
        found.wrong.append(f"no artefact was attested, {shown(artefact)} is not known here")
    elif attested[1] != digest:
        found.wrong.append(f"{shown(artefact)} is not the artefact that was attested ({shown(attested[0])})")
    else:
        found.notes.append(f"{shown(artefact)} is the artefact that was attested; it was named, not examined")


def _say(name: str, found: Checked) -> None:
    """Print what was found in a folder."""
    for line in found.wrong:
        click.echo(f"{name}: {line}")
    if found.wrong:
        return
    for line in found.undecided:
        click.echo(f"{name}: {line}")
    if not found.undecided:
        click.echo(f"{name}: {COMPARED if found.pages_made_again else BUT_PAGES}")
    for line in found.notes:
        click.echo(f"{name}: {line}")
    if found.signatures:
        click.echo(f"{name}: {', '.join(found.signatures)} lies beside the attestation; signatures are not checked")
    else:
        click.echo(f"{name}: not signed: whoever rewrites the files and their digests is not noticed")
