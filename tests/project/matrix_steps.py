"""Parts of a trial of the installed program that need Python: `python matrix_steps.py imports|window FILE`.

`tests.project.matrix` calls this with the Python of each environment, in an empty folder.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import time

PATIENCE = 120.0
"""Seconds within which the window shows its first picture."""
OPTIONAL = ("control", "distributed", "xacro", "xacrodoc")
"""What only the optional dependencies bring."""
SLIP = 0.6
"""rad by which a ring is dragged."""


def imports() -> None:
    """Every module of the package."""
    import kinetostat

    names = [each.name for each in pkgutil.walk_packages(kinetostat.__path__, "kinetostat.")]
    for name in names:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name not in OPTIONAL:
                raise
    if len(names) < 500:
        raise SystemExit(f"only {len(names)} modules are installed")


def window(file: str) -> None:
    """The window on a file: its first picture, one drag of a joint's handle, and a clean end."""
    from PySide6.QtCore import QTimer

    from kinetostat.app.window import start

    begin_services = start.start_deferred_services
    seen: list[str] = []

    def begun(shown) -> None:
        begin_services(shown)
        seen.append("first picture")
        QTimer.singleShot(0, lambda: _guarded(lambda: _drag(shown, seen)))

    start.start_deferred_services = begun
    began = time.monotonic()
    code = start.run_program(file, ["kinetostat"])
    if seen != ["first picture", "drag", "closed"] or code != 0 or time.monotonic() - began > PATIENCE:
        raise SystemExit(f"the window ended with {code} after {', '.join(seen) or 'no picture'}")


def _guarded(work) -> None:
    """What goes wrong in a slot of Qt's would only be printed."""
    import os
    import traceback

    try:
        work()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


def _drag(shown, seen: list[str]) -> None:
    import numpy as np
    from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
    from PySide6.QtGui import QMouseEvent
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication

    from kinetostat.app.document.session import ElementRef

    view, session = shown.viewport, shown.session
    joint = next(joint for joint in session.model.expanded.joints if joint.kind in ("revolute", "continuous"))
    session.select(ElementRef("joints", joint.name))
    points = _until(lambda: _way(view, joint.name))
    before = session.q.copy()
    spots = [QPoint(round(x), round(y)) for x, y in points]

    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    keys = Qt.KeyboardModifier.NoModifier

    def move(spot, held) -> None:
        places = QPointF(spot), QPointF(view.mapToGlobal(spot))
        QApplication.sendEvent(view, QMouseEvent(QEvent.Type.MouseMove, *places, none, held, keys))
        QTest.qWait(30)

    move(spots[0], none)
    QTest.mousePress(view, left, keys, spots[0])
    for spot in spots[1:]:
        move(spot, left)
    QTest.mouseRelease(view, left, keys, spots[-1])
    QTest.qWait(100)
    turned = np.abs(session.q - before).max()
    if not 0.3 * SLIP < turned < 3.0 * SLIP:
        raise SystemExit(f"a drag of the handle of {joint.name} turned it by {turned:g} rad instead of {SLIP:g}")
    seen.append("drag")
    session.undo()
    QTest.qWait(100)
    shown.close()
    seen.append("closed")


def _until(found):
    from PySide6.QtTest import QTest

    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if (result := found()) is not None:
            return result
        QTest.qWait(100)
    raise SystemExit("no place was found where the handle of a joint can be grabbed")


def _way(view, joint: str):
    """Pixels along the ring of a joint's handle, from a place where just this handle is grabbed."""
    import numpy as np
    from PySide6.QtCore import QPointF

    handles = view.scene.handles
    for part in handles.visible_parts:
        if part.joint != joint or part.kind != "turn":
            continue
        grip = handles.create_grip(part)
        u = np.cross(grip.axis, [0.3, -0.4, 0.87])
        u /= np.linalg.norm(u)
        v = np.cross(grip.axis, u)
        for begin in np.linspace(0.0, 2.0 * np.pi, 48, endpoint=False):
            angles = begin + SLIP * np.linspace(0.0, 1.0, 6)
            ring = [grip.centre + grip.radius * (np.cos(a) * u + np.sin(a) * v) for a in angles]
            points = [np.array(view.scene.project(point)) / view.devicePixelRatioF() for point in ring]
            pointer = view.to_pointer(QPointF(*np.round(points[0])))
            if view.handles.handle_under(pointer) == part:
                return points
    return None


if __name__ == "__main__":
    {"imports": imports, "window": window}[sys.argv[1]](*sys.argv[2:])
