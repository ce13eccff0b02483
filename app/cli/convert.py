"""kinetostat convert IN OUT: write a model in another format."""

from __future__ import annotations

from typing import Any

import click

from app.cli.machine import read, reading_options
from app.cli.terminal import say


@click.command("convert")
@click.argument("source", type=click.Path(dir_okay=False))
@click.argument("target", type=click.Path(dir_okay=False))
@click.option("--force", is_flag=True, help="Replace TARGET if it exists.")
@reading_options
def command(source: str, target: str, force: bool, **reading: Any) -> None:
    """Write a model in another format, given by the suffix of TARGET.

    What the format of TARGET cannot hold is told.
    """
    from pathlib import Path

    from core.errors import FileError
    from core.files import save

    result = read(source, **reading)
    if Path(target).exists() and not force:
        raise FileError("The file exists.", file=target, remedy="Use --force to replace it.")
    for finding in (*result.findings, *(save(result.model, target) or ())):
        say(str(finding), err=True)
    say(f"Wrote {target}")
