"""Kinetostat for scripts: `import kinetostat as ks`.

Only re-exports; the work is done in `core` (documents, mechanics, functions) and `viz` (pictures). Names are looked
up when they are first used, so that importing this module costs nothing.

    print(ks.examples())                       # what ships
    model = ks.load("puma560")                 # an example; or a file: .kst, URDF, Xacro, MJCF, Robotica, DH table
    mech = ks.Mechanism(model)
    q = mech.rest()
    mech.frame(q, "tool")                      # 4×4, world ← tool
    mech.mass_matrix(q)
    run = ks.simulate(model, duration=5.0)     # run.time, run["joint1.q"], run["tool.position"], run.save("run.h5")
    ks.call("jacobian", ks.Context.of(model), frame="tool")    # any function of the catalogue
    ks.render(model, q, "puma.png")            # a picture, without a window

Python 3.6 can read this file, so that an old one gets a message, not a syntax error: nothing newer here.
"""

import functools
import importlib
import importlib.util
import os
import sys
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from core import errors as errors
    from core import symbolic as symbolic
    from core.analysis.singularities.loci import singularity_loci
    from core.c_code.generate import Generated, generate_c
    from core.constraints.mobility.findings import check
    from core.control.feedback import lqr
    from core.control.linear_system import LinearSystem, LinearSystems
    from core.control.linearise import linearise
    from core.control.lineariser import DescriptorSystem
    from core.control.operating_point import OperatingPoint
    from core.control.root_locus import RootLocus, root_locus
    from core.design import linkage as linkage
    from core.design.asked_designs import asked_design, asked_target
    from core.design.design import Design
    from core.design.path_synthesis import synthesise
    from core.design.target_curves import target
    from core.errors import AssemblyError, ExpressionError, FileError, KinetostatError, ModelError, SimulationError
    from core.files import dumps, loads, save
    from core.files.named import examples, load, read
    from core.functions import FUNCTIONS, Context, call
    from core.identification.excitation import Excitation, excitation
    from core.identification.identify import Identification, identify
    from core.identification.measured_motion import Preparation
    from core.identification.output_error import RunFit, fit_run
    from core.identification.sensitivities.gradient import Gradient, gradient
    from core.joints import JointKind
    from core.joints.pose_law import PoseLawJoint
    from core.kinds import register
    from core.mechanics.elements.constraints.frame_constraint import FrameConstraint
    from core.mechanics.elements.forces.line_law import LineLaw
    from core.mechanism import Mechanism
    from core.mechanism.makers_configurations import format_configuration
    from core.model.edits import edits
    from core.model.element_classes import *  # noqa: F403
    from core.motions import laws as laws
    from core.motions.plan import plan
    from core.motions.trajectory import Trajectory
    from core.numerics import spatial as spatial
    from core.numerics.spatial import scalar as scalar
    from core.simulation import Run, simulate
    from core.studies.declaration import Distribution, lognormal, normal, triangular, uniform
    from core.studies.study import Study, channel
    from core.studies.study_result import StudyResult
    from core.studies.workspace.mapping import workspace
    from core.studies.workspace.workspace_map import WorkspaceMap
    from viz.pictures.offscreen import render

_MODULES = {
    "errors": "core.errors",
    "laws": "core.motions.laws",
    "linkage": "core.design.linkage",
    "scalar": "core.numerics.spatial.scalar",
    "spatial": "core.numerics.spatial",
    "symbolic": "core.symbolic",
    "edits": "core.model.edits.edits",
}
_PLACES = {
    "core.c_code.generate": ("Generated", "generate_c"),
    "core.control.lineariser": ("DescriptorSystem",),
    "core.control.feedback": ("lqr",),
    "core.control.linear_system": ("LinearSystem", "LinearSystems"),
    "core.control.linearise": ("linearise",),
    "core.control.root_locus": ("RootLocus", "root_locus"),
    "core.control.operating_point": ("OperatingPoint",),
    "core.design.asked_designs": ("asked_design", "asked_target"),
    "core.design.design": ("Design",),
    "core.design.path_synthesis": ("synthesise",),
    "core.design.target_curves": ("target",),
    "core.mechanics.elements.constraints.frame_constraint": ("FrameConstraint",),
    "core.mechanics.elements.forces.line_law": ("LineLaw",),
    "core.errors": (
        "AssemblyError",
        "ExpressionError",
        "FileError",
        "KinetostatError",
        "ModelError",
        "SimulationError",
    ),
    "core.files": ("dumps", "loads", "save"),
    "core.files.named": ("examples", "load", "read"),
    "core.functions": ("FUNCTIONS", "Context", "call"),
    "core.identification.excitation": ("Excitation", "excitation"),
    "core.identification.identify": ("Identification", "identify"),
    "core.identification.measured_motion": ("Preparation",),
    "core.identification.output_error": ("RunFit", "fit_run"),
    "core.joints": ("JointKind",),
    "core.joints.pose_law": ("PoseLawJoint",),
    "core.kinds": ("register",),
    "core.mechanism": ("Mechanism",),
    "core.mechanism.makers_configurations": ("format_configuration",),
    "core.motions.plan": ("plan",),
    "core.motions.trajectory": ("Trajectory",),
    "core.constraints.mobility.findings": ("check",),
    "core.identification.sensitivities.gradient": ("Gradient", "gradient"),
    "core.simulation": ("Run", "simulate"),
    "core.studies.declaration": ("Distribution", "lognormal", "normal", "triangular", "uniform"),
    "core.studies.study": ("Study", "channel"),
    "core.studies.study_result": ("StudyResult",),
    "core.analysis.singularities.loci": ("singularity_loci",),
    "core.studies.workspace.mapping": ("workspace",),
    "core.studies.workspace.workspace_map": ("WorkspaceMap",),
    "viz.pictures.offscreen": ("render",),
}
_PLACE = {name: module for module, names in _PLACES.items() for name in names}
_ELEMENTS = "core.model.element_classes"
"""Module whose names are all offered here."""


