"""State feedback that minimises a quadratic cost (LQR): w = u0 − K (x − x0) with minimal ∫ xᵀ Q x + wᵀ R w dt.

The gain solves the algebraic Riccati equation (Kalman, 1960; Anderson and Moore, Optimal Control, 3). Applied, it is
part of the document: a controller with a formula per actuator, and a parameter per gain, so that each is a slider.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.control.linear_system import LinearSystem
from core.errors import ModelError, suggest_names
from core.model import ControlledJoint, Model, Parameter, Signal
from core.model.edits import edits
from core.model.model import signal_names

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
Weights = Mapping[str, float] | ArrayLike | None

NO_GAIN = 1e-12
"""Fraction of the largest gain below which a gain is omitted from the formulas."""


@dataclass(frozen=True, eq=False)
class Feedback:
    """LQR feedback. K : (m, n) gains, SI; cost : (n, n) P, where xᵀ P x is the cost from x; poles : (n,) of the closed
    loop, 1/s; system : controlled system; Q : (n, n) and R : (m, m) weights."""

    K: Array
    cost: Array
    poles: Complex
    system: LinearSystem
    Q: Array
    R: Array

    @property
    def weights(self) -> tuple[tuple[str, float, str], ...]:
        """Weights as (state or input, weight of its square, unit), with units that make all terms of the cost
        dimensionless."""
        s = self.system
        groups = (s.state_names, np.diag(self.Q), s.units.states), (s.input_names, np.diag(self.R), s.units.inputs)
        return tuple(
            (name, float(weight), _inverse_square_unit(unit))
            for names, weights, units in groups
            for name, weight, unit in zip(names, weights, units, strict=True)
        )

    def gain(self, input_name: str, state_name: str) -> float:
        """Return one entry of K by the names of input and state."""
        return float(self.K[self.system.input_names.index(input_name), self.system.state_names.index(state_name)])

    def closed_loop(self) -> LinearSystem:
        """Return the closed-loop system ẋ = (A − B K) x; its inputs are added to the feedback."""
        import dataclasses

        s = self.system
        return dataclasses.replace(s, A=s.A - s.B @ self.K, C=s.C - s.D @ self.K, modes=())

    def applied(self, model: Model) -> Model:
        """Return the model with the feedback as a controller of its joints, and as laws of its force elements.

        Raises ModelError where an input or a state has no place in a formula.
        """
        s = self.system
        names = signal_names(model.expanded)
        for k, state in enumerate(s.state_names):
            if state not in names and np.max(np.abs(self.K[:, k]), initial=0.0) > self._largest_negligible_gain:
                raise ModelError(
                    f"The state '{state}' has no name that a formula can use.",
                    where="feedback",
                    remedy="Linearise with joint coordinates as independent coordinates (option `coordinates`).",
                )
        rows: list[ControlledJoint] = []
        for name in s.input_names:
            model, row = self._add_law(model, name)
            rows += [] if row is None else [row]
        if not rows:
            return model
        law = edits.unused_name(model, "signals", "feedback")
        return edits.add(model, Signal(name=law, kind="formulas", joints=tuple(rows)))

    @property
    def _largest_negligible_gain(self) -> float:
        return NO_GAIN * float(np.max(np.abs(self.K), initial=0.0))

    def _add_law(self, model: Model, name: str) -> tuple[Model, ControlledJoint | None]:
        """Return the model with the gains of one input, and its law in a joint; that of a force element is added."""
        s, m = self.system, self.system.input_names.index(name)
        owner, _, what = name.rpartition(".")
        if what not in ("tau", "input"):
            raise ModelError(
                f"The input '{name}' cannot be given by a formula.",
                where="feedback",
                remedy="Use joint.tau, or force.input of a force element.",
            )
        terms = [repr(float(s.u0[m]))] if s.u0[m] else []
        for n, state in enumerate(s.state_names):
            if abs(self.K[m, n]) <= self._largest_negligible_gain:
                continue
            parameter = edits.unused_name(model, "parameters", f"gain_{name}_{state}".replace(".", "_"))
            model = edits.add(
                model, Parameter(name=parameter, value=float(self.K[m, n]), description=f"{name} by {state}")
            )
            x0 = float(s.x0[n])
            terms.append(f"-{parameter}*({state}{-x0:+.17g})" if x0 else f"-{parameter}*{state}")
        law = " ".join(f"+ {term}" if k and term[0] != "-" else term for k, term in enumerate(terms)) or "0"
        if what == "input":
            old = model.find("forces", owner)
            joined = law if old.law is None else f"({old.law}) + ({law})"
            return edits.change(model, "forces", owner, law=joined), None
        joint, coordinate = _joint_and_coordinate(model, owner)
        return model, ControlledJoint(joint=joint, coordinate=coordinate, force=law)


def _joint_and_coordinate(model: Model, speed: str) -> tuple[str, str]:
    """Return (joint, coordinate) for the name of a speed."""
    joints = {joint.name for joint in model.expanded.joints}
    if speed in joints:
        return speed, ""
    joint, _, coordinate = speed.rpartition(".")
    if joint not in joints:
        raise ModelError(
            f"'{speed}' does not belong to a joint of the document.",
            where="feedback",
            remedy="Connect the body by a joint.",
        )
    return joint, coordinate


def lqr(system: LinearSystem, Q: Weights = None, R: Weights = None) -> Feedback:
    """Compute the LQR gain for Q (n, n), (n,) or by state name, and R (m, m), (m,) or by input name; weights default to
    1.

    Raises ModelError where the inputs do not reach a mode that grows, or weights have the wrong shape or sign.
    """
    import scipy.linalg

    weights = _weight_matrix(Q, system.state_names, "state"), _weight_matrix(R, system.input_names, "input")
    if not system.input_names:
        raise ModelError("The system has no inputs.", where="inputs", remedy="Name inputs when linearising.")
    spectrum = np.linalg.eigvalsh(weights[0]) if len(weights[0]) else np.zeros(1)
    if spectrum[0] < -NO_GAIN * max(1.0, spectrum[-1]):
        raise ModelError("Q is not positive semidefinite.", where="Q", remedy="Give states weights of at least 0.")
    if np.linalg.eigvalsh(weights[1])[0] <= 0.0:
        raise ModelError("R is not positive definite.", where="R", remedy="Give each input a weight above 0.")
    try:
        cost = scipy.linalg.solve_continuous_are(system.A, system.B, *weights)
    except (np.linalg.LinAlgError, ValueError):
        remarks = [text for text in system.remarks() if "not controllable" in text]
        raise ModelError(
            "No optimal feedback was found for this linear system: "
            + (" ".join(remarks) or "its Riccati equation was not solved."),
            where="feedback",
            remedy="Add inputs, or weights on the states that drift.",
        ) from None
    K = np.linalg.solve(weights[1], system.B.T @ cost)
    poles = np.linalg.eigvals(system.A - system.B @ K).astype(complex)
    return Feedback(K, cost, poles[np.argsort(np.abs(poles))], system, *weights)


def _inverse_square_unit(unit: str) -> str:
    if not unit:
        return ""
    return f"1/({unit})²" if set(unit) & set("/·") else f"1/{unit}²"


def _weight_matrix(weights: Any, names: tuple[str, ...], weight_name: str) -> Array:
    if weights is None:
        return np.eye(len(names))
    if isinstance(weights, Mapping):
        weights = {f"{name}.q" if f"{name}.q" in names else name: value for name, value in weights.items()}
        unknown = next((name for name in weights if name not in names), None)
        if unknown is not None:
            raise ModelError(
                f"The system has no {weight_name} '{unknown}'.",
                where="weights",
                remedy=suggest_names(str(unknown), names),
            )
        return np.diag([float(weights.get(name, 0.0 if weight_name == "state" else 1.0)) for name in names])
    array = np.asarray(weights, dtype=float)
    array = np.diag(array) if array.ndim == 1 else array
    if array.shape != (len(names), len(names)):
        raise ModelError(
            f"Weights of {weight_name}s have the shape {array.shape}; ({len(names)}, {len(names)}) is needed.",
            where="weights",
            remedy=f"Give one per {weight_name}: {', '.join(names)}.",
        )
    return array
