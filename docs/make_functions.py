"""Writes docs/functions.md from the catalogue: python -m docs.make_functions."""

from __future__ import annotations

from pathlib import Path

from core.functions import FUNCTIONS, Function
from core.functions.options import Choice, Option

FOLDER = Path(__file__).parent

HEAD = """# Functions

Made from the catalogue by `make docs`. Each function is found in the function panel, as a command
(`kinetostat NAME FILE --option value`), in the console and in scripts (`ks.call("name", context, option=value)`).
"""


def page() -> str:
    """The whole reference, grouped as in the function panel."""
    lines = [HEAD]
    for group in dict.fromkeys(function.group for function in FUNCTIONS.values()):
        lines.append(f"## {group}\n")
        for function in FUNCTIONS.values():
            if function.group == group:
                lines += section(function)
    return "\n".join(lines).rstrip() + "\n"


def section(function: Function) -> list[str]:
    """One function with a table of its options."""
    lines = [f"### {function.title}", "", f"`kinetostat {function.command} FILE`", "", function.help.strip(), ""]
    if function.robotica:
        lines += [f"In Robotica: `{function.robotica}`.", ""]
    if function.options:
        lines += ["| option | default | meaning |", "| --- | --- | --- |"]
        lines += [
            f"| `--{option.id.replace('_', '-')}` | {default(option)} | {meaning(option)} |"
            for option in function.options
        ]
        lines.append("")
    return lines


def default(option: Option) -> str:
    """The default as a person would type it."""
    return "" if option.default in (None, "", (), False) else f"`{option.default}`"


def meaning(option: Option) -> str:
    """What the option is, in one cell of a table."""
    text = (option.help or option.title).replace("\n", " ").replace("|", "\\|")
    choices = ", ".join(option.choices) if isinstance(option, Choice) else ""
    return f"{text} ({choices})" if choices else text


if __name__ == "__main__":
    (FOLDER / "functions.md").write_text(page(), encoding="utf-8")
