"""Control laws that are Python functions: called at samples, checked, and stopped when they never return."""

from __future__ import annotations

import ctypes
import inspect
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError, SimulationError, join_words, suggest_names
from core.mechanism import Mechanism
from core.model.edits.edits import unused_name
from core.model.signal_elements import ControlledJoint, Signal
from core.model.signals import component_name

Array = NDArray[np.float64]
Law = Callable[..., Any]
"""law(t, y, state) → forces; see `MeasuredState` for y. `state` is a dict that lasts for one run."""

LONGEST_CALL = 10.0
"""s: time after which a call of a law is stopped."""
DEFAULT_PERIOD = 1e-3


class LawStopped(BaseException):
    """Raised in a law that does not return."""


class MeasuredState:
    """State of a machine as a law sees it: q (nq,), v (nv,); `sensor[name]`, `signal[name]`, `reference` by need."""

    def __init__(self, mech: Mechanism, p: Array, t: float, q: Array, v: Array, x: Array, signal: Signal) -> None:
        self.t, self.q, self.v = t, q, v
        self._mech, self._p, self._x, self._signal = mech, p, x, signal
        self.sensor, self.signal = _Named(self._sensor_value), _Named(self._signal_value)

    def _sensor_value(self, name: str) -> Any:
        values = np.asarray(self._mech.sensor(self.q, self.v, name, p=self._p)[0])
        return float(values) if values.ndim == 0 else values

    def _signal_value(self, name: str) -> float:
        names = list(self._mech.compiled.elements.signal_values)
        if name not in names:
            raise KeyError(f"There is no signal '{name}'. {suggest_names(name, names)}")
        values = self._mech.compiled.call("signal_values", self.q, self.v, p=self._p, t=self.t, x=self._x)
        return float(values[names.index(name)])

    @property
    def reference(self) -> Array:
        """Return the references (n,) of the controlled joints."""
        return np.array(
            [self._signal_value(f"{self._signal.name}.{row.component}.reference") for row in self._signal.joints]
        )


class _Named:
    """Values by name, computed when asked for."""

    def __init__(self, find: Callable[[str], Any]) -> None:
        self._find = find

    def __getitem__(self, name: str) -> Any:
        return self._find(name)


class PythonLaw:
    """A function with the controller that it is for. Calls of all laws of a run are watched by one thread."""

    def __init__(self, law: Law, mech: Mechanism, p: Array, signal: Signal) -> None:
        self.law, self.mech, self.p, self.signal = law, mech, p, signal
        self.components = [row.component for row in signal.joints]
        self.state: dict[str, Any] = {}
        """Values that the law keeps from call to call."""
        try:
            inspect.signature(law).bind(0.0, None, {})
        except TypeError:
            raise SimulationError(
                "The function does not take three arguments.",
                where=f"controllers, '{signal.name}'",
                remedy="Declare it as law(t, y, state).",
            ) from None
        except ValueError:  # a built-in function without a signature
            pass

    def call(self, t: float, q: Array, v: Array, x: Array) -> Array:
        """Return the forces (n,) in the controlled joints. Raises SimulationError."""
        where = f"controllers, '{self.signal.name}'"
        y = MeasuredState(self.mech, self.p, t, q.copy(), v.copy(), x.copy(), self.signal)
        try:
            with _Watched():
                given = self.law(t, y, self.state)
        except LawStopped:
            raise SimulationError(
                f"The law did not return within {LONGEST_CALL:g} s at t = {t:.6g} s.",
                where=where,
                remedy="Look for a loop without an end.",
            ) from None
        except Exception as error:
            raise SimulationError(
                f"The law failed at t = {t:.6g} s: {type(error).__name__}: {error} ({_place_of(error)}).",
                where=where,
                remedy="Correct the function.",
            ) from error
        return self._read(given, t, where)

    def _read(self, given: Any, t: float, where: str) -> Array:
        """Check what a law returned."""
        n = len(self.components)
        if isinstance(given, Mapping):
            if unknown := [str(name) for name in given if name not in self.components]:
                raise SimulationError(
                    f"The law returned a force for '{unknown[0]}', in which it does not act.",
                    where=where,
                    remedy=f"It acts in {join_words(self.components)}.",
                )
            given = [given.get(name, 0.0) for name in self.components]
        try:
            forces = np.zeros(0) if given is None else np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            forces = np.zeros(0)
        if forces.shape == () and n == 1:
            forces = forces.reshape(1)
        if forces.shape != (n,):
            raise SimulationError(
                f"The law returned {_describe(given)} at t = {t:.6g} s, not {n} numbers.",
                where=where,
                remedy=f"Return an array with the forces in {join_words(self.components)}, or a dict of them by name.",
            )
        if not np.isfinite(forces).all():
            raise SimulationError(
                f"The law returned {forces[int(np.argmin(np.isfinite(forces)))]} for "
                f"'{self.components[int(np.argmin(np.isfinite(forces)))]}' at t = {t:.6g} s.",
                where=where,
                remedy="Return finite numbers.",
            )
        return forces


