"""Writes the table of Robotica's functions into docs/robotica.md, and draws its pictures: python -m docs.make_robotica.

Function and picture come from the program itself: the table from `core.robotica.commands`, the pictures from calls.
"""

from __future__ import annotations

from pathlib import Path

from core.functions import FUNCTIONS
from core.robotica.command import Command, OptionWord
from core.robotica.commands import COMMANDS

FOLDER = Path(__file__).parent
PAGE = FOLDER / "robotica.md"
BEGIN, END = "<!-- functions: made by docs/make_robotica.py -->\n", "<!-- end of functions -->\n"

PICTURES = {
    "robotica_stanford": (
        "stanford",
        "q2 = 50 Degree; q5 = 30 Degree; ShowRobot[{{q1, 0, 120 Degree, 4}, {d3, 0.4, 0.9, 4}}]",
    ),
    "robotica_stanford_ellipsoids": (
        "stanford",
        "q2 = 50 Degree; RElp[{{q1, 0, 90 Degree, 4}, {d3, 3, 8, 4}}, {scale, frame}]",
    ),
    "robotica_two_link": (
        "two_link",
        "a1 = 3; a2 = 3; q2 = 60 Degree; RElp[{{q1, 0, 90 Degree, 3}, {a2, 3, 4, 3}}, {scale, frame}]",
    ),
    "robotica_three_link": ("three_link", "q2 = 50 Degree; RElp[{{q1, 0, 90 Degree}, {d3, 3, 8}}, {scale, frame}]"),
}
"""Picture, without its suffix: example, and the line that draws it."""
SIZE = (1000, 700)


def table() -> str:
    """All functions: the call, what it does, its options, and the catalogue's functions that do the same."""
    lines = ["| call | does | options | elsewhere |", "| --- | --- | --- | --- |"]
    lines += [
        f"| `{_cell(command.usage)}` | {_cell(command.help)} | {_words(command)} | {_elsewhere(command)} |"
        for command in COMMANDS.values()
    ]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("\n", " ").replace("|", "\\|")


def _words(command: Command) -> str:
    return "; ".join(
        f"`{_option(word)}` {_cell(word.help[:1].lower() + word.help[1:])}" for word in command.option_words
    )


def _option(word: OptionWord) -> str:
    if not word.value:
        return word.name
    sample = '"name"' if word.value == "text" else "number"
    return sample if word.bare else f"{word.name} -> {sample}"


def _elsewhere(command: Command) -> str:
    """Functions of the catalogue that name it."""
    same = [f for f in FUNCTIONS.values() if command.name in f.robotica.replace(",", " ").split()]
    return ", ".join(f"[{f.title}](functions.md#{_anchor(f.title)})" for f in same)


def _anchor(title: str) -> str:
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -")
    return kept.replace(" ", "-")


def page() -> str:
    """The page with the present table."""
    text = PAGE.read_text(encoding="utf-8")
    return text[: text.index(BEGIN) + len(BEGIN)] + "\n" + table() + "\n" + text[text.index(END) :]


def draw(folder: Path) -> None:
    """All pictures."""
    from app.panels.output.result_pictures import write_result_picture
    from core.robotica.robotica_session import Session
    from core.robotica.workspace import ScriptHost
    from resources import examples

    paths = {example.name: str(example.path) for example in examples()}
    for name, (example, line) in PICTURES.items():
        session = Session(ScriptHost(paths[example]))
        write_result_picture(session.run(line)[-1], session.context(), str(folder / f"{name}.png"), SIZE)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    draw(FOLDER / "pictures")
