"""Commands that add, rename, duplicate and delete elements of the model.

Forces, sensors, constraints and drivers are added with the connect tool, which asks for the points each one needs (the
selection counts as the first); the new element is selected.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog

from app.commands.command import Command, Run
from app.commands.element_edits import (
    ASIDE,
    add_element,
    add_link,
    ask_chain,
    ask_joint,
    duplicate_selected,
    fix_to_ground,
    is_document_element,
    is_locked,
    new_element_holder,
    toggle_lock,
)
from app.document.connection_draft import unoccupied_assembly_pose
from app.document.connection_kinds import CONNECTIONS, ConnectionKind
from app.document.opening import MessageDisplay, mesh_filter, offer_to_trust_file, readable_patterns
from app.document.revision import ElementRef
from app.document.session import Session
from app.preferences.element_icons import joint_icon, signal_icon
from app.tools.connect import start_connection
from app.widgets.fields.field_dialogs import remove
from app.widgets.fields.text_editors import stored_path
from core.errors import KinetostatError
from core.files import assembly
from core.model import JOINT_KINDS, WORLD, Mesh, Model, new_elements
from core.model.edits import edits
from core.model.signal_elements import BLOCK_KINDS
from core.synonyms import get_synonyms

if TYPE_CHECKING:
    from app.workbench import Workbench
    from core.files import TrustedFile


GRID = 0.05
"""Positions of new bodies are multiples of this length, m."""


def add_body(bench: Workbench) -> bool:
    """Add a free body, next to the machine if there is one, where it is visible and can be dragged."""
    session = bench.session
    place = None
    if session.model.expanded.bodies:
        _, high_x, low_y, high_y, low_z, _ = bench.stage.scene.bounds()
        at = (high_x + ASIDE, 0.5 * (low_y + high_y), low_z + 0.5 * ASIDE)
        place = tuple(round(math.ceil(x / GRID - 0.01) * GRID, 6) + 0.0 for x in at)
    return add_element(session, "bodies", lambda model: edits.free_body(model, place=place))


def add_mesh(bench: Workbench) -> None:
    """Ask for a mesh file and add it as a shape of the selected body."""
    session, ref = bench.session, bench.session.selection
    if ref is None or not _is_own_body_selected(bench):
        return
    start = str(session.folder or "")
    path, _ = QFileDialog.getOpenFileName(bench.widget, "Mesh shape", start, f"{mesh_filter()};;All files (*)")
    if path:
        shape = Mesh(file=stored_path(session.model.origin, path))

        def edit(model: Model) -> Model:
            return edits.change(model, "bodies", ref.name, shapes=(*model.find("bodies", ref.name).shapes, shape))

        session.apply(f"Mesh shape of {ref.name}", edit)


def delete_selected(bench: Workbench) -> None:
    """Delete the selected element, after listing the elements that depend on it."""
    ref = bench.session.selection
    if ref is not None and is_document_element(bench.session, ref):
        remove(bench.session, ref, bench.widget)


# ------------------------------------------------------------------------------- the table


def _has_selection(bench: Workbench) -> bool:
    return is_document_element(bench.session, bench.session.selection)


def _is_body_selected(bench: Workbench) -> bool:
    ref = bench.session.selection
    return ref is not None and ref.collection == "bodies"


def _is_own_body_selected(bench: Workbench) -> bool:
    return _is_body_selected(bench) and _has_selection(bench)


def _has_body(bench: Workbench) -> bool:
    return bool(bench.session.model.expanded.bodies)


def _link_command(kind: str) -> Command:
    title = JOINT_KINDS[kind].title
    return Command(
        f"add.link_{kind}",
        f"{title} link",
        lambda w: add_link(w.session, kind),
        "Add/Link on joint",
        icon=joint_icon(kind),
        context=("bodies", "frames", "chains"),
        section="link",
        help=f"Attach a new body to the selected one (or to the ground) by a {kind} joint.",
        also=tuple(f"{word} link" for word in get_synonyms(kind)),
    )


ELEMENT_COMMANDS = (
    Command(
        "add.link",
        "Link",
        lambda w: add_link(w.session),
        "Add",
        "Ctrl+L",
        "link",
        section="body",
        toolbar="add",
        context=("scene",),
        help="Attach a new body to the selected one (or to the ground) by a revolute joint.",
        also=("bar", "member", "body", "part"),
    ),
    *(_link_command(kind) for kind in JOINT_KINDS),
    Command(
        "add.body",
        "Free body",
        add_body,
        "Add",
        icon="body",
        section="body",
        context=("scene",),
        help="Add a free body next to the machine, to be connected by a joint later.",
    ),
    Command(
        "add.joint",
        "Joint…",
        lambda w: ask_joint(w.session, w.settings, w.widget),
        "Add",
        "Ctrl+J",
        "connect",
        when=_has_body,
        section="body",
        context=("bodies", "frames"),
        help="Connect two bodies or frames in their present positions. Between bodies already connected, the "
        "joint closes a loop.",
    ),
    Command(
        "add.frame",
        "Frame",
        lambda w: add_element(
            w.session, "frames", lambda model: new_elements.add_frame(model, new_element_holder(w.session))
        ),
        "Add",
        icon="frame",
        section="body",
        context=("bodies", "frames", "chains"),
        help="Fix a new frame to the selected body or frame.",
        also=("coordinate system", "marker", "site", "TCP", "tool centre point"),
    ),
    Command(
        "add.mesh",
        "Mesh shape…",
        add_mesh,
        "Add",
        icon="shape",
        when=_is_own_body_selected,
        section="body",
        context=("bodies",),
        help="Give the selected body a shape from a file: STL, OBJ, Collada, glTF, PLY or OFF.",
        also=("CAD", "STL", "3D print"),
    ),
    Command(
        "add.chain",
        "DH chain…",
        lambda w: ask_chain(w.session, w.settings, w.widget),
        "Add",
        icon="chain",
        section="chain",
        context=("scene",),
        help="Add a serial robot by its table of Denavit–Hartenberg parameters, standard or modified.",
    ),
    Command(
        "add.parameter",
        "Parameter",
        lambda w: add_element(w.session, "parameters", new_elements.add_parameter),
        "Add",
        icon="parameter",
        section="named",
        help="Add a named number that formulas can use and a slider can move.",
        also=("variable", "slider value", "formula", "expression"),
    ),
    Command(
        "add.material",
        "Material",
        lambda w: add_element(w.session, "materials", new_elements.add_material),
        "Add",
        icon="material",
        section="named",
        help="Add a named colour for shapes.",
        also=("colour", "color", "appearance", "transparent"),
    ),
    Command(
        "element.rename",
        "Rename",
        lambda w: w.panels.rename_selected_element(),
        "Edit",
        "F2",
        "rename",
        when=_has_selection,
        section="element",
        context=("*",),
        help="Rename the selected element; everything that refers to it follows.",
    ),
    Command(
        "element.ground",
        "Ground this",
        lambda w: fix_to_ground(w.session),
        "Edit",
        "",
        "ground",
        when=_is_body_selected,
        section="element",
        context=("bodies",),
        help="Fix the selected body to the ground in its present position by a fixed joint; delete the joint "
        "to release it.",
        also=("ground", "fix", "anchor", "earth", "frame of the machine"),
    ),
    Command(
        "element.lock",
        "Lock",
        lambda w: toggle_lock(w.session),
        "Edit",
        "Shift+K",
        "lock",
        when=_is_body_selected,
        checked=lambda w: is_locked(w.session),
        section="element",
        context=("bodies",),
        help="Keep the selected body and its pins in place while you drag, draw, connect and edit; choose "
        "again to unlock it. Runs still move a locked body; Ground this fixes it in runs, too.",
        also=("lock a part", "fix a component", "unlock", "hold in place"),
    ),
    Command(
        "element.duplicate",
        "Duplicate",
        lambda w: duplicate_selected(w.session),
        "Edit",
        "Ctrl+D",
        "duplicate",
        when=_has_selection,
        section="element",
        context=("*",),
        help="Copy the selected element under a free name; a body comes with the joint that carries it.",
        also=("copy", "clone", "instance", "copy and paste"),
    ),
    Command(
        "element.delete",
        "Delete",
        delete_selected,
        "Edit",
        "Delete",
        "delete",
        when=_has_selection,
        section="element",
        context=("*",),
        help="Delete the selected element; elements that depend on it are listed first.",
        also=("remove", "erase"),
    ),
)


def _add_signal(session: Session, kind: str) -> bool:
    """Add a signal of a kind; a controller acts in the selected joint, or in all joints."""
    ref = session.selection
    joint = ref.name if ref is not None and ref.collection == "joints" else ""

    def make(model: Model) -> tuple[Model, str]:
        made = new_elements.signal(model, kind, joint)
        return edits.add(model, made), made.name

    return add_element(session, "signals", make)


def _signal_command(kind: str) -> Command:
    info = BLOCK_KINDS[kind]
    return Command(
        f"add.signal_{kind}",
        info.title,
        lambda w: _add_signal(w.session, kind),
        "Add/Controller" if info.acts else "Add/Signal",
        icon=signal_icon(kind),
        when=(lambda w: bool(w.session.model.expanded.joints)) if info.acts else None,
        context=("joints",) if info.acts else (),
        help=info.help,
        also=get_synonyms(kind),
    )


SIGNAL_COMMANDS = tuple(map(_signal_command, BLOCK_KINDS))

NEEDED_COLLECTIONS = {"joint": "joints", "sensor": "sensors"}


# ------------------------------------------------------------------------------- commands


def connection_starter(connection: ConnectionKind) -> Run:
    """Return the action that starts the Connect tool for a kind of connection; a suitable selection counts as the first
    pick."""

    return lambda bench: start_connection(bench.stage, connection)


def _availability_check(connection: ConnectionKind) -> Callable[[Workbench], bool]:
    def applies(bench: Workbench) -> bool:
        model = bench.session.model.expanded
        return bool(model.bodies) and all(
            getattr(model, NEEDED_COLLECTIONS[want]) for want in connection.wants if want in NEEDED_COLLECTIONS
        )

    return applies


_CONTEXT = {
    "point": ("bodies", "frames", "junctions"),
    "frame": ("bodies", "frames"),
    "joint": ("joints",),
    "sensor": ("sensors",),
}


def _connection_command(connection: ConnectionKind) -> Command:
    pointed = len(connection.wants) > 1 or connection.wants[0] in ("point", "frame")
    return Command(
        f"add.{connection.id}",
        f"{connection.title}…" if pointed else connection.title,
        connection_starter(connection),
        connection.menu,
        icon=connection.icon,
        when=_availability_check(connection),
        section="connect" if connection.menu == "Add" else "",
        context=_CONTEXT[connection.wants[0]],
        help=connection.help,
        also=connection.also,
    )


def ask_assembly(bench: Workbench) -> None:
    """Ask for a file and add its machine as a sub-assembly."""
    path, _ = QFileDialog.getOpenFileName(
        bench.widget,
        "Add a machine from a file",
        str(bench.session.folder or ""),
        f"Machines ({readable_patterns()});;All files (*)",
    )
    if path:
        insert_assembly(bench.session, path, bench)


def insert_assembly(session: Session, path: str, messages: MessageDisplay | None = None) -> bool:
    """Add the machine in a file as a sub-assembly of the selected body or frame, or of the ground; if the file needs to
    run code, the message card offers to trust it."""

    def retry(allowed: TrustedFile) -> None:
        session.trusted |= {allowed}
        insert_assembly(session, path, messages)

    try:
        name = edits.unused_name(session.model, "assemblies", new_elements.machine_name_from_file(path))
        place = new_element_holder(session)
        new = assembly(session.model, name, path, parent="" if place == WORLD else place, trusted=session.trusted)
        new = edits.change(
            new, "assemblies", name, pose=unoccupied_assembly_pose(session, new.find("assemblies", name))
        )
    except KinetostatError as error:
        if messages is None or not offer_to_trust_file(messages, error, retry):
            session.message.emit("error", str(error))
        return False
    return session.apply(f"Add assembly {name}", lambda _model: new, select=ElementRef("assemblies", name))


def show_gravity(bench: Workbench) -> None:
    """Show gravity in the Properties panel."""
    bench.session.select(None)
    bench.panels.focus_property_field("world")


CONNECTION_COMMANDS = (
    *(_connection_command(each) for each in CONNECTIONS.values()),
    Command(
        "add.assembly",
        "Sub-assembly…",
        ask_assembly,
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
        show_gravity,
        "Add",
        icon="gravity",
        section="assembly",
        help="Uniform gravity, attraction by a point, or none.",
        also=("weight",),
    ),
)

COMMANDS = (*ELEMENT_COMMANDS, *CONNECTION_COMMANDS, *SIGNAL_COMMANDS)
