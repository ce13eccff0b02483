"""Parts connected by hand at random: whatever is pointed at, dragged, locked and undone in the window, the document is
valid, its loops are closed unless they were left apart, what is locked stays, and undoing it all leads back."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.document.session import ElementRef
from app.tools.connect import LETTERS, connection_in_progress
from core.files import dumps, loads
from core.model import Body, Box, Capsule, Cylinder, Inertia, Joint, Model, Pipe, Pose, Shape
from core.model.edits import edits
from tests.campaign.trials import Unexpected
from tests.campaign.window_trials import WindowTrials

STEPS = 8
CLOSED_GAP = 1e-10
"""m and rad"""
LOCKED_GAP = 2e-6
"""m, or of a direction"""
DRAG = 40.0
"""Pixels of a drag at most, to either side."""


class ConnectionTrials(WindowTrials):
    """Random gestures of Connect, drags and edits on a machine of a few parts."""

    def trial(self, luck: random.Random, folder: Path) -> str:
        """One sequence."""
        from tests.app.conftest import fresh

        self.luck, self.folder = luck, folder
        self._close_dialogs()
        fresh(self.bench)
        session, view = self.bench.session, self.bench.view
        session.start(machine(luck))
        view.viewpoint.look_from(luck.choice(("iso", "front", "top")))
        view.viewpoint.fit_next_picture()
        self.bench.draw()
        first, pose, done = session.model, dict(session.state.pose), list[str]()
        (folder / "machine.kst").write_text(dumps(first), encoding="utf-8")
        for _ in range(luck.randint(3, STEPS)):
            verb = luck.choice(VERBS)
            done.append(verb.__name__)
            (folder / "actions.txt").write_text("\n".join(done), encoding="utf-8")
            standing = self._locked()
            verb(self)
            self._close_dialogs()
            self._settle()
            self._look()
            self._examine()
            if verb is not ConnectionTrials.back_and_forth:
                self._stays(standing)
        while session.undo_label:
            session.undo()
        if session.model != first or dict(session.state.pose) != pose:
            raise Unexpected("Undoing it all does not lead back")
        return "connected" if any("connect" in each for each in done) else "moved"

    def _examine(self) -> None:
        """The document is read as it was written; its loops are closed, but for those that were left apart."""
        session = self.bench.session
        if loads(dumps(session.model)) != session.model:
            raise Unexpected("The document is read otherwise than it was written")
        if session.mech.constrained and not any(joint.cut == "yes" for joint in session.model.joints):
            gap = float(np.abs(session.mech.constraint_residual(session.q, p=session.p)).max(initial=0.0))
            if not gap < CLOSED_GAP:
                raise Unexpected(f"Loops are open by {gap:.3g}")

    def _locked(self) -> dict[str, np.ndarray]:
        """Where locked bodies stand."""
        session = self.bench.session
        return {name: np.array(session.mech.frame(session.q, name, p=session.p)) for name in session.locked_bodies}

    def _stays(self, standing: dict[str, np.ndarray]) -> None:
        """What was locked and still is stands where it stood."""
        for name, X in self._locked().items():
            if name in standing and not float(np.abs(X - standing[name]).max()) < LOCKED_GAP:
                raise Unexpected("A locked body was moved")

    # ----------------------------------------------------------------------------- hands

    def connect(self) -> None:
        """A joint between two points, in any order, with any outcome, or none."""
        bench, luck = self.bench, self.luck
        bench.session.select(None)
        bench.view.gestures.choose_tool("connect")
        QTest.keyClick(bench.view, luck.choice([Qt.Key[f"Key_{letter.upper()}"] for letter in LETTERS]))
        for _ in range(2):
            x, y = self._pixel()
            bench.move(x, y)
            for key in luck.choices((Qt.Key.Key_Tab, Qt.Key.Key_V, Qt.Key.Key_N, Qt.Key.Key_X), k=luck.randint(0, 2)):
                QTest.keyClick(bench.view, key)
            bench.click(x, y)
        if connection_in_progress(bench.view).missing_picks or connection_in_progress(bench.view).bar is None:
            return
        menu = connection_in_progress(bench.view).bar.menu
        offered = [action for action in menu.actions() if action.isEnabled()]
        if offered and luck.random() < 0.9:
            luck.choice(offered).trigger()
        menu.close()

    def _pixel(self) -> tuple[float, float]:
        """Where a part is seen, or anywhere."""
        bench, luck = self.bench, self.luck
        if luck.random() < 0.15:
            return luck.uniform(10, bench.view.width() - 80), luck.uniform(10, bench.view.height() - 10)
        body = luck.choice(bench.session.model.bodies)
        X = np.asarray(bench.session.mech.frame(bench.session.q, body.name))
        place = X[:3, 3] + X[:3, :3] @ [luck.uniform(-0.06, 0.06) for _ in range(3)]
        x, y = np.array(bench.view.scene.project(place)) / bench.view.devicePixelRatioF()
        return float(x), float(y)

    def drag_part(self) -> None:
        """A body or a handle is dragged."""
        bench, luck = self.bench, self.luck
        bench.view.gestures.choose_tool(luck.choice(("select", "move")))
        if luck.random() < 0.5 and bench.session.model.joints:
            bench.session.select(ElementRef("joints", luck.choice(bench.session.model.joints).name))
        x, y = self._pixel()
        goal = x + luck.uniform(-DRAG, DRAG), y + luck.uniform(-DRAG, DRAG)
        bench.drag([(x, y), ((x + goal[0]) / 2.0, (y + goal[1]) / 2.0), goal])

    def drag_length(self) -> None:
        """The end of a link is dragged."""
        bench, luck = self.bench, self.luck
        bench.view.gestures.choose_tool("select")
        bench.session.select(ElementRef("bodies", luck.choice(bench.session.model.bodies).name))
        if not bench.view.link_ends.ends:
            return
        end = luck.choice(bench.view.link_ends.ends)
        x, y = np.array(bench.view.scene.project(end.place)) / bench.view.devicePixelRatioF()
        bench.drag([(x, y), (x + luck.uniform(-DRAG, DRAG), y + luck.uniform(-DRAG, DRAG))])

    def ground_part(self) -> None:
        """A body is fixed where it stands."""
        self.bench.session.select(ElementRef("bodies", self.luck.choice(self.bench.session.model.bodies).name))
        self.bench.window.run_command("element.ground")

    def lock_part(self) -> None:
        """A body is locked, or let go."""
        self.bench.session.select(ElementRef("bodies", self.luck.choice(self.bench.session.model.bodies).name))
        self.bench.window.run_command("element.lock")

    def close_joints(self) -> None:
        """What was left apart is closed, if it can be."""
        self.bench.window.run_command("edit.close_joints")

    def delete_joint(self) -> None:
        """A joint goes."""
        session = self.bench.session
        if session.model.joints:
            name = self.luck.choice(session.model.joints).name
            session.apply("Delete", lambda model: edits.remove(model, "joints", name))

    def back_and_forth(self) -> None:
        """Undo, and redo some of it."""
        session = self.bench.session
        for _ in range(self.luck.randint(1, 3)):
            session.undo()
        for _ in range(self.luck.randint(0, 3)):
            session.redo()


TRIALS = ConnectionTrials
VERBS = (
    *(ConnectionTrials.connect,) * 5,
    *(ConnectionTrials.drag_part,) * 3,
    ConnectionTrials.drag_length,
    ConnectionTrials.ground_part,
    *(ConnectionTrials.lock_part,) * 2,
    ConnectionTrials.close_joints,
    ConnectionTrials.delete_joint,
    *(ConnectionTrials.back_and_forth,) * 2,
)


def machine(luck: random.Random) -> Model:
    """A few parts of plain shapes: some free, some on the ground, some one on the other."""
    bodies, joints = list[Body](), list[Joint]()
    for k in range(luck.randint(2, 5)):
        name = f"part{k}"
        solid = Inertia(ixx=0.01, iyy=0.01, izz=0.01)
        bodies.append(Body(name=name, mass=luck.choice((0.5, 1.0, 2.0)), inertia=solid, shapes=(_shape(luck),)))
        place = (0.35 * k, round(luck.uniform(-0.1, 0.1), 2), 0.3)
        kind = luck.choice(("free", "free", "revolute", "prismatic", "spherical"))
        if kind == "free":
            joints.append(Joint(name=f"joint{k}", kind=kind, parent="world", child=name, rest=(*place, 0, 0, 0, 1)))
        else:
            parent = luck.choice(["world", *(body.name for body in bodies[:-1])])
            at = place if parent == "world" else (0.3, 0.0, 0.05)
            axis = luck.choice(((0, -1, 0), (0, 0, 1), (1, 0, 0)))
            joints.append(Joint(name=f"joint{k}", kind=kind, parent=parent, child=name, a=Pose(position=at), axis=axis))
    return Model(name="parts", bodies=tuple(bodies), joints=tuple(joints))


def _shape(luck: random.Random) -> Shape:
    bar = Pose(position=(0.1, 0, 0), rotation=(0, "90 deg", 0))
    return luck.choice(
        (
            Box(size=(0.2, 0.1, 0.06)),
            Box(size=(0.2, 0.04, 0.04), pose=Pose(position=(0.1, 0, 0))),
            Cylinder(radius=0.04, length=0.2),
            Pipe(radius=0.08, inner_radius=0.05, length=0.06),
            Capsule(radius=0.02, length=0.2, pose=bar),
        )
    )
