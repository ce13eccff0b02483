"""Icons, examples and themes that ship with the program."""

from pathlib import Path

FOLDER = Path(__file__).parent
EXAMPLES = FOLDER / "examples"
ICONS = FOLDER / "icons"
THEMES = FOLDER / "themes"
