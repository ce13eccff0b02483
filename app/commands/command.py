"""The declaration of a command, used for menus, toolbar, palette, keyboard page, help and tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from core.later import dataclass

if TYPE_CHECKING:
    from app.workbench import Workbench

Run = Callable[["Workbench"], object]
Applies = Callable[["Workbench"], bool]


@dataclass(frozen=True)
class Command:
    """Declaration of an action that the user can take.

    id       : stable name, "<group>.<verb>", e.g. "file.open"
    title    : as in the menu; ends in "…" if more is asked before anything happens
    run      : does it; gets the workbench (`bench.session`, `bench.files`, `bench.panels` …)
    menu     : place in the menus, e.g. "File" or "View/Show"; "" for none; "context" for the context menu only
    shortcut : key sequence as Qt writes it, e.g. "Ctrl+Shift+Z"; several separated by ", "
    icon     : name of a drawing in resources/icons
    when     : whether it applies now (greyed if not)
    help     : one or two sentences
    checked  : for switches, whether it is on
    section  : commands of a menu with different sections are parted by a line
    toolbar  : place in the toolbar ("file", "edit", "tool" …); "" if not there
    context  : collections of the elements in whose context menu it appears ("bodies", "joints" …; "*" for all,
               "scene" for the empty scene)
    also     : what others call it: the palette and the help find it by these, too
    """

    id: str
    title: str
    run: Run
    menu: str = ""
    shortcut: str = ""
    icon: str = ""
    when: Applies | None = None
    help: str = ""
    checked: Applies | None = None
    section: str = ""
    toolbar: str = ""
    context: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    def is_available(self, bench: Workbench) -> bool:
        """Return True if the command can be run now."""
        return self.when is None or self.when(bench)
