"""Mechanism: a model compiled into numerical functions of (q, v, τ, p)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from core.codegen.evaluator import Array, Evaluator
from core.constraints import rest_position
from core.constraints.named_values import as_states, single_state
from core.errors import ModelError, SimulationError
from core.later import lazy_function
from core.mechanics.elements.time_argument import Splines
from core.mechanics.multibody.coordinates import Coordinate
from core.mechanics.multibody.parameter_values import Values
from core.mechanics.multibody.topology import Loop
from core.mechanism import operational_space, outer_wrenches, point_arguments
from core.mechanism.operational_space import OperationalMass, Part
from core.model import Joint, Model
from core.programs.compiled import CompiledModel

if TYPE_CHECKING:
    from core.codegen.evaluator import GuardedFunction
    from core.constraints.acting_states import RestingTest
    from core.constraints.closed_forms.wording import SolutionStep
    from core.constraints.cut_coordinates import CutLimit
    from core.constraints.force_ranges import ForceRanges
    from core.constraints.mobility.mobility import Mobility
    from core.constraints.motion_derivatives import MotionDerivatives
    from core.constraints.motion_with_rows import GeneralPath
    from core.constraints.reactions import Reactions
    from core.mechanism.regressor import BaseParameters, LinearParameters


_ROOT = __package__.rpartition(".")[0]
_find_solutions = lazy_function(_ROOT, "analysis.arms.inverse_kinematics_call.find_solutions")
_find_assembly_modes = lazy_function(_ROOT, "analysis.direct_kinematics.find_assembly_modes")
_actuated_columns = lazy_function(_ROOT, "analysis.actuators.actuated_columns")
_force_jacobian = lazy_function(_ROOT, "analysis.actuators.force_jacobian")
_put_payload = lazy_function(_ROOT, "analysis.tool_frame.put_payload")
_trace_self_motion = lazy_function(_ROOT, "analysis.arms.self_motion_curve.trace_self_motion")
_find_singularities = lazy_function(_ROOT, "analysis.singularities.singularities_call.find_singularities")


class Energy(NamedTuple):
    """Kinetic and potential energy, J (arrays for arrays of states)."""

    kinetic: Any
    potential: Any

    @property
    def total(self) -> Any:
        """Sum of kinetic and potential energy, J."""
        return self.kinetic + self.potential


class Mechanism:
    """Evaluates the mechanics of a model. SI and radians; every function takes one state or arrays of states.

    q : (…, nq) coordinates   v, a, tau : (…, nv) speeds, accelerations, joint forces
    p : parameter values by name, or all of them in the order of `p_names`; default: the model's. They, too, may be
        arrays with a value (or row) per state
    t : time, s (drivers and forces may depend on it), one or one per state
    x : (…, nx) states of force elements; default: those of rest at q (`x_rest`)

    Functions are traced when first asked for and compiled in the background; until the machine code is there
    an interpreter gives the same numbers.
    """

    def __init__(self, model: Model) -> None:
        self.compiled = compiled = CompiledModel(model)
        """The functions by name, and what the machine consists of, for those that compute with it."""
        self._call = compiled.call
        self._direct = compiled.plain and not compiled.by_mass_matrix
        self._in_one_piece = not compiled.is_very_long
        self._jacobians: dict[str, Evaluator] = {}
        self.model = compiled.model
        self.name = model.name
        self.nq, self.nv, self.nx = compiled.nq, compiled.nv, compiled.nx
        self.q_names, self.v_names = compiled.q_names, compiled.v_names
        self.p_names, self.x_names = compiled.p_names, compiled.x_names
        self.coordinates: tuple[Coordinate, ...] = compiled.coordinates.table

    @classmethod
    def to_show(cls, model: Model) -> Mechanism:
        """Mechanism of a model for display only: elements of unknown kinds are left out, and joints of unknown kinds do
        not move. Computations and runs refuse such a model with a message that names the kind."""
        from core.model.edits.edits import without_unknown_kinds

        mech = cls(without_unknown_kinds(model))
        mech.model = model
        return mech

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the model: copies are recompiled from it, and share code within a process."""
        return Mechanism, (self.model,)

    def updated(self, model: Model) -> Mechanism:
        """Mechanism of another model; code is shared if only parameter values, limits or appearance differ."""
        return Mechanism(model)

    def with_payload(
        self, mass: float, center: Sequence[float] = (0.0, 0.0, 0.0), inertia: Any = None, *, frame: str | None = None
    ) -> Mechanism:
        """Mechanism with a payload on a frame (default: the tool, or where one is); code is shared among payloads.

        mass : kg; center : (3,) of mass in the frame, m; inertia : about it, kg·m², (3, 3) or three moments; default: a
        point mass. They are parameters payload_mass, payload_x, … of the new model.
        """
        return _put_payload(self, mass, center, inertia, frame)

    def __repr__(self) -> str:
        return f"Mechanism({self.name!r}, nq={self.nq}, nv={self.nv}, loops={len(self.loops)})"

    # --------------------------------------------------------------------------- what it consists of

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Names of bodies and frames, in the order of `poses`."""
        return self.compiled.frame_names

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of all joints: implicit free joints first, then in the order of the document."""
        return self.compiled.joint_names

    @property
    def implicit_joints(self) -> tuple[Joint, ...]:
        """Free joints of bodies that no joint connects to the ground: not in the document, named after the body."""
        return self.compiled.implicit_joints

    @property
    def loops(self) -> tuple[Loop, ...]:
        """Closed chains, by the names of their joints and of the cut joint."""
        return self.compiled.loops

    def joint_q(self, name: str) -> slice:
        """Slice of a joint's coordinates in q (its leader's for a mimic joint)."""
        return self.compiled.joint_q(name)

    def joint_v(self, name: str) -> slice:
        """Slice of a joint's speeds in v (its leader's for a mimic joint)."""
        return self.compiled.joint_v(name)

    def following(self, joint: str, p: Values = None) -> tuple[Array, Array]:
        """(ratio, offset), each (…, 1), of a mimic joint's coordinate relative to its leader's; 1 and 0 for other
        joints."""
        return self.compiled.following(joint, p)

    # --------------------------------------------------------------------------- parameters, time, states, code

    def parameter_values(self, p: Values = None) -> Array:
        """(…, n_p) values of all independent parameters: the model's, replaced by those given."""
        return self.compiled.parameter_values(p)

    def clock(self, t: Any, p: Values = None) -> Array:
        """(…, nt) time argument of the compiled functions at times t: t, then value, rate and second rate of every
        table and recorded signal; nt = 0 if nothing depends on time."""
        return self.compiled.time_argument(t, p)

    def splines(self, p: Values = None) -> Splines:
        """Tables and recorded signals of drivers at parameter values (n_p,)."""
        return self.compiled.splines(p)

    def x_rest(self, q: Any, *, p: Values = None, t: Any = 0.0, v: Any = None, near: Any = None) -> Array:
        """(…, nx) states of force elements at rest: junctions in balance; series spring–dampers with the spring at its
        free length; turn counters nearest to those of `near` (…, nx), by default nearest to the reference
        configuration."""
        return self.compiled.x_rest(q, p=p, t=t, v=v, near=near)

    def x_rate(self, q: Any, v: Any, x: Any, *, p: Values = None, t: Any = 0.0) -> Array:
        """(…, nx) rates ẋ of the force-element states."""
        return self.compiled.x_rate(q, v, x, p=p, t=t)

    def compile(self, *functions: str, wait: bool = True) -> None:
        """Compile functions to machine code (e.g. "forward_dynamics"; default: those used so far) and wait for it."""
        self.compiled.compile(*functions, wait=wait)

    @property
    def ready(self) -> bool:
        """True if every function used so far runs as machine code."""
        return self.compiled.is_ready

    @property
    def compile_times(self) -> dict[str, float]:
        """Function name → seconds taken to compile it from its expression graph."""
        return dict(self.compiled.program.compile_times)

    # --------------------------------------------------------------------------- positions

    def neutral(self, *, p: Values = None, t: float = 0.0) -> Array:
        """(nq,) zeros and unit quaternions, independent of parameters and time."""
        return self.compiled.coordinates.neutral()

    def rest(self, p: Values = None, *, t: float = 0.0) -> Array:
        """(nq,) reference position: as given, else neutral, inside the limits, with loops closed as well as
        possible."""
        return rest_position.reference_position(self.compiled, p, t)

    def clamp(self, q: Any) -> Array:
        """(…, nq) q clipped to the limits, with quaternions normalised."""
        return self.compiled.coordinates.clamp(as_states(q, self.nq, "q"))

    def integrate(self, q: Any, v: Any, dt: Any = 1.0) -> Array:
        """(…, nq) position reached from q with constant speeds v after dt seconds, on the configuration manifold."""
        return self.compiled.coordinates.integrate(as_states(q, self.nq, "q"), as_states(v, self.nv, "v"), dt)

    def difference(self, q0: Any, q1: Any) -> Array:
        """(…, nv) constant speeds that lead from q0 to q1 in one second: `integrate(q0, difference(q0, q1)) == q1`."""
        return self.compiled.coordinates.speeds_between(as_states(q0, self.nq, "q"), as_states(q1, self.nq, "q"))

    def random(self, seed: int | np.random.Generator = 0) -> Array:
        """(nq,) a random position inside the limits."""
        return self.compiled.coordinates.random(np.random.default_rng(seed))

    def coordinate(self, q: Any, joint: str, *, p: Values = None, t: float = 0.0) -> Array:
        """(…, n) the n coordinates of a joint at q, rad or m: computed from the leader's for a mimic joint, measured
        for a loop-closing one (angles within half a turn, a screw's from its advance)."""
        from core.constraints import cut_coordinates

        known = self.compiled.check_joint_name(joint)
        return cut_coordinates.joint_coordinates(self.compiled, as_states(q, self.nq, "q"), known, p)

    # --------------------------------------------------------------------------- kinematics

    def poses(self, q: Any, p: Values = None, *, t: float = 0.0) -> Array:
        """(…, n, 4, 4) world poses of all `frame_names`."""
        return self._call("poses", q, p=p)

    def frame(self, q: Any, name: str, *, p: Values = None, t: float = 0.0) -> Array:
        """(…, 4, 4) world pose of a body or frame."""
        if self.compiled.check_frame_name(name) == "world":
            return np.broadcast_to(np.eye(4), (*np.shape(q)[:-1], 4, 4)).copy()
        return self.poses(q, p)[..., self.compiled.program.frame_index[name], :, :]

    def joint_poses(self, q: Any, p: Values = None, *, t: float = 0.0) -> dict[str, tuple[Array, Array]]:
        """Joint → world poses of its frames a and b, each (…, 4, 4), for every joint, including loop-closing and
        implicit ones."""
        return self.compiled.joint_poses(q, p)

    def jacobian(
        self,
        q: Any,
        name: str,
        *,
        reference: str = "world",
        axes: str = "world",
        point: Any = None,
        relative_to: str | None = None,
        actuators: Sequence[str] | None = None,
        by: str = "speed",
        p: Values = None,
        t: float = 0.0,
    ) -> Array:
        """(…, 6, nv) rows [ω; v] of the frame's origin, world axes.

        point : (…, 3) coordinates in frame `reference`, m, of another point of the frame, in place of its origin
        relative_to : frame from which the motion is seen; default: the world
        axes : frame in whose axes ω and v are given
        actuators : joints or speeds whose unit speeds are the columns (…, 6, m); loops are closed, other joints at rest
        by : "speed" (columns), or "force": the same numbers by rows, from the joint forces that unit wrenches cause
        """
        if by != "speed":
            return _force_jacobian(self, q, name, reference, axes, point, relative_to, actuators, by, p)
        if actuators is not None:
            whole = self.jacobian(q, name, reference=reference, axes=axes, point=point, relative_to=relative_to, p=p)
            return _actuated_columns(self, np.asarray(q, dtype=float), whole, actuators, p)
        if point is not None or relative_to is not None or axes != "world" or reference != "world":
            place = point_arguments.describe_point(self.compiled, name, reference, axes, point, relative_to)
            return self._call(f"point_jacobian:{place.detail}", q, place.point, p=p)
        evaluator = self._jacobians.get(name) if isinstance(name, str) else None
        if evaluator is None:
            evaluator = self._jacobians[name] = self.compiled.evaluator(
                "jacobian:" + self.compiled.check_frame_name(name)
            )
        return evaluator.call(q) if p is None else evaluator(q, p=self.parameter_values(p))

    def jacobian_rate(
        self,
        q: Any,
        v: Any,
        frame: str,
        *,
        reference: str = "world",
        axes: str = "world",
        point: Any = None,
        relative_to: str | None = None,
        p: Values = None,
        t: float = 0.0,
    ) -> Array:
        """(…, 6, nv) J̇, the rate of `jacobian(q, frame, …)` along q̇ = N v: the acceleration is J a + J̇ v.

        A given point rests in `reference`: name the frame itself there for a point that is fixed to it.
        """
        place = point_arguments.describe_point(self.compiled, frame, reference, axes, point, relative_to)
        return self._call(f"jacobian_rate:{place.detail}", q, v, place.point, p=p)

    def jacobian_rate_times_speed(
        self,
        q: Any,
        v: Any,
        frame: str,
        *,
        reference: str = "world",
        axes: str = "world",
        point: Any = None,
        relative_to: str | None = None,
        p: Values = None,
        t: float = 0.0,
    ) -> Array:
        """(…, 6) J̇ v, the acceleration of a frame at zero joint accelerations; options as for `jacobian_rate`."""
        place = point_arguments.describe_point(self.compiled, frame, reference, axes, point, relative_to)
        return self._call(f"jacobian_rate_times_speed:{place.detail}", q, v, place.point, p=p)

    def frames_jacobian(self, q: Any, *, p: Values = None, t: float = 0.0) -> Array:
        """(…, n, 6, nv) the Jacobians of all `frame_names`."""
        if self.compiled.program.symbolic.is_long:
            return np.stack([self.jacobian(q, name, p=p) for name in self.frame_names], axis=-3)
        return self._call("frames_jacobian", q, p=p)

    def frame_velocity(self, q: Any, v: Any, name: str, *, p: Values = None, t: float = 0.0) -> Array:
        """(…, 6) [ω; v] of the frame's origin, world axes; rad/s, m/s."""
        J = self.jacobian(q, name, p=p)
        return (J @ np.asarray(v, dtype=float)[..., None])[..., 0]

    def frame_acceleration(self, q: Any, v: Any, a: Any, frame: str, *, p: Values = None, t: float = 0.0) -> Array:
        """(…, 6) [ω̇; v̇] of the frame's origin, world axes, without gravity: J a + J̇ v; rad/s², m/s²."""
        return self._call("frame_acceleration:" + self.compiled.check_frame_name(frame), q, v, a, p=p)

    def inverse_kinematics(
        self,
        target: Any,
        frame: str | None = None,
        *,
        reference: str = "world",
        q: Any = None,
        p: Values = None,
        t: float = 0.0,
        all: bool = True,
        configuration: Any = None,
        free: Sequence[str] = (),
        locked: Sequence[str] = (),
        self_motion: Any = None,
        turns: str = "nearest",
        tolerance: float = 1e-9,
    ) -> Any:
        """Find positions in which a frame meets a target: all configurations by name where a closed form is known.

        target : (4, 4) pose or (3,) position of the frame, m; a `Pose`; {"position": …, "rotation": roll, pitch, yaw}
            or {"position": …, "quaternion": x, y, z, w}; poses (N, 4, 4) give an `InverseKinematicsArray`
        frame : default: the tool; reference : frame in which the target is given, as it is at q
        q : (nq,) position from which distances count; joints that do not move the frame keep its values; default: rest
        all : False for the solution nearest to q only
        configuration : "keep" (that of q), a `Configuration`, its text ("front up no-flip"), or parts, {"elbow": "up"}
        free : directions of the target that do not matter: of x, y, z, rx, ry, rz (one or all three rotations), along
            and about its axes; locked : joints that stay as in q
        self_motion : value of the redundant joint, or several (rad, m), or by name; default: that of q
        turns : "nearest", angles as near to q as whole turns within limits allow; or "limits", all turns within limits
        tolerance : error (m, rad) by forward kinematics up to which a position is a solution
        """
        return _find_solutions(
            self,
            target,
            frame,
            reference=reference,
            q=q,
            p=p,
            t=t,
            all=all,
            configuration=configuration,
            free=free,
            locked=locked,
            self_motion=self_motion,
            turns=turns,
            tolerance=tolerance,
        )

    def direct_kinematics(
        self,
        given: Mapping[str, float] | Sequence[str],
        frame: str | None = None,
        *,
        q: Any = None,
        p: Values = None,
        t: float = 0.0,
        all: bool = True,
        starts: int = 400,
    ) -> Any:
        """Find the poses of a frame in which the loops close for given coordinates: assembly modes, nearest to q first.

        The result is an `InverseKinematics`, whose solutions are modes numbered by the frame's place.

        given : values by coordinate, {"leg1.slide": 0.9, …}, or names of coordinates with their values in q
        frame : default: the tool; all : False for the mode nearest to q; starts : random poses from which to search
        """
        return _find_assembly_modes(self, given, frame, q=q, p=p, t=t, all=all, starts=starts)

    def self_motion(
        self,
        q: Any,
        frame: str | None = None,
        *,
        free: Sequence[str] = (),
        locked: Sequence[str] = (),
        p: Values = None,
        t: float = 0.0,
    ) -> Any:
        """Trace the positions through q (nq,) in which a frame keeps its pose, within the limits: `SelfMotionCurve`.

        frame : default: the tool; free : directions that need not be kept, of x, y, z, rx, ry, rz, along and about the
        frame's axes at q; locked : joints that stay. Raises ModelError unless exactly one motion keeps the pose.
        """
        return _trace_self_motion(self, q, frame, free=free, locked=locked, p=p, t=t)

    def singularities(
        self,
        q: Any,
        frame: str | None = None,
        *,
        scaling: str | None = None,
        part: Part | None = None,
        actuators: Sequence[str] | None = None,
        tool_speeds: tuple[float, float] = (1.0, 0.25),
        length: float | None = None,
        reach: float = 1.0,
        p: Values = None,
    ) -> Any:
        """Find the singular poses near a position, by name, with distance (rad, m) and lost direction.

        q : (nq,) gives `Singularities`; (N, nq) a `SingularitiesArray`
        frame : default: the tool; part : of its motion that counts, "both", "translation" or "rotation"; default: both,
            but the translation of arms that only position
        scaling : of the singular values: "speeds" (the default with speed limits), shares of `tool_speeds` (rad/s, m/s)
            that the joints' limits allow; "length" (default without), lengths divided by `length`, default: the
            machine's size; "separate", translation and rotation each
        actuators : joints or speeds; default: all joints of an open chain, else as many as there are degrees of freedom
        reach : share of a machine without named configurations up to which its smallest singular value is followed to
            zero; a smaller one saves time while a machine is dragged
        """
        options = {"scaling": scaling, "part": part, "actuators": actuators, "tool_speeds": tool_speeds}
        return _find_singularities(self, q, frame, length=length, reach=reach, p=p, **options)

    def rate(self, q: Any, v: Any, *, p: Values = None, t: float = 0.0) -> Array:
        """(…, nq) q̇; differs from v only for joints with quaternions."""
        return self._call("rate", q, v, p=p)

    def center_of_mass(self, q: Any, *, p: Values = None, t: float = 0.0) -> Array:
        """(…, 3) centre of mass of all bodies, including those fixed to the ground; world axes, m."""
        try:
            return self._call("center", q, p=p)
        except SimulationError:
            raise ModelError(
                "Nothing has mass, so there is no centre of mass.",
                remedy="Give a body a mass, or a density and a shape.",
            ) from None

    # --------------------------------------------------------------------------- dynamics

    def mass_matrix(self, q: Any, *, p: Values = None, t: float = 0.0) -> Array:
        """(…, nv, nv) M(q), armature included."""
        if p is None and self._in_one_piece:
            return self._mass_matrix_evaluator.call(q)
        return self.compiled.mass_matrix(q, p)

    @cached_property
    def _mass_matrix_evaluator(self) -> Evaluator:
        return self.compiled.evaluator("mass_matrix")

    def coriolis(self, q: Any, v: Any, *, p: Values = None, t: float = 0.0) -> Array:
        """(…, nv, nv) Coriolis matrix C from Christoffel symbols: C v + gravity(q) = bias(q, v, passive=False), and
        Ṁ − 2 C is skew-symmetric. In machines with loops that of the tree with its loops cut, as M is."""
        return self._call("coriolis", q, v, p=p)

    def christoffel(self, q: Any, *, p: Values = None, t: float = 0.0) -> Array:
        """(…, nv, nv, nv) coefficients Γ of the Coriolis matrix: C_ij = Σ_k Γ_ijk v_k. Symmetric in j and k, and then
        Christoffel symbols of the first kind, unless speeds are not rates of coordinates (joints with quaternions)."""
        return point_arguments.christoffel_coefficients(self.compiled, q, p)

    def momentum(
        self, q: Any, v: Any, about: str | Sequence[float] | Array = "center", *, p: Values = None, t: float = 0.0
    ) -> Array:
        """(…, 6) momentum [angular; linear] of all bodies, world axes, N·m·s and N·s; without rotors (armature).

        about : point of the angular momentum: "center" (of mass, as `center_of_mass`), a frame's origin, "world", or
        world coordinates (…, 3), m
        """
        return point_arguments.find_momentum(self.compiled, "momentum_about", (q, v), about, p)

    def momentum_matrix(
        self, q: Any, about: str | Sequence[float] | Array = "center", *, p: Values = None, t: float = 0.0
    ) -> Array:
        """(…, 6, nv) matrix A with A v = momentum(q, v, about); about the centre of mass: the centroidal momentum
        matrix."""
        return point_arguments.find_momentum(self.compiled, "momentum_matrix", (q,), about, p)

    def operational_mass(
        self, q: Any, frame: str, *, part: Part = "both", p: Values = None, t: float = 0.0
    ) -> OperationalMass:
        """(mass, inverse): mass Λ (…, m, m) that a frame opposes to accelerations, [ω; v] of its origin in world axes,
        and dynamically consistent inverse J̄ = M⁻¹ Jᵀ Λ (…, nv, m) of its Jacobian. Loops, constraints and drivers
        hold. Λ is a pseudoinverse: zero along directions in which the frame cannot move (Khatib 1987).

        part : "both" (m = 6), or "translation" or "rotation" alone (m = 3)
        Raises SimulationError where a joint moves no mass.
        """
        return operational_space.compute_operational_mass(self.compiled, q, self._task(q, frame, part, p), p)

    def null_space(self, q: Any, frame: str, *, part: Part = "both", p: Values = None, t: float = 0.0) -> Array:
        """(…, nv, nv) projection N = 1 − J̄ J of speeds on those that leave a frame where it is, and satisfy loops,
        constraints and drivers at rest; Nᵀ τ are the joint forces that do not accelerate the frame.

        part : "both", or "translation" or "rotation" alone
        Raises SimulationError where a joint moves no mass.
        """
        return operational_space.project_to_null_space(self.compiled, q, self._task(q, frame, part, p), p)

    def _task(self, q: Any, frame: str, part: Part, p: Values) -> Array:
        return operational_space.select_rows(self.jacobian(q, frame, p=p), part)

    def bias(self, q: Any, v: Any, *, p: Values = None, t: Any = 0.0, x: Any = None, passive: bool = True) -> Array:
        """(…, nv) h with M a + h = τ: Coriolis, centrifugal and gravity terms; with `passive` also passive joint
        forces, compressed elastic stops, and force elements. Friction of joints at rest and reaction-dependent friction
        are left out, since they depend on the accelerations."""
        if not passive:
            return self._call("bias_ideal", q, v, p=p, t=t, x=x)
        h = self._call("bias", q, v, p=p, t=t, x=x)
        if not self._has_friction_or_stops:
            return h
        from core.constraints import row_forces

        resists = row_forces.resisting_forces(self.compiled, q, v, np.zeros(self.nv), p, t, x, bearings=False)
        return h if resists is None else h - resists

    def gravity(self, q: Any, *, p: Values = None, t: float = 0.0) -> Array:
        """(…, nv) G(q) of M a + h = τ: joint forces that balance gravity alone in the open tree. For the fewer forces
        needed with loops and constraints see `inverse_dynamics(q, 0, 0, passive=False)`."""
        return self._call("gravity", q, p=p)

    def energy(self, q: Any, v: Any, *, p: Values = None, t: Any = 0.0, x: Any = None) -> Energy:
        """(kinetic, potential) energy, J: ½ vᵀ M v; potential energy of gravity (zero at the world's origin, without
        bodies fixed to the ground), of joint springs and force elements, and of compressed elastic stops."""
        both = self._call("energy", q, v, p=p, t=t, x=x)
        if not (self._has_friction_or_stops if p is not None else self._resting_test):
            return Energy(both[..., 0][()], both[..., 1][()])
        from core.constraints import row_forces

        return Energy(both[..., 0][()], (both[..., 1] + row_forces.elastic_stop_energy(self.compiled, q, p))[()])

    def inverse_dynamics(
        self,
        q: Any,
        v: Any,
        a: Any,
        *,
        p: Values = None,
        t: Any = 0.0,
        x: Any = None,
        passive: bool = True,
        actuators: Sequence[str] | None = None,
        wrenches: Mapping[str, Any] | None = None,
    ) -> Array:
        """(…, nv) joint forces that produce the accelerations `a`.

        wrenches : frame → (…, 6) [torque; force] that acts on it from outside, at its origin, world axes, N·m and N;
        it changes the forces by −Jᵀ F

        With loops or constraints the forces act at `actuators` (names of speeds; default: as many independent ones as
        there are freedoms), the other entries are zero; `a` must be consistent with what holds. They stand in the place
        of drivers; where there are more of them than freedoms, they are the smallest that do. Friction of joints that
        stay at rest is left out (see `inverse_dynamics_ranges`); of those that begin to slide, and of elastic stops
        that are pushed in, the forces are counted. Joints that are farther beyond such a stop than it gives way in a
        motion are named in a warning.
        """
        if wrenches:
            needed = self.inverse_dynamics(q, v, a, p=p, t=t, x=x, passive=passive, actuators=actuators)
            return needed - outer_wrenches.find_equivalent_forces(self.compiled, q, wrenches, actuators, p, passive)
        if p is None and passive and actuators is None and self.compiled.plain:
            return self._inverse_dynamics_evaluator.call(q, v, a)
        from core.constraints.motion_with_rows import forces_with_limit_warning

        return forces_with_limit_warning(self.compiled, q, v, a, actuators, p, passive, t, x)

    def inverse_dynamics_ranges(
        self,
        q: Any,
        v: Any,
        a: Any,
        *,
        p: Values = None,
        t: Any = 0.0,
        x: Any = None,
        actuators: Sequence[str] | None = None,
    ) -> ForceRanges:
        """(tau, tau_min, tau_max), each (…, nv): joint forces of `inverse_dynamics`, and their bounds while static
        friction and rigid stops keep joints at rest. Joints at rest with an acceleration start to slide, so their
        friction has a single value."""
        from core.constraints import force_ranges

        return force_ranges.compute_force_ranges(self.compiled, q, v, a, actuators, p, t, x)

    def forward_dynamics(
        self,
        q: Any,
        v: Any,
        tau: Any,
        *,
        p: Values = None,
        t: Any = 0.0,
        x: Any = None,
        passive: bool = True,
        motors: bool = False,
        wrenches: Mapping[str, Any] | None = None,
    ) -> Array:
        """(…, nv) accelerations produced by joint forces `tau`, with loops, constraints and drivers enforced. As in
        runs, static friction keeps joints at rest within its limits, and stops push back. `tau` acts on the joints;
        with `motors` it is the command of the motors, cut off at effort limits and reduced so that speeds do not exceed
        their limits.

        wrenches : frame → (…, 6) [torque; force] that acts on it from outside, at its origin, world axes, N·m and N
        Raises SimulationError naming the joint when it moves no mass.
        """
        if wrenches:
            outer_wrenches.refuse_motors(motors)
            tau = np.asarray(tau, dtype=float) + outer_wrenches.find_joint_forces(
                self.compiled, q, wrenches, p, passive
            )
            return self.forward_dynamics(q, v, tau, p=p, t=t, x=x, passive=passive)
        if motors:
            from core.constraints import motor_limits

            tau = motor_limits.clip_to_effort_limits(self.compiled, tau, p)
        elif p is None and passive and self._direct:
            return self._forward_dynamics_evaluator.call(q, v, tau)
        return self._compute_motion(q, v, tau, p, passive, t, x, motors)[0][0]

    def derivatives(
        self,
        q: Any,
        v: Any,
        tau: Any,
        *,
        p: Values = None,
        t: float = 0.0,
        x: Any = None,
        by: Sequence[str] | None = None,
    ) -> MotionDerivatives:
        """Exact derivatives of inverse and forward dynamics, at one state or an array of states: `tau_q`, `tau_v`,
        `tau_a`, `tau_p`, `a_q`, `a_v`, `a_tau`, `a_p`, and of the multipliers, `lambda_q` …, each computed on first
        use. Derivatives by q are along displacements (nv directions).

        by : names of the parameters of `…_p`; default: all independent ones
        """
        from core.constraints.motion_derivatives import MotionDerivatives

        return MotionDerivatives(self.compiled, q, v, tau, p, t, x, by)

    def linear_parameters(self, kinds: Sequence[str] = ("inertia",), *, p: Values = None) -> LinearParameters:
        """Parameters in which inverse dynamics is linear: names, symbols, units and the model's values, in the order of
        the columns of `regressor`. Ten for each moving body, in its frame: mass m, first moment mx, my, mz, inertia
        tensor about its origin Ixx, Ixy, Iyy, Ixz, Iyz, Izz (products −∫xy dm); for each joint one of each further
        kind.

        kinds : of "inertia", "armature", "damping", "friction" (dry, while it slides), "stiffness"
        """
        from core.mechanism import regressor

        return regressor.linear_parameters(self.compiled, kinds, p)

    @property
    def regressor_names(self) -> tuple[str, ...]:
        """Names of the columns of `regressor(q, v, a)`: "link3.m", "link3.mx" …, "link3.Izz"."""
        return self.linear_parameters().names

    def regressor(
        self,
        q: Any,
        v: Any,
        a: Any,
        *,
        kinds: Sequence[str] = ("inertia",),
        actuators: Sequence[str] | None = None,
        p: Values = None,
        t: Any = 0.0,
    ) -> Array:
        """(…, nv, m) regressor Y with inverse dynamics τ = Y π + terms of other parameters; m = 10 per moving body with
        the default kinds, in the order of `linear_parameters(kinds)`. Exact, without friction of joints at rest. With
        loops or constraints the rows of `actuators` are as in `inverse_dynamics`, the others zero.

        Raises ModelError in a point field of gravity, where the pull is not linear.
        """
        from core.mechanism import regressor

        return regressor.regressor(self.compiled, q, v, a, kinds, actuators, p)

    def base_parameters(
        self,
        kinds: Sequence[str] = ("inertia",),
        *,
        actuators: Sequence[str] | None = None,
        p: Values = None,
        seed: int = 0,
    ) -> BaseParameters:
        """Base parameters, the minimal combinations of parameters that determine inverse dynamics: `names` as formulas,
        `matrix`, `rank`, `columns` of the regressor that represent them, `values`; found from random states."""
        from core.mechanism import regressor

        return regressor.base_parameters(self.compiled, kinds, p, actuators, seed)

    @cached_property
    def _resting_test(self) -> RestingTest | None:
        from core.constraints import acting_states

        return acting_states.default_resting_test(self.compiled)

    @cached_property
    def _has_friction_or_stops(self) -> bool:
        from core.constraints import acting_states

        return acting_states.has_friction_or_stops(self.compiled)

    def _compute_motion(
        self, q: Any, v: Any, tau: Any, p: Values, passive: bool, t: Any, x: Any, motors: bool = False
    ) -> tuple[tuple[Array, Array], Array | None]:
        """Accelerations and multipliers; see `core.constraints.motion_with_rows`."""
        from core.constraints.motion_with_rows import constrained_motion_with_rows

        return constrained_motion_with_rows(self.compiled, q, v, tau, p, passive, t, x, motors)

    @cached_property
    def _inverse_dynamics_evaluator(self) -> Evaluator | GuardedFunction | GeneralPath:
        from core.constraints.motion_with_rows import inverse_dynamics_fast_path

        return inverse_dynamics_fast_path(self.compiled)

    @cached_property
    def _forward_dynamics_evaluator(self) -> Evaluator | GuardedFunction | GeneralPath:
        from core.constraints.motion_with_rows import forward_dynamics_fast_path

        return forward_dynamics_fast_path(self.compiled)

    def reactions(
        self,
        q: Any,
        v: Any,
        tau: Any,
        *,
        p: Values = None,
        t: Any = 0.0,
        x: Any = None,
        passive: bool = True,
        wrenches: Mapping[str, Any] | None = None,
    ) -> Reactions:
        """Joint → (…, 6) wrench that its parent side exerts on its child side, at b's origin, world axes, [torque;
        force]; the joint's own torque included. If constraints are redundant, the wrenches are those of minimum norm,
        and `note` says so.

        wrenches : frame → (…, 6) [torque; force] that acts on it from outside, at its origin, world axes, N·m and N
        """
        from core.constraints import reactions

        outer = None
        if wrenches:
            tau = np.asarray(tau, dtype=float) + outer_wrenches.find_joint_forces(
                self.compiled, q, wrenches, p, passive
            )
            outer = outer_wrenches.find_joint_wrenches(self.compiled, q, wrenches, p)
        motion, closing = self._compute_motion(q, v, tau, p, passive, t, x)
        return reactions.compute_reactions(self.compiled, q, v, *motion, p, passive, t, x, closing, outer)

    def constraint_forces(
        self, q: Any, v: Any, tau: Any, *, p: Values = None, t: Any = 0.0, x: Any = None, passive: bool = True
    ) -> dict[str, Array]:
        """Constraint or driver → (…, rows) forces in the direction in which the constrained quantity grows (N, N·m):
        the force of a rod pushes its ends apart, that of a joint driver is its motor's torque."""
        from core.constraints import reactions

        motion, closing = self._compute_motion(q, v, tau, p, passive, t, x)
        return reactions.compute_constraint_forces(self.compiled, q, v, *motion, p, passive, t, x, closing)

    def sensor(
        self, q: Any, v: Any, name: str, *, a: Any = None, p: Values = None, t: Any = 0.0
    ) -> tuple[Array, Array]:
        """(value, rate) of a motion sensor, (…,) or (…, components); a velocity sensor needs `a` for its rate, an
        acceleration sensor for its value."""
        from core.constraints import reactions

        return reactions.evaluate_sensor(self.compiled, q, v, name, a, p)

    # --------------------------------------------------------------------------- loops

    @property
    def cut_limits(self) -> tuple[CutLimit, ...]:
        """Limits of loop-closing joints."""
        from core.constraints.cut_coordinates import cut_limits

        return cut_limits(self.compiled)

    @property
    def solution_order(self) -> tuple[SolutionStep, ...]:
        """Order of solution: independent joints, loops closed analytically with their sources, and loops left to
        iteration."""
        from core.constraints.closed_forms.closed_forms import get_analytic_closure

        return get_analytic_closure(self.compiled.program).steps

    @property
    def constrained(self) -> bool:
        """True if there are loops, constraints or drivers."""
        return self.compiled.constrained

    def constraint_residual(self, q: Any, *, p: Values = None, t: Any = 0.0) -> Array:
        """(…, rows) residuals of cut joints, then of constraints and drivers (zero for those on speeds or accelerations
        only), m and rad; empty without constraints."""
        return self._call("constraint_residual", q, p=p, t=t)

    def constraint_jacobian(self, q: Any, *, p: Values = None, t: Any = 0.0) -> Array:
        """(…, rows, nv) G, the derivative of the residuals: their rate is G v with drivers at rest."""
        return self._call("constraint_jacobian", q, p=p)

    def assemble(
        self,
        q: Any,
        v: Any = None,
        *,
        p: Values = None,
        t: float = 0.0,
        fixed: Sequence[str] = (),
        weights: Mapping[str, float] | None = None,
        limits: bool = True,
    ) -> Any:
        """(…, nq) the position nearest to q that closes all loops and satisfies constraints and drivers at time t,
        inside all joint limits; with v: (q, v), with v (…, nv) made consistent.

        v : speeds by name, which are kept while all others follow, or all of them: those that are not zero are kept
        while zeros follow; if they contradict each other, the nearest are taken. Speeds that are neither given nor
        follow are zero
        fixed : joints that must not move, whose speeds are kept; weights : joint → unwillingness to move (default 1)
        limits : False for a position that is closed already, of a run, in which limits do not act: it stays where it is
        Raises AssemblyError naming the joint and the gap left, or the speed by name that contradicts what holds.
        """
        from core.constraints.assembly import assembled_state

        return assembled_state(self.compiled, q, v, p, fixed, weights or {}, t, limits)

    def speeds(self, q: Any, v: Mapping[str, float], *, p: Values = None, t: float = 0.0) -> Array:
        """(nv,) consistent speeds at a closed position: those given by name are kept, others follow from the
        constraints, and undetermined ones are zero.

        Raises AssemblyError naming the speed that contradicts what holds.
        """
        from core.constraints.consistent_motion import named_speeds

        return named_speeds(self.compiled, single_state(self.compiled, q), v, p, t)

    def accelerations(
        self,
        q: Any,
        v: Any,
        a: Mapping[str, float],
        *,
        p: Values = None,
        t: float = 0.0,
        steady: Sequence[str] = (),
    ) -> Array:
        """(nv,) consistent accelerations at a state: those given by name are kept, others follow from the constraints,
        and undetermined ones are zero, first of all those of the speeds named in `steady`.

        Raises AssemblyError naming the acceleration that contradicts what holds.
        """
        from core.constraints.consistent_motion import named_accelerations

        q, v = single_state(self.compiled, q), as_states(v, self.nv, "v")
        return named_accelerations(self.compiled, q, v, a, p, t, steady=steady)

    def move(
        self, q: Any, values: Mapping[str, Any], p: Values = None, *, t: float = 0.0, exact: bool = False
    ) -> Array:
        """(nq,) the closed position nearest to q in which the named coordinates have the given values (numbers, or
        strings with a unit); all others follow, on the present branch if a path leads there.

        Coordinates of one joint are moved as by hand: inside the limits, as far as the loops let them. exact : they
        have their values wherever they lead, limits of what is named or not, as those of several joints have in any
        case.
        The name of a following joint moves its leader.
        Raises AssemblyError naming the values that contradict each other or what holds, and how far they are apart; and
        where branches meet and nothing decides between them, naming the loop.
        """
        from core.constraints import named_positions

        return named_positions.move_to_values(self.compiled, single_state(self.compiled, q), values, p, t, exact)

    def mobility(self, q: Any = None, p: Values = None, t: float = 0.0, *, friction: bool = False) -> Mobility:
        """Degrees of freedom, redundant constraints by name, and free motions, at a pose (nq,), default the reference
        position: see `core.constraints.mobility.mobility`. friction : lock joints with dry friction, as by brakes"""
        from core.constraints.mobility.mobility import mobility

        return mobility(self.compiled, q, p, t, friction)
