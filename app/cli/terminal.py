"""Print to the terminal, with control characters removed from text that comes from files."""

from __future__ import annotations

import click

from core.errors import visible


def say(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a line to standard output, or to standard error."""
    click.echo(visible(text), err=err, nl=nl)


def say_progress(text: str, *, end: bool) -> None:
    """Overwrite the progress line on the terminal; the last one remains."""
    click.echo(f"\r{visible(text)}", err=True, nl=end)
