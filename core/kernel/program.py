"""The code of a machine, shared by all mechanisms that differ only in parameter values, limits and looks."""

from __future__ import annotations

import dataclasses
import threading
from collections import OrderedDict
from typing import Any

import numpy as np

from core.kernel.evaluator import Array, Code, Evaluator, Interpreter
from core.kernel.topology import Topology, topology_of
from core.kernel.trace import Tracer
from core.model import Body, Joint, Model

_KEPT = 16
_programs: OrderedDict[Any, Program] = OrderedDict()
_lock = threading.Lock()


class Program:
    """Traces and code of one structure."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.tracer = Tracer(topology)
        self._codes: dict[str, Code] = {}
        self._lock = threading.RLock()

        self.frame_names = tuple(self.tracer.frame_names)
        self.frame_index = {name: i for i, name in enumerate(self.frame_names)}
        self.joint_names = tuple(self.tracer.joint_names)

    @property
    def cut_rows(self) -> dict[str, int]:
        """Number of residuals of each cut joint."""
        return {name: len(self.tracer.closure_rows(name)) for name in self.tracer.machine.laws}

    def code(self, name: str) -> Code:
        """The best code there is for a function now."""
        with self._lock:
            if name not in self._codes:
                self._codes[name] = Interpreter(self.tracer.trace(name))
            return self._codes[name]

    def evaluator(self, name: str, p: Array) -> Evaluator:
        """A function with default parameter values."""
        signature = self.tracer.signature(name)
        tree = self.tracer.tree
        sizes = [{"q": tree.nq, "v": tree.nv, "u": tree.nv}[argument] for argument in signature.arguments]
        return Evaluator(name, signature, sizes, self.code(name), np.array(p, dtype=float))


def program_of(model: Model) -> Program:
    """The program of a model: one that is there already if only values, limits or looks differ."""
    key = structure(model)
    with _lock:
        found = _programs.get(key)
        if found is None:
            found = _programs[key] = Program(topology_of(model))
            while len(_programs) > _KEPT:
                _programs.popitem(last=False)
        else:
            _programs.move_to_end(key)
        return found


def structure(model: Model) -> Any:
    """What the code of a model depends on, as a hashable value."""
    plain = model.expanded
    bodies = tuple(_body(body) for body in plain.bodies)
    joints = tuple(_joint(joint) for joint in plain.joints)
    frames = tuple(dataclasses.replace(frame, description="") for frame in plain.frames)
    parameters = tuple((p.name, p.value if isinstance(p.value, str) else None) for p in plain.parameters)
    meshes = model.origin if any(body.density is not None for body in plain.bodies) else ""
    return plain.world, parameters, bodies, frames, joints, meshes


def _body(body: Body) -> Any:
    shapes = () if body.density is None else body.shapes
    return body.name, body.mass, body.center_of_mass, body.inertia, body.density, shapes


def _joint(joint: Joint) -> Any:
    return tuple(
        getattr(joint, field.name) for field in dataclasses.fields(joint) if field.name not in ("limits", "description")
    )
