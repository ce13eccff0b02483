"""Plan of an export: all data from which the generated code is written, the functions it offers in addition to its
step, its outputs, and names as C identifiers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.c_code.machine_functions import LETTERS, MachineFunctions, TracedFunction
from core.c_code.stepper import StepFunctions, StepMethod
from core.codegen.c_text import CFunction, Precision, write_c_function
from core.codegen.graph_symbols import to_symbol
from core.errors import ExpressionError, KinetostatError, ModelError, suggest_names
from core.mechanics.elements.force_state import ForceState
from core.mechanics.elements.resolver import build_formula
from core.mechanics.elements.time_argument import Splines
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.tree import inline
from core.model.formula.expression import names_in_formula as names_in
from core.model.formula.expression import parse
from core.model.formula.formula_units import UNKNOWN, Dimension, dimension_by_name, formula_dimension
from core.model.formula.nodes import Name, Node
from core.model.model import signal_names
from core.model.signals import TIME, component_name
from core.numerics.spatial.scalar import Scalar
from core.programs.dynamics import force_state
from core.programs.kinematics import pose_matrix
from core.simulation.measures.run_measures import Signals

AXES = ("x", "y", "z")
OF_MACHINE = {
    "forward_dynamics": ("qvuxtp", "y = a: accelerations of a machine without loops, neglecting friction and stops"),
    "inverse_dynamics": (
        "qvaxtp",
        "y = u: joint forces for accelerations a of the tree; dry friction is a function of v",
    ),
    "mass_matrix": ("qp", "y = M, row by row"),
    "bias": ("qvxtp", "y = h: joint forces without accelerations, M a + h = u + Gᵀ λ"),
    "gravity": ("qp", "y: joint forces that balance gravity"),
    "linearise": (
        "qvuxtp",
        "y = ∂a/∂ξ, ∂a/∂v, ∂a/∂u row by row, each NV x NV, of a machine without loops, neglecting friction and stops; "
        "ξ: displacements along the speeds. A = [0 1; ∂a/∂ξ ∂a/∂v] and B = [0; ∂a/∂u] where q̇ = v",
    ),
    "energy": ("qvxtp", "y = kinetic, potential energy, J"),
    "momentum": ("qvp", "y = angular, linear momentum about the origin of the world"),
    "center": ("qp", "y: center of mass, m"),
    "constraint_residual": ("qtp", "y: residuals of loops, constraints and drivers, m or rad"),
    "constraint_jacobian": ("qp", "y = G, row by row"),
}
"""Functions of the kernel by name: arguments and results."""
OF_TREES = {"forward_dynamics": "forward_dynamics", "linearise": "motion_slopes"}
"""Functions only for machines without loops, with their name in the kernel."""
OF_FRAME = {
    "frame": "y: the pose of '{0}' in the world, a 4 x 4 matrix row by row",
    "jacobian": "y: 6 x NV, angular then linear velocity of '{0}' in world axes, row by row",
}
"""Functions of a frame, requested as "frame:tool"."""
Array = NDArray[np.float64]
KEYWORDS = frozenset(
    """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    and and_eq asm bitand bitor bool catch class compl delete explicit export false friend mutable namespace new not
    operator or private protected public template this throw true try typename using virtual xor
    """.split()  # noqa: SIM905
)
"""Keywords of C and of C++, because C++ compilers read the header, too."""


class PublicFunction(NamedTuple):
    """Function with its name and description in C."""

    name: str
    help: str
    traced: TracedFunction


def find_public_function(machine: MachineFunctions, function_name: str) -> PublicFunction:
    """Return a function by the name given by the user. Raises ModelError for an unknown one."""
    kind, _, detail = function_name.partition(":")
    if kind in OF_FRAME:
        return _frame_function(machine, kind, detail, function_name)
    if kind not in OF_MACHINE or detail:
        offered = ["step", *OF_MACHINE, *(f"{each}:NAME" for each in OF_FRAME)]
        raise ModelError(
            f"There is no function '{function_name}' that can be exported to C.",
            where="functions",
            remedy=suggest_names(function_name, offered),
        )
    arguments, help_ = OF_MACHINE[kind]
    if kind in OF_TREES and machine.compiled.constrained:
        raise ModelError(
            "Accelerations of the tree are available only for machines without loops, constraints and drivers.",
            where=f"functions, {kind}",
            remedy="Omit this function: the step closes the loops, and outputs such as 'crank.a' give accelerations.",
        )
    inputs = {**machine.force_inputs, "u": machine.symbols["a" if kind == "inverse_dynamics" else "u"]}
    result = machine.context.build_body(OF_TREES.get(kind, kind), inputs, "", inline)
    return PublicFunction(kind, f"{help_}.", machine.build_function(arguments, result))


def _frame_function(machine: MachineFunctions, kind: str, frame: str, function_name: str) -> PublicFunction:
    frames = machine.context.machine.frames
    if frame not in frames:
        raise ModelError(
            f"There is no frame '{frame}'.",
            where=f"functions, {function_name}",
            remedy=suggest_names(frame, list(frames)),
        )
    q = machine.symbols["q"]
    if kind == "frame":
        result = pose_matrix(KinematicState(machine.context.tree, q).frame(frames[frame]))
    else:
        result = machine.context.build_body("jacobian", {"q": q}, frame, inline)
    help_ = f"{OF_FRAME[kind].format(frame)}."
    return PublicFunction(f"{kind}_{to_identifier(frame)}", help_, machine.build_function("qp", result))


# ------------------------------------------------------------------------------------------------------------ outputs


class ExportOutputs(NamedTuple):
    """Values after a step, with their dimensions. needs_rates : True if they depend on accelerations."""

    names: tuple[str, ...]
    measured: tuple[Dimension, ...]
    traced: TracedFunction | None
    needs_rates: bool


def find_outputs(machine: MachineFunctions, output_names: Sequence[str] | None) -> ExportOutputs:
    """Return the requested outputs: formulas of signals, accelerations ("elbow.a"), positions of frames
    ("tool.position.z") and sensors; by default all sensors.

    Raises ExpressionError for a formula that cannot be read, ModelError for a name that there is none of.
    """
    sensors = machine.context.elements.sensors
    if output_names is None:
        output_names = [
            component_name(name, suffix) for name, sensor in sensors.items() for suffix in sensor.info.components
        ]
    if not output_names:
        return ExportOutputs((), (), None, False)
    values = [_evaluate_output(machine, text) for text in output_names]
    measured = _output_dimensions(machine, output_names)
    column = ca.vertcat(*map(to_symbol, values))
    accelerations = ca.vertcat(*machine.symbols["a"]) if machine.nv else ca.SX(0, 1)
    needs = machine.nv > 0 and bool(ca.which_depends(column, accelerations, 1, True).count(True))
    return ExportOutputs(
        tuple(output_names), measured, machine.build_function("nqvxtpa" if needs else "nqvxtp", values), needs
    )


def _evaluate_output(machine: MachineFunctions, text: str) -> Scalar:
    where = f"outputs, '{text}'"
    try:
        used = names_in(parse(text))
    except ExpressionError as error:
        raise ExpressionError(str(error.what), where=where, remedy=error.remedy) from None
    seen = force_state(machine.context, machine.force_inputs)
    found = {name: _signal_value(machine, seen, name, where) for name in used}
    formula = build_formula(parse(text))
    return formula(tuple(found[name] for name in formula.names))


def _output_dimensions(machine: MachineFunctions, output_names: Sequence[str]) -> tuple[Dimension, ...]:
    """Return the dimensions of outputs as far as they are known; formulas may add and compare only equal dimensions.
    Raises ExpressionError."""
    signals = Signals(machine.mech)
    parameters = signals.parameters
    found: list[Dimension] = []
    for text in output_names:
        node = parse(text)
        found.append(_output_dimension(signals, node))
        if isinstance(node, Name):
            continue
        plain = [
            name for name in names_in(node) if name in TIME or not (signals.is_channel(name) or name in parameters)
        ]
        if plain:
            continue  # formulas of time are written without units
        try:
            formula_dimension(node, signals.dimension)
        except ExpressionError as error:
            raise ExpressionError(str(error.what), where=f"outputs, '{text}'", remedy=error.remedy) from None
    return tuple(found)


def _output_dimension(signals: Signals, node: Node) -> Dimension:
    """Return the dimension of an output; unknown for a formula that mixes numbers without units with others."""

    def name_dimension(name: str) -> Dimension:
        return dimension_by_name("time") if name in TIME else signals.dimension(name)

    try:
        return formula_dimension(node, name_dimension)
    except KinetostatError:
        return UNKNOWN


def _signal_value(machine: MachineFunctions, force_state: ForceState, name: str, where: str) -> Scalar:
    """Evaluate a name in a formula of outputs."""
    speeds, sensors = list(machine.compiled.v_names), machine.context.elements.sensors
    plain = name.removesuffix(".a")
    if name in TIME:  # also where nothing in the machine depends on it
        return machine.symbols["n"][0]
    if name.endswith(".a") and plain in speeds:
        return machine.symbols["a"][speeds.index(plain)]
    frame, _, axis = name.rpartition(".position.")
    if frame in machine.context.machine.frames and axis in AXES:
        place = machine.context.machine.frames[frame]
        return KinematicState(machine.context.tree, machine.symbols["q"]).frame(place).position[AXES.index(axis)]
    for sensor, found in sensors.items():
        own = [component_name(sensor, suffix) for suffix in found.info.components]
        if name in own and found.info.accelerated:
            inputs = {**machine.force_inputs, "u": machine.symbols["a"]}
            return machine.context.build_body("sensor", inputs, sensor, inline)[own.index(name)]
    try:
        return force_state.signal(name)
    except KinetostatError:
        known = [*sorted(signal_names(machine.compiled.model.expanded)), *machine.compiled.p_names]
        offered = [*known, *(f"{speed}.a" for speed in speeds)]
        offered += [f"{frame}.position.{axis}" for frame in machine.context.machine.frames for axis in AXES]
        raise ModelError(
            f"The name '{name}' is not defined.", where=where, remedy=suggest_names(name, offered)
        ) from None


@dataclass(frozen=True)
class ExportPlan:
    """Everything from which the generated code is written. h : step, s."""

    name: str
    title: str
    machine: MachineFunctions
    functions: StepFunctions
    outputs: TracedFunction | None
    output_names: tuple[str, ...]
    output_measures: tuple[Dimension, ...]
    output_needs_rates: bool
    public: tuple[PublicFunction, ...]
    method: StepMethod
    h: float
    closing: int
    factorisation: str
    start: Array
    precision: Precision
    notes: tuple[str, ...] = ()
    splines: Splines | None = None
    written: dict[str, CFunction] = field(default_factory=dict)
    """Functions in C, after `build_functions` created them."""

    @property
    def upper(self) -> str:
        """Prefix of the names of constants."""
        return self.name.upper()

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of parameters that are arguments."""
        return () if self.machine.constants else self.machine.compiled.p_names


