"""Sampled signals in runs: times at which the integration stops, and states that change there.

At a sample all due signals are evaluated, those that use outputs of others after these; what they give is applied after
their delay and held until the next time. Between samples the states of sampled signals are constant.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from core.errors import SimulationError
from core.mechanics.multibody.number_reader import Numbers
from core.mechanism import Mechanism
from core.model.signal_laws import SampledSignal
from core.simulation.run.python_laws import Law, PythonLaw

Array = NDArray[np.float64]

SAME_TIME = 1e-9
"""Share of a period within which times of samples are the same."""


class SampledLaw:
    """A sampled signal with its period, delay and phase as numbers, and the indices of its states in x."""

    def __init__(self, sampled: SampledSignal, numbers: Numbers, index: Mapping[str, int], columns: Mapping[str, int]):
        signal = sampled.signal
        self.sampled, self.name, where = sampled, signal.name, f"signal '{signal.name}'"
        self.period = float(numbers.scalar(signal.period or 0.0, f"{where}, period"))
        self.delay = float(numbers.scalar(signal.delay, f"{where}, delay"))
        self.phase = float(numbers.scalar(signal.phase, f"{where}, phase"))
        self.noise = float(numbers.scalar(signal.noise, f"{where}, noise"))
        self.seed = int(float(numbers.scalar(signal.seed, f"{where}, seed")))
        for field, value, least in (
            ("period", self.period, 1e-9),
            ("delay", self.delay, 0.0),
            ("phase", self.phase, 0.0),
        ):
            if not (math.isfinite(value) and value >= least):
                raise SimulationError(
                    f"A {field} of {value:g} s is not possible.",
                    where=f"{where}, {field}",
                    remedy="Give a positive time." if field == "period" else "Give 0 or a positive time.",
                )
        self.states = [index[name] for name in sampled.states]
        self.outputs = [index[name] for name in sampled.outputs]
        self.noises = [index[name] for name in sampled.noises]
        self.of_states = [columns[name] for name in sampled.states]
        self.of_outputs = [columns[name] for name in sampled.outputs]
        self.function: PythonLaw | None = None
        """Function of a script that gives its forces."""
        self.number = 0
        """Number of the next sample."""

    def sample_time(self, start: float) -> float:
        """Return the time of the next sample, s."""
        return start + self.phase + self.number * self.period


class SampledLaws:
    """All sampled signals of a run. next_time : s, at which the run stops next"""

    def __init__(self, mech: Mechanism, p: Array, start: float, functions: Mapping[str, Law] | None = None) -> None:
        table, elements = mech.compiled.elements.model.signal_table, mech.compiled.elements
        values = mech.model.expanded.values(dict(zip(mech.p_names, p.tolist(), strict=True)))
        numbers, columns = Numbers(values, mech.model.origin), {name: k for k, name in enumerate(table.updates)}
        self.mech, self.p, self.start = mech, p, start
        self.layers = [
            [SampledLaw(each, numbers, elements.signal_states, columns) for each in layer]
            for layer in table.sampled_order
        ]
        self.laws = [law for layer in self.layers for law in layer]
        self._pending: list[tuple[float, int, list[int], Array]] = []
        """Outputs that are to be applied: time, order, indices in x, values."""
        self._count = 0
        self._own = np.zeros(2 * mech.nx)
        self._own_numbers = np.array_equal(p, mech.parameter_values())
        """True if all parameters have the values of the model."""
        for law in self.laws:
            if law.name in (functions or {}):
                law.function = PythonLaw((functions or {})[law.name], mech, p, law.sampled.signal)

    def restart(self, time: float) -> None:
        """Go on from another state at a time; outputs that were to be applied are dropped."""
        self._pending.clear()
        for law in self.laws:
            law.number = max(0, math.ceil((time - self.start - law.phase) / law.period - SAME_TIME))

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes on controllers in Python for which no function was given."""
        return tuple(
            f"No function was given for the controller '{law.name}', so its forces are zero."
            for law in self.laws
            if law.sampled.signal.kind == "script" and law.function is None
        )

    @property
    def next_time(self) -> float:
        """Return the time, s, of the next sample or output."""
        times = [law.sample_time(self.start) for law in self.laws]
        return min([*times, *(entry[0] for entry in self._pending[:1])], default=math.inf)

    def apply(self, t: float, q: Array, v: Array, x: Array) -> None:
        """Change the states x (nx,) at a time: apply outputs that are due, then evaluate the signals that are due."""
        self._apply_outputs(t, x)
        for layer in self.layers:
            due = [law for law in layer if self._is_due(law, t)]
            if due:
                self._evaluate(due, t, q, v, x)
                self._apply_outputs(t, x)

    def _is_due(self, law: SampledLaw, t: float) -> bool:
        return law.sample_time(self.start) <= t + SAME_TIME * law.period

    def _apply_outputs(self, t: float, x: Array) -> None:
        while self._pending and self._pending[0][0] <= t + 1e-12 * max(abs(t), 1.0):
            _, _, indices, values = heapq.heappop(self._pending)
            x[indices] = values

    def _evaluate(self, due: list[SampledLaw], t: float, q: Array, v: Array, x: Array) -> None:
        for law in due:
            if law.noises:
                draw = np.random.default_rng((abs(law.seed), law.number)).standard_normal(len(law.noises))
                x[law.noises] = law.noise * draw
            if law.function is not None:
                x[law.states] = law.function.call(t, q, v, x)
        new = self.compute_updates(t, q, v, x)
        for law in due:
            x[law.states] = new[law.of_states]
            self._count += 1
            applied = law.sample_time(self.start) + law.delay
            heapq.heappush(self._pending, (applied, self._count, law.outputs, new[law.of_outputs]))
            law.number += 1

    def compute_updates(self, t: float, q: Array, v: Array, x: Array) -> Array:
        """Return the states of all sampled signals after a sample. Raises SimulationError unless they are finite."""
        compiled, n = self.mech.compiled, len(x)
        evaluator = compiled.evaluator("signal_updates")
        arguments = [q, v]
        if "x" in evaluator.signature.arguments:  # rates of states are not among what signals use
            self._own[:n] = x
            arguments.append(self._own)
        if "t" in evaluator.signature.arguments:
            arguments.append(compiled.time_argument(t, self.p))
        new = np.asarray(
            evaluator.call(*arguments) if self._own_numbers else evaluator.evaluate_general(arguments, self.p)
        )
        if not np.isfinite(new).all():
            names = list(self.mech.compiled.elements.signal_updates)
            name = names[int(np.argmin(np.isfinite(new)))]
            raise SimulationError(
                f"'{name}' is not a finite number at t = {t:.6g} s.",
                where="signals",
                remedy="Check its formula and its gains.",
            )
        return new
