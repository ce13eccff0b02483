"""What a mechanism evaluates by: its functions, their machine code, time, and the states of force elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.codegen.evaluator import Array, Evaluator
from core.elements.time_argument import Splines, at_times
from core.errors import ModelError
from core.model import Model
from core.multibody.parameter_values import Values, parameter_values
from core.traces.program import Program
from core.traces.rest_states import at_rest


class Evaluation:
    """The functions of one model; the mechanics is in `Mechanism`."""

    def _setup(self, model: Model, program: Program) -> None:
        self.model = model
        self._program = program
        self._evaluators: dict[str, Evaluator] = {}
        self._splines: dict[bytes, Splines] = {}
        values = model.values()
        self.p_names: tuple[str, ...] = program.tracer.p_names
        self._p = np.array([values[name] for name in self.p_names], dtype=float)
        self.x_names: tuple[str, ...] = program.tracer.elements.x_names
        self.nx = len(self.x_names)
        """Number of first-order states of force elements."""
        program.constraint_rows  # noqa: B018  (what is wrong with constraints and drivers is said at once)
        self._plain = not (self.nx or program.tracer.clock.size or program.constraint_rows)
        """True if neither time nor states nor anything held counts."""

    def _failed(self, states: Sequence[Array], p: Array, out: Array) -> None:
        """Raise the message for a result that is not finite."""

    # --------------------------------------------------------------------------- time and states

    def clock(self, t: Any, p: Values = None) -> Array:
        """(…, nt) the time argument of functions at times t: t, then value, rate and second rate of every table and
        recorded signal; nt = 0 if nothing depends on time."""
        if not self._program.tracer.clock.size:
            return np.zeros((*np.shape(t), 0))
        return at_times(self.splines(p), t)

    def splines(self, p: Values = None) -> Splines:
        """The tables and recorded signals of drivers at parameter values (n_p,)."""
        row = self.parameter_values(p)
        if row.ndim > 1:
            raise ModelError("Tables take one set of parameter values, not one per state.", where="p")
        if row.tobytes() not in self._splines:
            values = self.model.values(dict(zip(self.p_names, row.tolist(), strict=True)))
            self._splines[row.tobytes()] = self._program.tracer.clock.splines(values)
        return self._splines[row.tobytes()]

    def x_rest(self, q: Any, *, p: Values = None, t: Any = 0.0, v: Any = None, near: Any = None) -> Array:
        """(…, nx) states of force elements at rest: junctions in balance; of a spring and damper in series the damper
        where it is at the spring's rest length, so that the spring has all the stretch; angles that count turns next to
        those of `near` (…, nx), default next to rest positions."""
        numbers = self._coordinates.numbers  # type: ignore[attr-defined]
        return at_rest(self._call, self._program.tracer, numbers, q, v, p, self.parameter_values(p), t, near)

    def x_rate(self, q: Any, v: Any, x: Any, *, p: Values = None, t: Any = 0.0) -> Array:
        """(…, nx) ẋ."""
        x = np.asarray(x, dtype=float)
        return self._call("states", p, q, v, np.concatenate([x, np.zeros_like(x)], axis=-1), t=t)

    def _further(self, evaluator: Evaluator, states: tuple[Any, ...], p: Values, t: Any, x: Any) -> list[Any]:
        """The arguments that follow q, v, u: states of force elements with their rates, time."""
        arguments = evaluator.signature.arguments
        missing = arguments[len(states) :]
        result: list[Any] = []
        if "x" in missing:
            q, v = (np.asarray(state, dtype=float) for state in states[:2])
            own = self.x_rest(q, p=p, t=t, v=v) if x is None else np.asarray(x, dtype=float)
            if own.shape[-1:] != (self.nx,):
                raise ModelError(
                    f"x has shape {own.shape}; {self.nx} numbers are needed.",
                    remedy="mech.x_names lists them in order.",
                )
            speed = self.x_rate(q, v, own, p=p, t=t)
            own, speed = np.broadcast_arrays(own, speed)
            result.append(np.concatenate([own, speed], axis=-1))
        if "t" in missing:
            result.append(self.clock(t, p))
        return result

    # --------------------------------------------------------------------------- code

    def compile(self, *functions: str, wait: bool = True) -> None:
        """Ask for machine code of functions (e.g. "forward_dynamics"; default: those used so far) and wait for it."""
        for function in functions:
            self._evaluator(function)
        if wait:
            self._program.wait(functions)

    @property
    def ready(self) -> bool:
        """True when every function used so far runs as machine code."""
        return self._program.ready(self._evaluators)

    @property
    def compile_times(self) -> dict[str, float]:
        """Seconds that machine code of each function took, from its trace."""
        return dict(self._program.compile_times)

    def parameter_values(self, p: Values = None) -> Array:
        """(…, n_p) all independent parameters: the model's values, replaced by those given."""
        return parameter_values(self.p_names, self._p, p)

    def _call(self, function: str, p: Values, *states: Any, t: Any = 0.0, x: Any = None) -> Array:
        evaluator = self._evaluators.get(function) or self._evaluator(function)
        if len(states) < len(evaluator.sizes):
            states = (*states, *self._further(evaluator, states, p, t, x))
        return evaluator(*states) if p is None else evaluator(*states, p=self.parameter_values(p))

    def _evaluator(self, function: str) -> Evaluator:
        evaluator = self._evaluators.get(function)
        if evaluator is None:
            evaluator = self._program.evaluator(function, self._p)
            if evaluator.signature.checked:
                evaluator.failed = self._failed
            self._evaluators[function] = evaluator
        return evaluator
