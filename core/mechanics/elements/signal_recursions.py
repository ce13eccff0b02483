"""Values of signals that need a recursion over the machine: gravity forces, masses, inverse dynamics, impedance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.errors import ExpressionError
from core.mechanics.crba import crba
from core.mechanics.elements.added_inertia import add_inertia
from core.mechanics.elements.force_state import Loads
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.multibody.number_reader import Numbers
from core.mechanics.multibody.topology import build_topology
from core.mechanics.multibody.tree_of_model import build_machine
from core.mechanics.rnea import rnea
from core.model.signal_elements import NominalValue
from core.model.signal_laws import ImpedanceForce
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.scalar import Scalar, minus, negated, times
from core.numerics.spatial.vector import Force, Motion, Vector3

if TYPE_CHECKING:
    from core.mechanics.elements.element_reader import MachineElements

REMEDY = "Use it in machines without loops, constraints and drivers."


def check_open(elements: MachineElements, name: str) -> None:
    """Raise ExpressionError if the machine has loops, in which forces of the tree's joints alone have no meaning."""
    model = elements.model
    if elements.machine.laws or model.constraints or model.drivers:
        raise ExpressionError(f"'{name}' is not known for a machine with loops, constraints or drivers.", remedy=REMEDY)


def speed_number(elements: MachineElements, component: str) -> int:
    """Return the index in v of a coordinate by its name in formulas. Raises ExpressionError."""
    names = elements.speed_numbers
    if component not in names:
        raise ExpressionError(f"'{component}' is no independent coordinate.", remedy="Name a joint of the open tree.")
    return names[component]


def gravity_forces(elements: MachineElements, kinematics: KinematicState) -> list[Scalar]:
    """Return the joint forces (nv,) that hold the machine against gravity."""
    still = [0.0] * kinematics.tree.nv
    return inverse_dynamics(elements, kinematics, still, still)


def inverse_dynamics(
    elements: MachineElements, kinematics: KinematicState, v: Sequence[Scalar], a: Sequence[Scalar]
) -> list[Scalar]:
    """Return the joint forces (nv,) for accelerations, without springs, damping and friction."""
    tree, run = elements.machine.tree, kinematics.run
    torques = rnea(tree, kinematics.q, v, a, resist=False, run=run).torques
    if not elements.added_inertia:
        return torques
    state = KinematicState(tree, kinematics.q, v, run, a)
    loads = Loads(state)
    for mass in elements.added_inertia:
        mass.inertia(state, loads)
    torques = rnea(tree, kinematics.q, v, a, resist=False, external=loads.external, run=run).torques
    return [run(minus, torque, force) for torque, force in zip(torques, loads.speeds, strict=True)]


def mass_rows(elements: MachineElements, kinematics: KinematicState) -> list[list[Scalar]]:
    """Return the mass matrix, row by row."""
    tree, run = elements.machine.tree, kinematics.run
    rows = crba(tree, kinematics.q, run)
    if elements.added_inertia:
        add_inertia(rows, elements.added_inertia, KinematicState(tree, kinematics.q, None, run))
    return rows


def nominal_elements(elements: MachineElements, nominal: tuple[NominalValue, ...]) -> MachineElements:
    """Return the machine with the parameter values that a controller assumes."""
    from core.mechanics.elements.element_reader import MachineElements

    given = {each.parameter: elements.numbers.scalar(each.value, "signal, nominal") for each in nominal}
    model = elements.model
    values = {**elements.numbers.values, **given}
    for parameter in model.parameters:  # those that depend on others follow
        if not parameter.independent and parameter.name not in given:
            values[parameter.name] = Numbers(values, model.origin).scalar(parameter.value, parameter.name)
    numbers = Numbers(values, model.origin)
    return MachineElements(model, build_machine(build_topology(model), numbers), numbers)


def impedance_forces(elements: MachineElements, law: ImpedanceForce, kinematics: KinematicState) -> list[Scalar]:
    """Return Jᵀ F (nv,) of a spring and damper between a frame and its target."""
    signal, run, read = law.signal, kinematics.run, elements.numbers.vector
    where = f"signal '{signal.name}'"
    at, to = elements.link_frame(signal.frame), elements.link_frame(signal.target)
    numbers = [
        read(getattr(signal, field), f"{where}, {field}")
        for field in ("stiffness", "damping", "rotational_stiffness", "rotational_damping")
    ]
    wrench = run(
        spring_wrench,
        kinematics.frame(at),
        kinematics.frame(to),
        kinematics.motion(at),
        kinematics.motion(to),
        *numbers,
    )
    loads = Loads(kinematics)
    loads.add_wrench(at, kinematics.frame(at).position, wrench)
    still = [0.0] * kinematics.tree.nv
    tree = elements.machine.tree
    torques = rnea(tree, kinematics.q, still, still, resist=False, gravity=False, external=loads.external, run=run)
    return [run(negated, torque) for torque in torques.torques]


def spring_wrench(
    X: Pose, X_to: Pose, V: Motion, V_to: Motion, k: Vector3, d: Vector3, k_turn: Vector3, d_turn: Vector3
) -> Force:
    """Return the wrench on a frame at X, at its origin in world axes, by springs and dampers along and about the axes
    of X_to. Turns are measured as sin θ about their axis."""
    R = X_to.rotation
    apart, rate = R.act_back(X_to.position - X.position), R.act_back(V_to.linear - V.linear)
    turn = R.act_back(turn_vector(X, X_to))
    turning = R.act_back(V_to.angular - V.angular)
    force = Vector3(*(times(a, b) + times(c, e) for a, b, c, e in zip(k, apart, d, rate, strict=True)))
    moment = Vector3(*(times(a, b) + times(c, e) for a, b, c, e in zip(k_turn, turn, d_turn, turning, strict=True)))
    return Force(R.act(moment), R.act(force))


def turn_vector(X: Pose, X_to: Pose) -> Vector3:
    """Return the turn from X to X_to in world axes, ½ Σ x_i × x_i,to over the axes: its length is sin θ."""
    total = Vector3(0.0, 0.0, 0.0)
    for a, b in zip(X.rotation.columns(), X_to.rotation.columns(), strict=True):
        total = total + a.cross(b)
    return Vector3(*(times(0.5, each) for each in total))
