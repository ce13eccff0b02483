"""Identification of inverse-dynamics parameters from a motion with its forces: the fit, confidence intervals,
validation, and a physically consistent model."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.constraints.force_ranges import compute_joint_forces
from core.errors import ModelError, suggest_names
from core.identification.consistent_parameters import consistency_by_owner, nearest_consistent_parameters
from core.identification.linear_fit import METHODS, FitResult, LinearFit, Method, Validation, fit_linear
from core.identification.measured_motion import UNFILTERED, MeasuredMotion, Preparation, prepare_measured_motion
from core.identification.measured_trace import MeasuredTrace, build_trace
from core.later import dataclass
from core.mechanics.multibody.parameter_values import Values
from core.mechanism import Mechanism
from core.mechanism.regressor import BaseParameters, LinearParameters, base_parameters_from_regressor, random_motions
from core.model import Body, DHChain, Inertia, Joint, Model
from core.model.edits import edits
from core.numerics.spatial.inertia import Inertia as SpatialInertia
from core.numerics.spatial.inertia import Symmetric3, split_inertia
from core.numerics.spatial.vector import Vector3
from core.simulation.run.run import Run

Array = NDArray[np.float64]

DEFAULT_KINDS = ("inertia", "armature", "damping", "friction")
SEEN_FRACTION = 1e-7
"""Fraction of a regressor column that must be linearly independent of the other columns for its parameter to be
identifiable."""
SLOW_FRACTION = 1e-3
"""Fraction of a joint's largest speed below which the sign of its dry friction is uncertain."""
LEAST_KEPT_FRACTION = 0.7
"""Smallest fraction of the rows that must remain after slow rows are removed."""
LEAST_ENTRIES = 200


@dataclass(frozen=True, eq=False)
class Identification(FitResult):
    """Identified parameters of a machine.

    base : the combinations that were identified; fit : their estimate with its intervals; forces : names of the forces,
    in the order of the fit's; time (n,) of the rows of the fit; measured (n, m) forces there; validation : on rows held
    back, None without any;
    unseen : parameters that these data do not show, though other motions would; weak : base parameters whose interval
    is wider than their value; notes : how the data were made ready
    """

    mech: Mechanism
    base: BaseParameters
    fit: LinearFit
    forces: tuple[str, ...]
    time: Array
    measured: Array
    validation: Validation | None
    unseen: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the base parameters, as formulas."""
        return self.base.names

    @property
    def parameters(self) -> LinearParameters:
        """Standard parameters, with the model's values; the base parameters are combinations of them."""
        return self.base.parameters

    @cached_property
    def values(self) -> Array:
        """Physically consistent values (m,) of `parameters` for which the base parameters are as near to the estimate
        as possible."""
        return nearest_consistent_parameters(self.parameters, self.base.matrix, self.estimate, self.fit.covariance)

    @property
    def attained(self) -> Array:
        """Base parameters (r,) of `values`; they differ from the estimate if the estimate is physically
        inconsistent."""
        return np.asarray(self.base.matrix @ self.values)

    @cached_property
    def model(self) -> Model:
        """Model with the identified `values`."""
        return model_with_values(self.mech.model, self.parameters, self.values)

    @property
    def impossible(self) -> tuple[str, ...]:
        """Names of the bodies and joints whose values in the model before the fit were physically inconsistent."""
        return tuple(
            owner for owner, fine in consistency_by_owner(self.parameters, self.parameters.values).items() if not fine
        )


def identify(
    model: Model | Mechanism,
    data: str | os.PathLike[str] | Run | Mapping[str, Any] | MeasuredTrace,
    columns: Mapping[str, str] | None = None,
    *,
    kinds: Sequence[str] = DEFAULT_KINDS,
    only: Sequence[str] = (),
    method: Method = "weighted",
    preparation: Preparation = UNFILTERED,
    held_back: float = 0.25,
    p: Values = None,
) -> Identification:
    """Identify parameters of inverse dynamics from a motion with its forces.

    data : a file (CSV, HDF5), a run, or arrays by name; columns : signal → column, with units (`build_trace`)
    kinds : of parameters (`Mechanism.linear_parameters`); only : bodies and joints, default: all; what is not
    identified is as the model says
    method : "ordinary", "weighted" (noise of each force by itself) or "total" least squares
    held_back : part of the rows, at the end, on which the fit is tried

    Raises ModelError or SimulationError where the data are not enough.
    """
    mech = model if isinstance(model, Mechanism) else Mechanism(model)
    if method not in METHODS:
        raise ModelError(f"There is no method '{method}'.", where="method", remedy=suggest_names(method, METHODS))
    if not 0.0 <= held_back <= 0.8:
        raise ModelError(
            f"A fraction of {held_back:g} of the rows cannot be held back for validation.",
            where="held_back",
            remedy="Use 0 … 0.8.",
        )
    motion = prepare_measured_motion(mech, build_trace(mech, data, columns), preparation, p)
    return identify_motion(mech, motion, kinds=kinds, only=only, method=method, held_back=held_back, p=p)


