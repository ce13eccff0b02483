"""What the command line says: text of files has no commands for the terminal in it."""

from __future__ import annotations

import click

from core.visible_text import visible


def say(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print to standard output, or to standard error."""
    click.echo(visible(text), err=err, nl=nl)


def say_progress(text: str, *, end: bool) -> None:
    """Write over the line of progress on the terminal; the last one stays."""
    click.echo(f"\r{visible(text)}", err=True, nl=end)
