"""kinetostat examples: list or copy the example models that come with the program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from app.cli.terminal import say


@click.command("examples")
@click.argument("name", required=False)
@click.option("-o", "--output", type=click.Path(), help="Folder or file to copy the example to (default: here).")
@click.option("--json", "as_json", is_flag=True, help="The list as JSON.")
def command(name: str | None, output: str | None, as_json: bool) -> None:
    """List the example models, or copy the one called NAME (with its meshes) to work on."""
    if name is None:
        _list_examples(as_json)
    else:
        _copy_example(name, output)


def _list_examples(as_json: bool) -> None:
    from resources import examples

    if as_json:
        import json

        rows = [{"name": e.name, "title": e.title, "about": e.about, "path": str(e.path)} for e in examples()]
        say(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    for example in examples():
        say(f"{example.name:14} {example.title}: {example.about}")
        say(f"{'':14} {example.path}")


def _required_files(source: Path) -> Iterator[Path]:
    """Yield the files of sub-assemblies and recorded signals that an example needs."""
    from core.files import load

    model = load(str(source))
    yield from (source.parent / driver.file for driver in model.drivers if driver.file)
    for assembly in model.assemblies:
        yield source.parent / assembly.file
        yield from _required_files(source.parent / assembly.file)


def _extra_files(name: str, source: Path) -> Iterator[Path]:
    """Yield all files that belong to an example, except the model's own file."""
    from resources import examples

    yield from _required_files(source)
    example = next(each for each in examples() if each.name == name)
    yield from (*example.torques, *example.traces)


def _copy_example(name: str, output: str | None) -> None:
    import shutil

    from core.errors import FileError, find_likely_names
    from resources import EXAMPLES, examples

    found = {example.name: example.path for example in examples()}
    if name not in found:
        close = ", ".join(find_likely_names(name, found) or found)
        raise click.UsageError(f"There is no example '{name}'. There are: {close}.")
    source = found[name]
    whole = source.parent != EXAMPLES
    target = Path(output or ".")
    if target.is_dir():
        target = target / (source.parent.name if whole else source.name)
    if target.exists():
        raise FileError("The target exists already.", file=str(target), remedy="Name another place with -o.")
    try:
        if whole:
            shutil.copytree(source.parent, target)
        else:
            shutil.copyfile(source, target)
            for part in _extra_files(name, source):
                place = target.parent / part.relative_to(source.parent)
                place.parent.mkdir(parents=True, exist_ok=True)
                if not place.exists():
                    shutil.copyfile(part, place)
    except OSError as error:
        raise FileError(f"The example cannot be copied: {error.strerror}.", file=str(target)) from None
    say(f"Wrote {target / source.name if whole else target}")
