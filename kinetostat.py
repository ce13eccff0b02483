"""Kinetostat for scripts: `import kinetostat as ks`.

Only re-exports; the work is done in `core` (documents, mechanics, functions) and `viz` (pictures). Names are looked
up when they are first used, so that importing this module costs nothing.

    model = ks.load("puma560.kst")            # or URDF, Xacro, Robotica, DH table
    mech = ks.Mechanism(model)
    q = mech.rest()
    mech.frame(q, "tool")                      # 4×4, world ← tool
    mech.mass_matrix(q)
    run = ks.simulate(model, duration=5.0)     # run.time, run["joint1.q"], run["tool.position"], run.save("run.h5")
    ks.call("jacobian", ks.Context.of(model), frame="tool")    # any function of the catalogue
    ks.render(model, q, "puma.png")            # a picture, without a window
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from core import errors as errors
    from core import symbolic as symbolic
    from core.errors import AssemblyError, ExpressionError, FileError, KinetostatError, ModelError, SimulationError
    from core.files import dumps, load, loads, read, save
    from core.functions import FUNCTIONS, Context, call
    from core.mechanism import Mechanism
    from core.model import (
        Annotation,
        Arrow,
        Beam,
        Body,
        Box,
        Capsule,
        Coil,
        Cone,
        Constraint,
        Cylinder,
        DHChain,
        DHRow,
        Driver,
        Finding,
        Force,
        Frame,
        Gearwheel,
        Gravity,
        Inertia,
        Joint,
        Junction,
        Limit,
        LineMass,
        Material,
        Mesh,
        Mimic,
        Model,
        Parameter,
        Pipe,
        Pose,
        Sensor,
        Setting,
        Sphere,
        SubAssembly,
        World,
    )
    from core.model.edits import edits
    from core.model.validation.model import check
    from core.simulation import Run, simulate
    from viz.pictures.offscreen import render

_PLACES = {
    "core": ("errors", "symbolic"),
    "core.errors": (
        "AssemblyError",
        "ExpressionError",
        "FileError",
        "KinetostatError",
        "ModelError",
        "SimulationError",
    ),
    "core.files": ("dumps", "load", "loads", "read", "save"),
    "core.functions": ("FUNCTIONS", "Context", "call"),
    "core.mechanism": ("Mechanism",),
    "core.model": (
        "Annotation",
        "Arrow",
        "Beam",
        "Body",
        "Box",
        "Capsule",
        "Coil",
        "Cone",
        "Constraint",
        "Cylinder",
        "DHChain",
        "DHRow",
        "Driver",
        "Finding",
        "Force",
        "Frame",
        "Gearwheel",
        "Gravity",
        "Inertia",
        "Joint",
        "Junction",
        "Limit",
        "LineMass",
        "Material",
        "Mesh",
        "Mimic",
        "Model",
        "Parameter",
        "Pipe",
        "Pose",
        "Sensor",
        "Setting",
        "Sphere",
        "SubAssembly",
        "World",
    ),
    "core.model.edits": ("edits",),
    "core.model.validation.model": ("check",),
    "core.simulation": ("Run", "simulate"),
    "viz.pictures.offscreen": ("render",),
}
_PLACE = {name: module for module, names in _PLACES.items() for name in names}

__all__ = ["__version__", *_PLACE]


def __getattr__(name: str) -> Any:
    module = _PLACE.get(name)
    if module is None:
        raise AttributeError(f"module 'kinetostat' has no attribute {name!r}")
    try:
        value = getattr(importlib.import_module(module), name)
    except AttributeError:
        value = importlib.import_module(f"{module}.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
