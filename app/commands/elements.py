"""Commands that add, rename, duplicate and delete elements of the model."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QDockWidget, QWidget

from app.commands.command import Command
from app.connections import at_rest_here
from app.session import Ref, Session
from app.widgets.dialogs import DraftDialog, remove
from app.widgets.quantity_text import Units
from core.model import JOINT_KINDS, WORDS, WORLD, Joint, Model, Pose, edits, starters
from core.model.connections import joined

if TYPE_CHECKING:
    from app.window import Window


ASIDE = 0.1
"""How far a copied or new body stands beside what is there, in m, so that it is seen."""
GRID = 0.05
"""Places of new bodies are multiples of this, m."""


# ------------------------------------------------------------------------------- what is meant


def is_own(session: Session, ref: Ref | None) -> bool:
    """True for an element of the document itself (not one that a DH chain brings)."""
    return ref is not None and any(e.name == ref.name for e in getattr(session.model, ref.collection, ()))


def holder(session: Session) -> str:
    """The body or frame on which something new is hung: the selected one, a joint's child, a chain's tool,
    else the ground."""
    ref = session.selection
    if ref is None:
        return WORLD
    if ref.collection in ("bodies", "frames"):
        return ref.name
    if ref.collection == "joints":
        return session.model.joint(ref.name).child
    if ref.collection == "chains":
        return f"{session.model.chain(ref.name).prefix}tool"
    return WORLD


def add(session: Session, collection: str, make: Callable[[Model], tuple[Model, str]]) -> bool:
    """Add what `make` makes, as one undo step, and select it."""
    new, name = make(session.model)
    return session.apply(f"Add {WORDS[collection]} {name}", lambda _model: new, select=Ref(collection, name))


# ------------------------------------------------------------------------------- verbs


def add_body(window: Window) -> bool:
    """A free body: beside the machine if there is one, so that it is seen and can be taken."""
    session = window.session
    place = None
    if session.model.expanded.bodies:
        _, high_x, low_y, high_y, low_z, _ = window.viewport.scene.bounds()
        at = (high_x + ASIDE, 0.5 * (low_y + high_y), low_z + 0.5 * ASIDE)
        place = tuple(round(math.ceil(x / GRID - 0.01) * GRID, 6) + 0.0 for x in at)
    return add(session, "bodies", lambda model: edits.free_body(model, place=place))


def add_link(session: Session, kind: str = "revolute") -> bool:
    """Hang a new body on the selection by a joint of a kind."""
    return add(session, "bodies", lambda model: starters.attached_body(model, holder(session), kind))


def ask_joint(session: Session, settings: Units, parent_widget: QWidget, kind: str = "revolute") -> DraftDialog:
    """Ask for the two sides of a new joint; it is placed so that nothing moves."""
    model = session.model
    bodies = [body.name for body in model.expanded.bodies]
    parent = holder(session)
    child = next((name for name in reversed(bodies) if name != parent), parent)
    if parent == child:
        parent = WORLD
    draft = starters.connection(model, kind, parent, child)
    fields = ("name", "kind", "parent", "child")
    dialog = DraftDialog(session, settings, "New joint", draft, fields, _placed(session), parent_widget)
    dialog.open()
    return dialog


def _placed(session: Session) -> Callable[[Model, Joint], Model]:
    """Adds a joint with the frame a that coincides with the child's frame as the machine now stands, which becomes
    the rest position of a loop that it closes."""

    def added(model: Model, joint: Joint) -> Model:
        poses = dict(zip(session.mech.frame_names, session.mech.poses(session.q, p=session.p), strict=True))
        X_WP = poses.get(joint.parent, np.eye(4))
        X_WC = poses.get(joint.child, np.eye(4))
        X_PC = np.linalg.inv(X_WP) @ X_WC
        new = joined(model, dataclasses.replace(joint, a=posed(X_PC)))
        return at_rest_here(session, new, joint.name)

    return added


def posed(X_PC: np.ndarray) -> Pose:
    """The pose of a 4×4 matrix, as angles about the fixed axes, without the noise of computing."""
    R = X_PC[:3, :3]
    pitch = float(np.arcsin(np.clip(-R[2, 0], -1.0, 1.0)))
    if abs(R[2, 0]) < 1.0 - 1e-12:
        angles = (float(np.arctan2(R[2, 1], R[2, 2])), pitch, float(np.arctan2(R[1, 0], R[0, 0])))
    else:
        angles = (float(np.arctan2(-R[1, 2], R[1, 1])), pitch, 0.0)
    x, y, z = (round(float(x), 12) + 0.0 for x in X_PC[:3, 3])
    return Pose(position=(x, y, z), rotation=tuple(round(x, 12) + 0.0 for x in angles))


def ask_chain(session: Session, settings: Units, parent_widget: QWidget) -> DraftDialog:
    """Ask for the rows of a new DH chain."""
    parent = holder(session)
    draft = starters.chain(session.model, parent="" if parent == WORLD else parent)
    fields = ("name", "convention", "rows", "parent", "prefix")
    dialog = DraftDialog(session, settings, "New DH chain", draft, fields, parent=parent_widget)
    dialog.open()
    return dialog


def duplicate(session: Session) -> bool:
    """Copy the selected element under a free name. A copied joint would close a loop between the same two bodies:
    a body is copied with the joint that carries it."""
    ref = session.selection
    if ref is None or not is_own(session, ref):
        return False

    return add(session, ref.collection, lambda model: copied(model, ref))


def copied(model: Model, ref: Ref) -> tuple[Model, str]:
    """The model with a copy of an element; a body comes with the joint that carries it, set a little aside."""
    new, name = edits.duplicate(model, *ref)
    if ref.collection != "bodies":
        return new, name
    carrier = next((joint for joint in model.joints if joint.child == ref.name), None)
    if carrier is not None:
        joint = edits.unused_name(new, "joints", carrier.name)
        x, y, z = carrier.a.position
        y = f"{y} + {ASIDE}" if isinstance(y, str) else y + ASIDE
        pose = dataclasses.replace(carrier.a, position=(x, y, z))
        new = edits.add(new, dataclasses.replace(carrier, name=joint, child=name, mimic=None, a=pose))
    return new, name


def delete(window: Window) -> None:
    """Delete the selected element; what depends on it is shown first."""
    ref = window.session.selection
    if ref is not None and is_own(window.session, ref):
        remove(window.session, ref, window)


def rename(window: Window) -> None:
    """Rename the selected element where it stands in the model tree."""
    from app.panels.tree import ModelTree

    tree = window.findChild(ModelTree)
    if tree is not None:
        for dock in window.findChildren(QDockWidget):
            if dock.isAncestorOf(tree):
                dock.show()
                dock.raise_()
        tree.rename_selected()


# ------------------------------------------------------------------------------- the table


def _selected(window: Window) -> bool:
    return is_own(window.session, window.session.selection)


def _has_body(window: Window) -> bool:
    return bool(window.session.model.expanded.bodies)


def _link(kind: str) -> Command:
    title = JOINT_KINDS[kind].title
    return Command(
        f"add.link_{kind}",
        f"{title} link",
        lambda w: add_link(w.session, kind),
        "Add/Link on joint",
        icon=kind,
        context=("bodies", "frames", "chains"),
        section="link",
        help=f"Hang a new body on the selected one (or on the ground) by a {kind} joint.",
    )


COMMANDS = (
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
        help="Hang a new body on the selected one (or on the ground) by a revolute joint.",
    ),
    *(_link(kind) for kind in JOINT_KINDS),
    Command(
        "add.body",
        "Free body",
        add_body,
        "Add",
        icon="body",
        section="body",
        context=("scene",),
        help="Add a body that floats freely, beside the machine; a joint that is given to it then holds it.",
    ),
    Command(
        "add.joint",
        "Joint…",
        lambda w: ask_joint(w.session, w.settings, w),
        "Add",
        "Ctrl+J",
        "connect",
        when=_has_body,
        section="body",
        context=("bodies", "frames"),
        help="Connect two bodies or frames as they stand now. Between bodies already connected it closes a loop.",
    ),
    Command(
        "add.frame",
        "Frame",
        lambda w: add(w.session, "frames", lambda model: starters.frame_on(model, holder(w.session))),
        "Add",
        icon="frame",
        section="body",
        context=("bodies", "frames", "chains"),
        help="Fix a new frame to the selected body or frame.",
    ),
    Command(
        "add.chain",
        "DH chain…",
        lambda w: ask_chain(w.session, w.settings, w),
        "Add",
        icon="chain",
        section="chain",
        context=("scene",),
        help="Add a serial robot by its table of Denavit–Hartenberg parameters, standard or modified.",
    ),
    Command(
        "add.parameter",
        "Parameter",
        lambda w: add(w.session, "parameters", starters.parameter),
        "Add",
        icon="parameter",
        section="named",
        help="Add a named number that formulas can use and a slider can move.",
    ),
    Command(
        "add.material",
        "Material",
        lambda w: add(w.session, "materials", starters.material),
        "Add",
        icon="material",
        section="named",
        help="Add a named colour for shapes.",
    ),
    Command(
        "element.rename",
        "Rename",
        rename,
        "Edit",
        "F2",
        "rename",
        when=_selected,
        section="element",
        context=("*",),
        help="Rename the selected element; everything that refers to it follows.",
    ),
    Command(
        "element.duplicate",
        "Duplicate",
        lambda w: duplicate(w.session),
        "Edit",
        "Ctrl+D",
        "duplicate",
        when=_selected,
        section="element",
        context=("*",),
        help="Copy the selected element under a free name; a body comes with the joint that carries it.",
    ),
    Command(
        "element.delete",
        "Delete",
        delete,
        "Edit",
        "Delete",
        "delete",
        when=_selected,
        section="element",
        context=("*",),
        help="Delete the selected element; what depends on it is shown before it goes.",
    ),
)
