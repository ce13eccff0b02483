"""Commands that add forces, sensors, constraints and drivers: the connect tool asks for the points each one needs (the
selection counts as the first), and the new element is selected."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog

from app.commands.command import Command, Run
from app.commands.element_edits import holder
from app.document.connection_draft import free_pose_for_assembly
from app.document.connection_kinds import CONNECTIONS, Connection
from app.document.file_filters import every_pattern
from app.document.revision import Ref
from app.document.session import Session
from app.document.trust import Messages, offer
from app.tools.connect import arm
from core.errors import KinetostatError
from core.files import assembly
from core.model import WORLD, new_elements
from core.model.edits import edits

if TYPE_CHECKING:
    from app.workbench import Workbench
    from core.files import Trusted

NEEDS = {"joint": "joints", "sensor": "sensors"}


# ------------------------------------------------------------------------------- commands


def begin(each: Connection) -> Run:
    """Return the action that starts the connect tool for a connection; a suitable selection counts as the
    first pick."""

    return lambda bench: arm(bench.stage, each)


def _applies_to(each: Connection) -> Callable[[Workbench], bool]:
    def applies(bench: Workbench) -> bool:
        model = bench.session.model.expanded
        return bool(model.bodies) and all(getattr(model, NEEDS[want]) for want in each.wants if want in NEEDS)

    return applies


_CONTEXT = {
    "point": ("bodies", "frames", "junctions"),
    "frame": ("bodies", "frames"),
    "joint": ("joints",),
    "sensor": ("sensors",),
}


def _connection_command(each: Connection) -> Command:
    pointed = len(each.wants) > 1 or each.wants[0] in ("point", "frame")
    return Command(
        f"add.{each.id}",
        f"{each.title}…" if pointed else each.title,
        begin(each),
        each.menu,
        icon=each.icon,
        when=_applies_to(each),
        section="connect" if each.menu == "Add" else "",
        context=_CONTEXT[each.wants[0]],
        help=each.help,
        also=each.also,
    )


def add_assembly(bench: Workbench) -> None:
    """Ask for the file of a sub-assembly."""
    path, _ = QFileDialog.getOpenFileName(
        bench.widget,
        "Add the machine of a file",
        str(bench.session.folder or ""),
        f"Machines ({every_pattern()});;All files (*)",
    )
    if path:
        bring(bench.session, path, bench)


def bring(session: Session, path: str, messages: Messages | None = None) -> bool:
    """Add the machine of a file as a sub-assembly to the selected body or frame, or to the ground; the message card
    offers to trust a file that wants to run code."""

    def again(allowed: Trusted) -> None:
        session.trusted |= {allowed}
        bring(session, path, messages)

    try:
        name = edits.unused_name(session.model, "assemblies", new_elements.name_of_file(path))
        place = holder(session)
        new = assembly(session.model, name, path, parent="" if place == WORLD else place, trusted=session.trusted)
        new = edits.change(new, "assemblies", name, pose=free_pose_for_assembly(session, new.find("assemblies", name)))
    except KinetostatError as error:
        if messages is None or not offer(messages, error, again):
            session.message.emit("error", str(error))
        return False
    return session.apply(f"Add assembly {name}", lambda _model: new, select=Ref("assemblies", name))


def edit_gravity(bench: Workbench) -> None:
    """Show gravity in the properties."""
    bench.session.select(None)
    bench.panels.focus_field("world")


COMMANDS = (
    *(_connection_command(each) for each in CONNECTIONS.values()),
    Command(
        "add.assembly",
        "Sub-assembly…",
        add_assembly,
        "Add",
        icon="assembly",
        section="assembly",
        context=("scene", "bodies", "frames"),
        help="Add another file (.kst, URDF, DH table …) as a part of this machine, with its own parameter values.",
        also=("subassembly", "instance", "import"),
    ),
    Command(
        "add.gravity",
        "Gravity…",
        edit_gravity,
        "Add",
        icon="gravity",
        section="assembly",
        help="Uniform gravity, attraction by a point, or none.",
        also=("weight",),
    ),
)
