"""Degrees of freedom of a linkage now and after the next click, computed in the background, the newest request
first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal

from core.design.linkage import Drawing, Plane
from core.design.linkage.linkage_types import FourBar, SliderCrank, classify_linkage
from core.errors import KinetostatError
from core.mechanism import Mechanism
from core.model import Model

LOOK_EVERY = 15
"""Milliseconds between two checks of the thread."""
MOST = 60
"""Largest number of cached results."""


class LinkageMobility(NamedTuple):
    """Mobility of a linkage. degrees : degrees of freedom, None if the loops do not close; type : type of a four-bar or
    slider-crank"""

    degrees: int | None
    planar: int = 0
    """Number of redundant constraints that every planar loop has."""
    others: tuple[str, ...] = ()
    """Further redundant constraints, in words."""
    type: FourBar | SliderCrank | None = None


def compute_linkage_mobility(model: Model, plane: Plane) -> LinkageMobility:
    """Compute the degrees of freedom of a model from the rank of its constraint Jacobian."""
    try:
        mech = Mechanism(model)
        found = mech.mobility()
        drawing = Drawing(model, plane, dict(zip(mech.frame_names, mech.poses(found.q), strict=True)))
        normal = drawing.X_WD[:3, 2]
    except KinetostatError:
        return LinkageMobility(None)
    others, planar = [], 0
    for each in found.redundant:
        along = abs(sum(a * b for a, b in zip(each.direction, normal, strict=True)))
        out_of_plane = along > 0.999 if each.motion == "translation" else along < 1e-3 and each.motion == "rotation"
        planar += out_of_plane
        others += [] if out_of_plane else [each.text]
    return LinkageMobility(found.dof, planar, tuple(others), classify_linkage(drawing))


def precompile_machine(model: Model) -> None:
    """Compile the code needed to show a machine; machines that differ only in numbers share it."""
    mech = Mechanism(model)
    q = mech.rest()
    mech.poses(q)
    if mech.constrained:
        mech.compiled.evaluator("constraint_residual")
        mech.compiled.evaluator("constraint_jacobian")


class MobilityExaminer(QObject):
    """Computes mobilities in the background, cached by key; emits `ready` when a new result is available."""

    ready = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._known: dict[Hashable, LinkageMobility] = {}
        self._waiting: tuple[Hashable, Callable[[], LinkageMobility]] | None = None
        self._running: tuple[Hashable, list[LinkageMobility | BaseException]] | None = None
        self._look = QTimer(self, interval=LOOK_EVERY)
        self._look.timeout.connect(self._check_thread)

    def close(self) -> None:
        """Stop computing."""
        self._waiting = None
        self._look.stop()

    def request_mobility(self, key: Hashable, compute: Callable[[], LinkageMobility]) -> LinkageMobility | None:
        """Return the mobility for a key; None while it is being computed."""
        if key not in self._known and (self._running is None or self._running[0] != key):
            self._waiting = key, compute
            self._start_next_computation()
        return self._known.get(key)

    def _start_next_computation(self) -> None:
        if self._running is not None or self._waiting is None:
            return
        key, question = self._waiting
        self._waiting, left = None, list[LinkageMobility | BaseException]()
        self._running = key, left
        threading.Thread(
            target=lambda: left.append(_compute_or_unknown(question)), name="freedoms", daemon=True
        ).start()
        self._look.start()

    def _check_thread(self) -> None:
        if self._running is None or not self._running[1]:
            return
        key, left = self._running
        self._running, found = None, left[0]
        self._known[key] = LinkageMobility(None) if isinstance(found, BaseException) else found
        while len(self._known) > MOST:
            del self._known[next(iter(self._known))]
        self._look.stop()
        self._start_next_computation()
        self.ready.emit()
        if isinstance(found, BaseException):
            raise found


def _compute_or_unknown(compute: Callable[[], LinkageMobility]) -> LinkageMobility | BaseException:
    """Return the mobility, or an unexpected error, to be raised in the window's thread, where it is reported."""
    try:
        return compute()
    except KinetostatError:
        return LinkageMobility(None)
    except BaseException as error:
        return error
