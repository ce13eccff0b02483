"""kinetostat render FILE -o out.png: draw a picture of a model."""

from __future__ import annotations

from typing import Any

import click

from app.cli.machine import FILE, build_context, pose_options, read, reading_options
from app.cli.terminal import say
from core.functions.subjects.sequences import VIEWS


class SizeType(click.ParamType):
    """Click type of a size in pixels, as WIDTHxHEIGHT."""

    name = "WxH"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Return (width, height) in pixels."""
        if isinstance(value, tuple):
            return value
        width, _, height = str(value).lower().partition("x")
        if not (width.isdigit() and height.isdigit() and 16 <= int(width) <= 8192 and 16 <= int(height) <= 8192):
            self.fail(f"'{value}' is not a size such as 1200x800 (16 … 8192 pixels).", param, ctx)
        return int(width), int(height)


@click.command("render")
@FILE
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="PNG file to write.")
@click.option("--size", type=SizeType(), default="1200x800", show_default=True, help="Pixels.")
@click.option(
    "--view", type=click.Choice(VIEWS), default="iso", show_default=True, help="Direction from which the camera looks."
)
@click.option("--look", type=click.Choice(["light", "dark"]), default="light", show_default=True, help="Colours.")
@click.option("--transparent", is_flag=True, help="Transparent background.")
@pose_options
@reading_options
def command(
    model_file: str,
    output: str,
    size: tuple[int, int],
    view: str,
    look: str,
    transparent: bool,
    sets: tuple[str, ...],
    pose: tuple[str, ...],
    **reading: Any,
) -> None:
    """Draw a model to a PNG file of any size, without a window."""
    from app.panels.output.result_pictures import write_picture
    from core.functions import call

    result = read(model_file, **reading)
    for finding in result.findings:
        if finding.severity != "hint":
            say(str(finding), err=True)
    machine = build_context(result.model, sets, pose)
    if not output.lower().endswith(".png"):
        raise click.UsageError(f"-o: '{output}' does not end in .png.")
    picture: Any = call(
        "picture", machine, file=output, width=size[0], height=size[1], view=view, look=look, transparent=transparent
    )
    write_picture(picture, machine)
    say(f"Wrote {output}")