_OLDEST = (3, 11)
_NEWEST = (3, 13)
"""Newest usable Python version: CasADi has no thread-safe build for later ones (docs/decisions/casadi.md)."""
_ROOMS = ("app", "core", "resources", "viz")
_DISTRIBUTIONS = {
    "PIL": "pillow",
    "PySide6": "PySide6-Essentials",
    "collada": "pycollada",
    "flint": "python-flint",
    "shiboken6": "PySide6-Essentials",
    "vtkmodules": "vtk",
    "yaml": "PyYAML",
}
"""Libraries whose package name differs from their import name."""


def main() -> int:
    """Run the `kinetostat` command; returns its exit code."""
    return _run_command("main")


def window() -> int:
    """Run the `kinetostat-window` command; returns its exit code."""
    return _run_command("window")


def _run_command(command: str) -> int:
    _leave_out_working_folder()
    try:
        _require_suitable_python()
        code: int = getattr(importlib.import_module("app.__main__"), command)()
    except ImportError as error:
        if os.environ.get("KINETOSTAT_DEBUG"):
            raise
        print(f"Error: {import_error_message(error)}", file=sys.stderr)
        return 1
    return code


def _leave_out_working_folder() -> None:
    """Remove the working folder from the import path, where `python -m` and `-c` put it first: a model's folder may
    contain untrusted files."""
    if not sys.path or sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
        return
    try:
        here = os.getcwd()
    except OSError:
        here = ""
    if sys.path[0] in ("", here):
        del sys.path[0]


@functools.lru_cache(maxsize=None)  # noqa: UP033
def _require_suitable_python() -> None:
    """Raise ImportError, with the remedy, if this Python cannot run the program or would load foreign modules as its
    own."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        raise ImportError(
            f"Kinetostat needs Python {oldest} or newer; {sys.executable} is Python {version}. Install a newer Python "
            f"and, with it, Kinetostat{_install_command(f'python{oldest}')}"
        )
    if sys.version_info[:2] > _NEWEST:
        newest = ".".join(map(str, _NEWEST))
        raise ImportError(
            f"Kinetostat needs Python {newest} or older, because CasADi has no safe version for newer ones; "
            f"{sys.executable} is Python {version}. Install Python {newest} and, with it, "
            f"Kinetostat{_install_command(f'python{newest}')}"
        )
    if sys.maxsize < 2**32:
        raise ImportError(
            f"Kinetostat needs a 64-bit Python; {sys.executable} is a 32-bit Python {version}, for which its libraries "
            f"are not made. Install a 64-bit Python and, with it, Kinetostat{_install_command('python')}"
        )
    if not __package__:
        _require_own_packages()


def _require_own_packages() -> None:
    """Raise ImportError if, in a checkout, the user's files hide the program's packages of the same name."""
    here = os.path.dirname(os.path.abspath(__file__))
    for room in _ROOMS:
        spec = importlib.util.find_spec(room)
        folder = next(iter(spec.submodule_search_locations or ()), "") if spec else ""
        if spec and os.path.realpath(folder) != os.path.realpath(os.path.join(here, room)):
            raise ImportError(
                f"Kinetostat's own '{room}' is hidden by {spec.origin or folder}. Rename that, or install Kinetostat "
                f"as one package, which nothing hides: pip install {here}"
            )


def _install_command(python: str, *options: str) -> str:
    """Return the end of a sentence: the command that installs this checkout, without a full stop, which would be copied
    with it; for an installation from elsewhere nothing but the full stop."""
    if __package__:
        return "."
    return ": " + " ".join((python, "-m pip install", *options, os.path.dirname(os.path.abspath(__file__))))


def import_error_message(error: ImportError) -> str:
    """Return the message to the user about a module that cannot be imported, with the remedy."""
    module = error.name or ""
    library = module.partition(".")[0]
    if not library:
        return str(error)
    if library in (*_ROOMS, "kinetostat"):
        again = _install_command(sys.executable, "--force-reinstall", "--no-deps")
        return f"This installation of Kinetostat is incomplete: {error}. Install it again{again}"
    distribution = _DISTRIBUTIONS.get(library, library)
    pip = f"{sys.executable} -m pip install"
    if not isinstance(error, ModuleNotFoundError) or module != library:
        return (
            f"The library {distribution} cannot be loaded: {error}. Install it again: "
            f"{pip} --force-reinstall {distribution}"
        )
    what = f"The library {distribution} is not installed for {sys.executable}."
    if __package__:
        return f"{what} Install it: {pip} {distribution}"
    return f"{what} Run make again, or install Kinetostat with all it needs{_install_command(sys.executable)}"


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return ["__version__", *_MODULES, *_PLACE, *importlib.import_module(_ELEMENTS).__all__]
    offered, other = name in _MODULES or name in _PLACE, name.startswith("_") or name in _ROOMS
    if not other:
        _require_suitable_python()
    if other or not (offered or name in importlib.import_module(_ELEMENTS).__all__):
        raise AttributeError(f"module 'kinetostat' has no attribute {name!r}")
    if name in _MODULES:
        value: Any = importlib.import_module(_MODULES[name])
    else:
        value = getattr(importlib.import_module(_PLACE.get(name, _ELEMENTS)), name)
    globals()[name] = value
    return value


def __dir__() -> "list[str]":
    return sorted(__getattr__("__all__"))


if __name__ == "__main__":
    sys.exit(main())