def identify_motion(
    mech: Mechanism,
    motion: MeasuredMotion,
    *,
    kinds: Sequence[str] = DEFAULT_KINDS,
    only: Sequence[str] = (),
    method: Method = "weighted",
    held_back: float = 0.25,
    p: Values = None,
) -> Identification:
    """Identify parameters of inverse dynamics from a prepared motion."""
    known, places = select_parameters(mech, kinds, only, p)
    if "friction" in kinds:
        motion = _remove_slow_rows(mech, motion)
    forces = tuple(np.array(mech.v_names)[motion.measured])
    actuators = forces if mech.constrained else None
    Y, tau = build_equations(mech, motion, kinds, places, actuators, known.values, p)
    count = len(motion)
    used = count - round(held_back * count)
    base, unseen = identifiable_parameters(mech, Y[:used], known, kinds, places, actuators, p)
    own = Y[..., list(base.columns)]
    fit = fit_linear(own[:used], tau[:used], method)
    validation = None
    if used < count:
        whole = motion.tau[used:, motion.measured]
        predicted = whole - tau[used:] + own[used:] @ fit.estimate
        validation = Validation(motion.time[used:], whole, predicted)
    measured = motion.tau[:used, motion.measured]
    return Identification(mech, base, fit, forces, motion.time[:used], measured, validation, unseen, motion.notes)


def _remove_slow_rows(mech: Mechanism, motion: MeasuredMotion) -> MeasuredMotion:
    """Keep the rows in which every moving joint is fast enough for the sign of its dry friction to be certain; keep all
    rows if few would remain."""
    speed = np.abs(motion.v)
    fastest = np.max(speed, axis=0, initial=0.0)
    sure = np.all((speed > SLOW_FRACTION * fastest) | (fastest == 0.0), axis=1)
    if sure.all() or np.count_nonzero(sure) < LEAST_KEPT_FRACTION * len(motion):
        return motion
    note = (
        f"{np.count_nonzero(~sure)} rows in which a joint hardly moves are left out, "
        "because the sign of friction is uncertain there"
    )
    arrays = {name: getattr(motion, name)[sure] for name in ("time", "q", "v", "a", "tau")}
    return replace(motion, **arrays, notes=(*motion.notes, note))


def select_parameters(
    mech: Mechanism, kinds: Sequence[str], only: Sequence[str], p: Values = None
) -> tuple[LinearParameters, list[int]]:
    """Return the parameters of the named bodies and joints (default: all), and their indices among all parameters."""
    every = mech.linear_parameters(kinds, p=p)
    owners = {each.owner for each in every.parameters}
    wrong = next((name for name in only if name not in owners), None)
    if wrong is not None:
        raise ModelError(
            f"No parameter of the chosen kinds belongs to '{wrong}'.",
            where="only",
            remedy=suggest_names(wrong, sorted(owners)),
        )
    places = [k for k, each in enumerate(every.parameters) if not only or each.owner in only]
    return _select_parameters_by_index(every, places), places


