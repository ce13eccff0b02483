"""Channels of a run by name: the part before the last dot names the element, the last word the quantity."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.codegen.graph_symbols import to_symbol
from core.constraints import cut_coordinates
from core.constraints.joint_modes import JointRowTable
from core.errors import ExpressionError, ModelError, find_likely_names
from core.mechanism import Mechanism
from core.model import JOINT_KINDS
from core.model.dimensions import common_dimension, rate_dimension
from core.model.formula.expression import Node, evaluate, names_in_formula, parse
from core.model.formula.formula_units import UNKNOWN, Dimension, dimension_by_name, formula_dimension
from core.model.signals import component_name
from core.simulation.events import contact_columns
from core.simulation.run import energy_ledger
from core.simulation.run.contact_channels import ContactChannels
from core.simulation.run.cut_torques import element_of_cut_torque
from core.simulation.run.element_channels import ElementChannels
from core.simulation.run.energy_ledger import LEDGER
from core.simulation.run.growing_rows import BLOCK, compute_in_blocks, concatenate, split_into_blocks

Array = NDArray[np.float64]

JOINT = ("q", "v", "a", "tau", "reaction")
STORED = JOINT[:3]
"""Joint quantities stored with the samples."""
FRAME = ("position", "orientation", "velocity", "omega", "acceleration", "alpha")
WHOLE = (
    "energy.kinetic",
    "energy.potential",
    "energy.total",
    *LEDGER,
    "momentum.linear",
    "momentum.angular",
    "constraint.residual",
)
_SINGLE = ("time", "energy.kinetic", "energy.potential", "energy.total", *LEDGER, "constraint.residual")
"""Channels of one column."""
_WHOLE_DIMENSIONS = {
    "time": ("time",),
    "t": ("time",),
    "energy.kinetic": ("energy",),
    "energy.potential": ("energy",),
    "energy.total": ("energy",),
    **dict.fromkeys(LEDGER, ("energy",)),
    "momentum.linear": ("momentum",) * 3,
    "momentum.angular": ("angular_momentum",) * 3,
    "constraint.residual": ("length",),
}
_FRAME_DIMENSIONS = {
    "position": ("length",) * 3,
    "orientation": ("none",) * 4,
    "velocity": ("velocity",) * 3,
    "omega": ("angular_velocity",) * 3,
    "acceleration": ("acceleration",) * 3,
    "alpha": ("angular_acceleration",) * 3,
}
_WRENCH = ("tx", "ty", "tz", "fx", "fy", "fz")
_COMPONENTS = {
    **dict.fromkeys(("position", "velocity", "omega", "acceleration", "alpha", "linear", "angular"), tuple("xyz")),
    "orientation": ("qx", "qy", "qz", "qw"),
    "reaction": _WRENCH,
}
MAGNITUDES = {"magnitude": tuple("xyz"), "force": _WRENCH[3:], "torque": _WRENCH[:3]}
"""Suffixes for magnitudes of vectors, and the components they are computed from."""
_OPERATORS = frozenset("+*/^()")
"""Characters that occur in formulas but not in channel names."""


class Samples(Protocol):
    """Protocol for states sampled along a time axis."""

    @property
    def time(self) -> Array: ...
    @property
    def q(self) -> Array: ...
    @property
    def v(self) -> Array: ...
    @property
    def a(self) -> Array: ...
    @property
    def tau(self) -> Array: ...
    @property
    def x(self) -> Array: ...
    @property
    def modes(self) -> Array: ...


class Channels:
    """Computes channels of samples and caches the results.

    joint.q, .v, .a (SI); .tau, the joint forces that were given and those of drivers;
    joint.reaction (n, 6) [torque; force] of the parent side on the child side at b's origin;
    frame.position (n, 3), .orientation (n, 4) quaternion x y z w, .velocity, .omega, .acceleration, .alpha
    (n, 3), all in world axes; energy.…, J, with the accounts of `core.simulation.run.energy_ledger`;
    momentum.…, N·s and N·m·s about the world's origin;
    constraint.residual (n,) largest gap of cut joints, constraints and drivers, m or rad; and those of
    `core.simulation.run.element_channels` and `core.simulation.run.contact_channels`, of which some are words. A suffix
    takes one column: tool.position.x, elbow.reaction.fz; or a magnitude: tool.velocity.magnitude, elbow.reaction.force
    """

    def __init__(self, mech: Mechanism, p: Array, samples: Samples) -> None:
        self.mech, self.samples = mech, samples
        self.p = None if np.array_equal(p, mech.parameter_values()) else p
        self._kept: dict[str, Array] = {}
        self._cut: dict[str, cut_coordinates.CutMotion] = {}
        self.modes = ContactChannels(mech, p, samples)
        self.elements = ElementChannels(mech, self.p, samples, self.modes.row_forces)
        self.elements.table.update(self.modes.table)
        self.balance_note = ""
        """A note on the balance of energy, once that was asked for."""
        self._moving = [name for name in mech.joint_names if self._degrees_of_freedom(name)]

    def replace_samples(self, p: Array, modes: JointRowTable) -> None:
        """Clear the cache for new samples of the machine with other parameter values. modes: contact rows of its
        joints, of the same kinds."""
        self.modes.replace_samples(p, modes)
        self.p = self.elements.p = None if np.array_equal(p, self.mech.parameter_values()) else p
        self.balance_note = ""
        self._kept.clear()
        self._cut.clear()
        self.elements.clear_cache()

    def _degrees_of_freedom(self, joint: str) -> int:
        try:
            v = self.mech.joint_v(joint)
        except (ModelError, KeyError):  # a cut or fixed joint has none of its own
            return 0
        return int(v.stop - v.start)

    def _quantities(self, joint: str) -> tuple[str, ...]:
        """Return the quantities of a joint of the tree; a joint that follows another has no force of its own."""
        return JOINT[:4] if self.mech.compiled.coordinates.coupling(joint)[0] == joint else JOINT[:3]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the names of all channels."""
        of_joints = [f"{name}.{what}" for name in self._moving for what in self._quantities(name)]
        cut = [name for name in self.mech.joint_names if cut_coordinates.closes_loop(self.mech.compiled, name)]
        of_joints += [f"{name}.{what}" for name in cut for what in JOINT[: 4 if self._cut_motors(name) else 3]]
        of_joints += [f"{name}.reaction" for name in self.mech.joint_names]
        of_frames = [f"{name}.{what}" for name in self.mech.frame_names for what in FRAME]
        return ("time", *of_joints, *self.elements.names, *self.modes.word_channels, *of_frames, *WHOLE)

    @property
    def default_channels(self) -> tuple[str, ...]:
        """Return the channels that a table contains by default."""
        of_joints = [f"{name}.{what}" for what in JOINT[:4] for name in self._moving if what in self._quantities(name)]
        return (*of_joints, *WHOLE[:3], *(WHOLE[-1:] if self.mech.constrained else ()))

    def components(self, channel: str, count: int) -> tuple[str, ...]:
        """Return the suffixes of a channel's columns."""
        if channel in self.elements.table and len(self.elements.table[channel].suffixes) == count:
            return self.elements.table[channel].suffixes
        owner, _, what = channel.rpartition(".")
        if what in _COMPONENTS:
            return _COMPONENTS[what]
        if what in JOINT[:4] and cut_coordinates.closes_loop(self.mech.compiled, owner):
            info = self.mech.model.expanded.find("joints", owner).info
            return info.coordinates if what == "q" else info.speeds
        joints = {c.name: c for c in self.mech.coordinates if c.joint == owner}
        if what == "q" and len(joints) == count:
            return tuple(name[len(owner) + 1 :] for name in joints)
        speeds = [name for name in self.mech.v_names if name.startswith(f"{owner}.")]
        return (
            tuple(name[len(owner) + 1 :] for name in speeds)
            if len(speeds) == count
            else tuple(map(str, range(1, count + 1)))
        )

    def dimension(self, channel: str) -> str:
        """Return the dimension of a channel, of one of its components, or of a formula; "none" if columns differ or if
        the unit of a formula has no name."""
        if (found := self._column_dimensions(channel)) is not None:
            return common_dimension(found)
        owner, _, part = channel.rpartition(".")
        found = self._column_dimensions(owner) if owner in self.names else None
        if found is None:
            return self.formula_dimension(channel).kind
        columns = dict(zip(column_suffixes(self, owner), found, strict=False))
        return columns.get(MAGNITUDES[part][0] if part in MAGNITUDES else part, "none")

    def formula_dimension(self, formula: str) -> Dimension:
        """Return the physical dimension of the value of a formula, as far as it is known."""
        try:
            return formula_dimension(parse(formula), self.name_dimension)
        except ExpressionError:
            return UNKNOWN

    def name_dimension(self, name: str) -> Dimension:
        """Return the dimension of a name in a formula: a channel, a component of one, a coordinate, or a parameter."""
        if name in self.mech.q_names:
            return dimension_by_name(self.dimension(f"{name}.q"))
        owner = name.rpartition(".")[0]
        if self._column_dimensions(name) is not None or owner in self.names:
            return dimension_by_name(self.dimension(name))
        return dimension_by_name(self._parameter_dimensions.get(name, "none"))

    @cached_property
    def _parameter_dimensions(self) -> dict[str, str]:
        """Return the dimension of each parameter."""
        return {each.name: each.dimension for each in self.mech.model.expanded.parameters}

    def _column_dimensions(self, channel: str) -> tuple[str, ...] | None:
        """Return the dimensions of a channel's columns; None if there is no such channel."""
        if channel in _WHOLE_DIMENSIONS:
            return _WHOLE_DIMENSIONS[channel]
        if channel in self.elements.table:
            return self.elements.table[channel].dimensions
        owner, _, what = channel.rpartition(".")
        if what in JOINT and owner in self.mech.joint_names:
            return self.coordinate_dimensions(owner, what)
        if what in FRAME and owner in self.mech.frame_names:
            return _FRAME_DIMENSIONS[what]
        columns = self.mech.q_names if what == "q" else self.mech.v_names
        if what in JOINT[:4] and owner in columns:
            joint = owner.rpartition(".")[0]
            return (self.coordinate_dimensions(joint, what)[columns.index(owner) - self._first_index(joint, what)],)
        return None

    def _first_index(self, joint: str, quantity: str) -> int:
        """Return the index of a joint's first coordinate or speed."""
        return int((self.mech.joint_q(joint) if quantity == "q" else self.mech.joint_v(joint)).start)

    def coordinate_dimensions(self, joint: str, quantity: str) -> tuple[str, ...]:
        """Return the dimensions of a joint's coordinates, speeds, accelerations, forces or reaction."""
        if quantity == "reaction":
            return ("torque",) * 3 + ("force",) * 3
        joints = self.mech.model.expanded.joints
        info = next((each.info for each in joints if each.name == joint), JOINT_KINDS["free"])
        if quantity == "q":
            return info.coordinate_dimensions
        second = tuple(map(rate_dimension, info.speed_dimensions))
        forces = tuple("torque" if each == "angular_velocity" else "force" for each in info.speed_dimensions)
        return {"v": info.speed_dimensions, "a": second, "tau": forces}[quantity]

    def __getitem__(self, channel: str) -> Array:
        if not isinstance(channel, str):
            raise ModelError(f"{channel!r} is not the name of a channel.", remedy="`run.channels` lists all channels.")
        if channel not in self._kept:
            words = channel in self.modes.word_channels
            values: Any = (
                self.modes.state_words(channel.removesuffix(".mode")) if words else self._compute_channel(channel)
            )
            values.setflags(write=False)
            self._kept[channel] = values
        return self._kept[channel]

    @property
    def _is_long(self) -> bool:
        """Return True if channels are computed block by block."""
        return len(self.samples.time) > BLOCK

    def _compute_channel(self, channel: str) -> Array:
        found = self._find_channel(channel)
        if found is None:
            return self._evaluate_formula(channel)
        return found[:] if self._is_long else np.array(found, dtype=float)

    def _find_channel(self, channel: str) -> Array | None:
        """Return the channel of this name; None if there is none."""
        if channel in ("time", "t"):
            return self.samples.time
        if channel in self.modes.word_channels:
            return self[channel]
        if channel in LEDGER:  # sums over all the run
            return self._whole_channel(channel)
        if self._is_long and self._is_channel(channel):
            return self._compute_long_channel(channel)
        if channel in WHOLE:
            return self._whole_channel(channel)
        if channel in self.elements.table:
            return self.elements.table[channel].compute()
        owner, _, what = channel.rpartition(".")
        if what in JOINT and owner in self.mech.joint_names:
            return self._joint_channel(owner, what)
        if what in FRAME and owner in self.mech.frame_names:
            return self._frame_channel(owner, what)
        for label, columns in (
            ("q", self.mech.q_names),
            ("v", self.mech.v_names),
            ("a", self.mech.v_names),
            ("tau", self.mech.v_names),
        ):
            if what == label and owner in columns:
                if label == "tau":
                    joint, at = owner.rpartition(".")[0], columns.index(owner)
                    return np.asarray(self[f"{joint}.tau"])[:, at - self.mech.joint_v(joint).start]
                return np.asarray(getattr(self.samples, label))[:, columns.index(owner)]
        return self._component(owner, what) if owner in self.names else None

    def _compute_long_channel(self, channel: str) -> Array:
        """Return a channel of a long run: stored columns directly, others computed block by block."""
        owner, _, what = channel.rpartition(".")
        as_it_lies = what in STORED or (what == "tau" and not self.mech.model.expanded.drivers)
        if as_it_lies and owner in self._moving and self.mech.compiled.coordinates.coupling(owner)[0] == owner:
            rows = getattr(self.samples, what)[:, (self.mech.joint_q if what == "q" else self.mech.joint_v)(owner)]
            return np.asarray(rows[:, 0] if rows.shape[1] == 1 else rows)
        if channel not in self._kept:
            given = self.mech.parameter_values() if self.p is None else self.p
            self._kept[channel] = compute_in_blocks(
                self.samples, lambda part: Channels(self.mech, given, part)[channel]
            )
        return self._kept[channel]

    def _is_channel(self, channel: str) -> bool:
        """Return True for the name of a whole channel, not of a component."""
        owner, _, what = channel.rpartition(".")
        of_joint = what in JOINT and owner in self.mech.joint_names
        of_frame = what in FRAME and owner in self.mech.frame_names
        return channel in WHOLE or channel in self.elements.table or of_joint or of_frame

    def _component(self, channel: str, suffix: str) -> Array | None:
        """Return one column of a channel with several, such as "tool.position.x"; None if there is no such column."""
        values = self[channel]
        suffixes = self.components(channel, _column_count(values)) if values.ndim > 1 else ()
        flat = values.reshape(len(values), -1)
        if suffix in suffixes:
            return flat[:, suffixes.index(suffix)]
        if suffix not in MAGNITUDES or not set(MAGNITUDES[suffix]) <= set(suffixes):
            return None
        places = [suffixes.index(part) for part in MAGNITUDES[suffix]]
        return concatenate(np.asarray(np.linalg.norm(rows[:, places], axis=1)) for rows in split_into_blocks(flat))

    def _whole_channel(self, channel: str) -> Array:
        q, v = self.samples.q, self.samples.v
        kind, _, part = channel.partition(".")
        if channel in LEDGER:
            found = energy_ledger.compute_energy(self, channel)
            if channel == energy_ledger.BALANCE:
                self.balance_note = energy_ledger.balance_note(self, found)
            return found
        if kind == "energy":
            return self._energy_channel(part)
        if kind == "momentum":
            both = self.mech.compiled.call("momentum", q, v, p=self.p)
            return both[:, 3:] if part == "linear" else both[:, :3]
        gaps = self.mech.constraint_residual(q, p=self.p, t=self.samples.time)
        return np.max(np.abs(gaps), axis=1, initial=0.0)

    def _energy_channel(self, part: str) -> Array:
        """Return an energy (n,), J. The energy in stops is the recorded one, because derived stiffnesses depend on the
        motion of the run."""
        q, v, states = self.samples.q, self.samples.v, self.elements.states
        if not self.modes.rows:
            return np.asarray(getattr(self.mech.energy(q, v, p=self.p, **states), part))
        kinetic, potential = np.moveaxis(self.mech.compiled.call("energy", q, v, p=self.p, **states), -1, 0)
        stored = self.modes.total(contact_columns.STORED)
        return np.asarray({"kinetic": kinetic, "potential": potential + stored}.get(part, kinetic + potential + stored))

    def _joint_channel(self, joint: str, quantity: str) -> Array:
        if quantity == "reaction":
            return self.elements.reactions()[joint]
        if cut_coordinates.closes_loop(self.mech.compiled, joint):
            return self._cut_joint_channel(joint, quantity)
        if not self._degrees_of_freedom(joint):
            raise ModelError(
                "The joint is fixed and has no coordinates.",
                where=f"joint '{joint}'",
                remedy="Use its reaction channel instead.",
            )
        leader = self.mech.compiled.coordinates.coupling(joint)[0]
        if quantity == "q":
            values = self.mech.coordinate(self.samples.q, joint, p=self.p)
        elif quantity == "tau" and leader != joint:
            raise ModelError(
                f"The joint follows '{leader}' and has no force of its own.",
                where=f"joint '{joint}'",
                remedy=f"Use '{leader}.tau' instead.",
            )
        else:
            values = (
                self.mech.following(joint, self.p)[0] * getattr(self.samples, quantity)[:, self.mech.joint_v(joint)]
            )
            values = values + self._driver_forces(joint, values.shape) if quantity == "tau" else values
        return values[:, 0] if values.shape[1] == 1 else values

    def _cut_joint_channel(self, joint: str, quantity: str) -> Array:
        """Return motion or force of a loop-closing joint, which drivers and joint forces given for it actuate."""
        if joint not in self._cut:
            s = self.samples
            moving = cut_coordinates.cut_joint_motion(self.mech.compiled, joint, s.q, s.v, s.a, self.p)
            self._cut[joint] = moving._replace(
                q=cut_coordinates.continuous_coordinates(self.mech.compiled, joint, s.time, moving)
            )
        moving = self._cut[joint]
        values = (
            self._driver_forces(joint, moving.v.shape) + self._cut_torques(joint, moving.v.shape)
            if quantity == "tau"
            else np.asarray(getattr(moving, quantity))
        )
        return values[:, 0] if values.shape[1] == 1 else values

    def _cut_torques(self, joint: str, shape: tuple[int, ...]) -> Array:
        """Return the joint forces (n, nv) given for a loop-closing joint."""
        forces = np.zeros(shape)
        for k, channel in self._cut_motors(joint).items():
            forces[:, k] -= self.elements.table[channel].compute()
        return forces

    def _cut_motors(self, joint: str) -> dict[int, str]:
        """Return the channels of the elements that exert the joint forces given for a loop-closing joint, by speed."""
        speeds = self.mech.model.expanded.find("joints", joint).info.speeds
        named = {k: f"{element_of_cut_torque(component_name(joint, suffix))}.force" for k, suffix in enumerate(speeds)}
        return {k: channel for k, channel in named.items() if channel in self.elements.table}

    def _driver_forces(self, joint: str, shape: tuple[int, ...]) -> Array:
        """Return the forces (n, nv) of the drivers that move a joint, or a joint that follows it: those of its
        motor."""
        forces, model = np.zeros(shape), self.mech.model.expanded
        for driver in model.drivers:
            if not driver.joint or self.mech.compiled.coordinates.coupling(driver.joint)[0] != joint:
                continue
            moved, where = model.find("joints", driver.joint), f"driver '{driver.name}'"
            at = self.mech.compiled.elements.coordinate_index(moved, driver.coordinate, where)
            ratio = self.mech.following(driver.joint, self.p)[0]
            forces[:, at] += ratio[..., 0] * self.elements.table[f"{driver.name}.force"].compute()
        return forces

    def _frame_channel(self, frame: str, quantity: str) -> Array:
        s = self.samples
        if quantity in ("position", "orientation"):
            poses = self.mech.frame(s.q, frame, p=self.p)
            return poses[:, :3, 3] if quantity == "position" else rotations_to_quaternions(poses[:, :3, :3])
        if quantity in ("velocity", "omega"):
            motion = self.mech.frame_velocity(s.q, s.v, frame, p=self.p)
            return motion[:, 3:] if quantity == "velocity" else motion[:, :3]
        motion = self.mech.compiled.call(f"frame_acceleration:{frame}", s.q, s.v, s.a, p=self.p)
        return motion[:, 3:] if quantity == "acceleration" else motion[:, :3]

    def _evaluate_formula(self, text: str) -> Array:
        """Evaluate a formula of channels and parameters."""
        try:
            node = parse(text)
        except ExpressionError:
            if set(text) & _OPERATORS:
                raise
            raise self._unknown_channel_error(text) from None
        values = dict(self.mech.model.values())
        if self.p is not None:
            values.update(zip(self.mech.p_names, self.p, strict=True))
        columns: dict[str, Array] = {}
        for name in sorted(names_in_formula(node)):
            column = self._find_channel(name)
            if column is None and name in self.mech.q_names:
                column = self.samples.q[:, self.mech.q_names.index(name)]
            if column is None and name not in values:
                raise self._unknown_channel_error(name)
            if column is not None:
                columns[name] = self._check_scalar_column(name, column)
        return _evaluate_at_samples(node, columns, values, len(self.samples.time))

    def _check_scalar_column(self, name: str, column: Array) -> Array:
        if name in self.modes.word_channels:
            raise ExpressionError(
                f"The values of '{name}' are text ({', '.join(self.modes.word_channels[name])}) and cannot be used in a"
                " formula.",
                where="channel",
                remedy="Use the channel alone, or the corresponding force in the formula.",
            )
        if column.ndim != 1:
            first = self.components(name, _column_count(column))[0]
            raise ExpressionError(
                f"'{name}' is a vector with several components.",
                where="channel",
                remedy=f"Use one component, such as '{name}.{first}'.",
            )
        return column

    def _unknown_channel_error(self, name: str) -> ModelError:
        owner, _, part = name.rpartition(".")
        if owner in self.names and (values := self[owner]).ndim > 1:
            suffixes = ", ".join(self.components(owner, _column_count(values)))
            return ModelError(f"'{owner}' has no component '{part}'.", remedy=f"It has {suffixes}.")
        close = find_likely_names(name, ("t", *self.names, *self.mech.model.values()))
        hint = f"Did you mean {', '.join(close)}?" if close else "`run.channels` lists all channels."
        return ModelError(f"There is no channel '{name}'.", remedy=hint)


