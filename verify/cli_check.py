"""``pdp-verify check``: do the files of a certificate belong together?"""

from __future__ import annotations

from pathlib import Path

import click

from .errors import UserError

FILE = click.Path(path_type=Path)


@click.command()
@click.argument("folder", type=FILE)
def check(folder: Path) -> int:
    """Say whether record, PDF, configuration and attestation of FOLDER belong together (signatures are not checked)."""
    from .deployment.check_folder import check_folder, compared, is_certificate

    if not folder.is_dir():
        raise UserError(f"folder must be a folder, got folder={folder}")
    parts = [folder / name for name in ("curator", "release") if (folder / name).is_dir()]
    if not parts:
        if not is_certificate(folder):
            raise UserError(f"folder must be that of a certificate, got folder={folder}")
        parts = [folder]
    code = 0
    for part in parts:
        wrong = check_folder(part)
        code = 1 if wrong else code
        for line in wrong or [f"{compared(part)} belong together (signatures are not checked)"]:
            click.echo(f"{part.resolve().name}: {line}")
    return code
