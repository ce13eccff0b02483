"""Printing to the terminal; control characters are removed from text that comes from files."""

from __future__ import annotations

import click

from core.errors import escape_control_characters


def say(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a line to standard output, or to standard error."""
    click.echo(escape_control_characters(text), err=err, nl=nl)


def say_progress(text: str, *, end: bool) -> None:
    """Overwrite the progress line on the terminal; with `end` the line is left standing."""
    click.echo(f"\r{escape_control_characters(text)}", err=True, nl=end)