def column_suffixes(channels: Channels, channel: str) -> tuple[str, ...]:
    """Return the suffixes of a channel's columns without computing it, such as "x", "y", "z" for "tool.position"; ()
    for one column.

    Raises ModelError for a channel that is none.
    """
    if channel not in channels.names:
        raise ModelError(f"There is no channel '{channel}'.")
    if channel in channels.elements.table:
        return channels.elements.table[channel].suffixes
    if channel in channels.modes.word_channels:
        return ()
    owner, _, what = channel.rpartition(".")
    if channel in _SINGLE or what in _COMPONENTS:
        return () if channel in _SINGLE else _COMPONENTS[what]
    mech = channels.mech
    if cut_coordinates.closes_loop(mech.compiled, owner):
        info = mech.model.expanded.find("joints", owner).info
        names = info.coordinates if what == "q" else info.speeds
        return names if len(names) > 1 else ()
    place = mech.joint_q(owner) if what == "q" else mech.joint_v(owner)
    count = place.stop - place.start
    return channels.components(channel, count) if count > 1 else ()


def _column_count(column: Array) -> int:
    return int(column.reshape(len(column), -1).shape[1])


def _evaluate_at_samples(node: Node, columns: dict[str, Array], values: dict[str, Any], count: int) -> Array:
    """Evaluate the formula at all samples: one expression graph, mapped over them."""
    symbols = {name: ca.SX.sym("x") for name in columns}
    result = ca.densify(to_symbol(evaluate(node, {**values, **symbols})))
    if not columns:
        return np.full(count, float(ca.evalf(result)))
    function: Callable[..., Any] = ca.Function("f", list(symbols.values()), [result])

    def evaluate_rows(rows: slice) -> Array:
        return np.array(function(*(ca.DM(column[rows]).T for column in columns.values())), dtype=float).reshape(-1)

    return concatenate(evaluate_rows(slice(first, first + BLOCK)) for first in range(0, max(count, 1), BLOCK))


def rotations_to_quaternions(rotations: Array) -> Array:
    """Convert rotation matrices (n, 3, 3) to quaternions (n, 4) x y z w whose signs do not jump."""
    from scipy.spatial.transform import Rotation as Turn

    result = np.array(Turn.from_matrix(rotations).as_quat(), dtype=float)
    signs = np.sign(np.sum(result[1:] * result[:-1], axis=1))
    result[1:] *= np.cumprod(np.where(signs < 0.0, -1.0, 1.0))[:, None]
    return result