def _select_parameters_by_index(all_parameters: LinearParameters, indices: Sequence[int]) -> LinearParameters:
    def select(entries: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(entries[k] for k in indices)

    wanted = tuple(all_parameters.parameters[k] for k in indices)
    names, symbols, units = select(all_parameters.names), select(all_parameters.symbols), select(all_parameters.units)
    return LinearParameters(wanted, names, symbols, units, all_parameters.values[list(indices)])


def build_equations(
    mech: Mechanism,
    motion: MeasuredMotion,
    kinds: Sequence[str],
    parameter_indices: Sequence[int],
    actuators: Sequence[str] | None,
    values: Array,
    p: Values = None,
) -> tuple[Array, Array]:
    """Build the linear equations: regressor Y (n, m, k), and measured forces (n, m) minus those of the parameters that
    keep the model's values."""
    q, v, a = motion.q, motion.v, motion.a
    Y = mech.regressor(q, v, a, kinds=kinds, actuators=actuators, p=p)[..., list(parameter_indices)]
    whole = compute_joint_forces(mech.compiled, q, v, a, actuators, p, True, motion.time)
    tau = motion.tau - (whole - Y @ values)
    return Y[:, motion.measured], tau[:, motion.measured]


def identifiable_parameters(
    mech: Mechanism,
    Y: Array,
    known: LinearParameters,
    kinds: Sequence[str],
    parameter_indices: Sequence[int],
    actuators: Sequence[str] | None,
    p: Values = None,
) -> tuple[BaseParameters, tuple[str, ...]]:
    """Return (base parameters that are identifiable from the data, names of the machine's base parameters that are
    not)."""
    count = max(40, LEAST_ENTRIES // max(mech.nv, 1), 3 * len(known.names) // max(mech.nv, 1) + 1)
    q, v, a, free = random_motions(mech.compiled, count, 0, p)
    random = Mechanism(free.model).regressor(q, v, a, kinds=kinds, actuators=actuators, p=p)[
        ..., list(parameter_indices)
    ]
    measured = [mech.v_names.index(name) for name in actuators] if actuators else list(range(mech.nv))
    whole = base_parameters_from_regressor(random[:, measured].reshape(-1, len(known.names)), known)
    own = Y[..., list(whole.columns)].reshape(-1, whole.rank)
    scale = np.linalg.norm(own, axis=0)
    seen = scale > SEEN_FRACTION * float(np.max(scale, initial=0.0))
    sigma = np.linalg.svd(own[:, seen] / scale[seen], compute_uv=False) if seen.any() else np.zeros(0)
    if seen.all() and len(sigma) and sigma[-1] > SEEN_FRACTION * sigma[0]:
        return whole, ()
    if not seen.any():
        raise ModelError("No joint moves in the trace.", where="trace", remedy="Give a trace in which the joints move.")
    found = base_parameters_from_regressor(Y.reshape(-1, len(known.names)), known, SEEN_FRACTION)
    unseen = tuple(name for name, column in zip(whole.names, whole.columns, strict=True) if column not in found.columns)
    return found, unseen


def model_with_values(model: Model, parameters: LinearParameters, values: Array) -> Model:
    """Return the model with other values: masses, centres and tensors of bodies, coefficients of joints, also those
    created by a DH chain. Raises ModelError for parts of a sub-assembly."""
    bodies: dict[str, dict[str, float]] = {}
    joints: dict[str, dict[str, float]] = {}
    for each, value in zip(parameters.parameters, values, strict=True):
        group = bodies if each.kind == "inertia" else joints
        group.setdefault(each.owner, {})[each.part] = float(value)
    fields = {name: _inertial_fields(own) for name, own in bodies.items()}
    for collection, found in (("bodies", fields), ("joints", joints)):
        for name, changes in found.items():
            model = _change_element(model, collection, name, changes)
    return model


def _inertial_fields(values: Mapping[str, float]) -> dict[str, Any]:
    h = Vector3(values["mx"], values["my"], values["mz"])
    I = Symmetric3(values["Ixx"], values["Iyy"], values["Izz"], values["Ixy"], values["Ixz"], values["Iyz"])
    mass, center, tensor = split_inertia(SpatialInertia(values["m"], h, I))
    named = Inertia(ixx=tensor.xx, iyy=tensor.yy, izz=tensor.zz, ixy=tensor.xy, ixz=tensor.xz, iyz=tensor.yz)
    return {"mass": mass, "center_of_mass": tuple(center), "inertia": named}


def _change_element(model: Model, collection: str, name: str, changes: Mapping[str, Any]) -> Model:
    own: tuple[Body | Joint, ...] = model.bodies if collection == "bodies" else model.joints
    if any(element.name == name for element in own):
        more = {"density": None} if collection == "bodies" else {}
        return edits.change(model, collection, name, **changes, **more)
    for chain in model.chains:
        row = _dh_chain_row(chain, collection, name)
        if row is not None:
            there = {field: value for field, value in changes.items() if hasattr(chain.rows[row], field)}
            rows = (*chain.rows[:row], replace(chain.rows[row], **there), *chain.rows[row + 1 :])
            return edits.replace(model, chain, replace(chain, rows=rows))
    if name in (member.name for member in model.expanded.joints) or collection == "bodies":
        raise ModelError(
            f"'{name}' belongs to a sub-assembly and is defined in its file.",
            where=name,
            remedy="Open that file and identify there, or leave it out.",
        )
    return model  # a free joint that the document does not have: it has no coefficients


def _dh_chain_row(chain: DHChain, collection: str, name: str) -> int | None:
    """Return the index of the chain's row that a body or joint belongs to."""
    if collection == "bodies":
        return chain.bodies.index(name) - 1 if name in chain.bodies[1:] else None
    named = [f"{chain.prefix}joint{k}" for k in range(1, len(chain.rows) + 1)]
    return named.index(name) if name in named else None