def state_parts(plan: ExportPlan) -> list[tuple[str, str, str]]:
    """Return (letter, name of its size, offset in an array of q, v and x as "… + ") of the nonempty parts."""
    m, found, at = plan.machine, list[tuple[str, str, str]](), ""
    for letter, size in (("q", m.nq), ("v", m.nv), ("x", m.nx)):
        count = f"{plan.upper}_N{letter.upper()}"
        if size:
            found.append((letter, count, at))
        at += f"{count} + "
    return found


def build_functions(plan: ExportPlan, before_each: Callable[[], None] = lambda: None) -> dict[str, CFunction]:
    """Return all functions used by the step and the outputs, in C; before_each : called before each."""
    traced = {name: each for name, each in plan.functions._asdict().items() if each is not None}
    if plan.outputs is not None:
        traced["values"] = plan.outputs
    for name, each in traced.items():
        before_each()
        letters = [LETTERS[word] for word in each.arguments]
        plan.written[name] = write_c_function(f"{plan.name}_{name}", each.graph, plan.precision, letters)
    for public in plan.public:
        before_each()
        letters = [LETTERS[word] for word in public.traced.arguments]
        plan.written[public.name] = write_c_function(
            f"{plan.name}_{public.name}", public.traced.graph, plan.precision, letters
        )
    return plan.written


def to_identifier(name: str, default: str = "machine") -> str:
    """Convert a name to letters, digits and underscores, without diacritics."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    found = re.sub(r"\W+", "_", plain).strip("_") or default
    if found[0].isdigit():
        found = f"{default}_{found}"
    return f"{found}_" if found in KEYWORDS else found


def to_distinct_identifiers(names: Iterable[str]) -> list[str]:
    """Convert names to distinct identifiers; later duplicates get a number."""
    taken: set[str] = set()
    result = []
    for name in names:
        first = found = to_identifier(name, "n")
        count = 2
        while found in taken:
            found, count = f"{first}_{count}", count + 1
        taken.add(found)
        result.append(found)
    return result