def _describe(given: Any) -> str:
    return "nothing" if given is None else f"{type(given).__name__} of shape {np.shape(given)}"[:80]


def _place_of(error: BaseException) -> str:
    """Return file and line at which an exception of a law was raised."""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    last = frames[-1] if frames else None
    return "unknown place" if last is None else f"{last.filename}, line {last.lineno}"


class _Watched:
    """Context in which a call is stopped when it takes too long."""

    def __enter__(self) -> None:
        _watch.begin()

    def __exit__(self, *_: object) -> None:
        _watch.end()


class _Watch:
    """Thread that stops calls of laws that take too long; it ends when no law was called for a while."""

    def __init__(self) -> None:
        self._calls: dict[int, float] = {}
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def begin(self) -> None:
        self._calls[threading.get_ident()] = time.monotonic()
        if self._thread is None or not self._thread.is_alive():
            with self._lock:
                if self._thread is None or not self._thread.is_alive():
                    self._thread = threading.Thread(target=self._look, name="kinetostat-laws", daemon=True)
                    self._thread.start()

    def end(self) -> None:
        self._calls.pop(threading.get_ident(), None)

    def _look(self) -> None:
        idle = 0
        while idle < 20:
            time.sleep(0.1)
            now, idle = time.monotonic(), 0 if self._calls else idle + 1
            for thread, began in list(self._calls.items()):
                if now - began > LONGEST_CALL and self._calls.pop(thread, None) is not None:
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(LawStopped))


_watch = _Watch()


def prepare_laws(
    mech: Mechanism, control: Law | None, controllers: Mapping[str, Law] | None, period: float, delay: float
) -> tuple[Mechanism, dict[str, Law]]:
    """Return the machine with a controller in Python for every function, and the functions by the names of these.

    A function for a controller of the document acts there; others act on all speeds. Raises ModelError.
    """
    given = dict(controllers or {})
    if control is not None:
        given[unused_name(mech.model, "signals", "control")] = control
    added = []
    for name, law in given.items():
        if not callable(law):
            raise ModelError(f"{law!r} is not a function.", where=f"controllers, '{name}'", remedy="Give a function.")
        known = {signal.name: signal for signal in mech.model.expanded.signals}
        if name not in known:
            added.append(Signal(name=name, kind="script", joints=_all_speeds(mech), period=period, delay=delay))
        elif known[name].kind != "script":
            raise ModelError(
                f"'{name}' is a controller of kind '{known[name].kind}', which has a law of its own.",
                where="controllers",
                remedy="Name a controller of kind 'script', or one that the model does not have.",
            )
    if added:
        model = replace(mech.model, signals=(*mech.model.signals, *added), origin=mech.model.origin)
        model.validate()
        mech = Mechanism(model)
    return mech, given


def _all_speeds(mech: Mechanism) -> tuple[ControlledJoint, ...]:
    """Return rows for all speeds, in their order."""
    rows: dict[str, ControlledJoint] = {}
    for joint in mech.model.expanded.joints:
        for suffix in joint.info.speeds:
            rows[component_name(joint.name, suffix)] = ControlledJoint(joint=joint.name, coordinate=suffix)
    missing = [name for name in mech.v_names if name not in rows]
    if missing:
        raise ModelError(
            f"A law cannot act on '{missing[0]}', which belongs to no joint of the document.",
            where="controllers",
            remedy="Add a controller of kind 'script' with the joints in which the law acts.",
        )
    return tuple(rows[name] for name in mech.v_names)
