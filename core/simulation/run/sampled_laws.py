"""Sampled signals in runs: times at which the integration stops, and states that change there.

`core.simulation.events.sampled_signals` evaluates them in machine code; functions of scripts are called here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from core.errors import SimulationError
from core.machine_code.outcome import STOPPED
from core.mechanics.multibody.number_reader import Numbers
from core.mechanism import Mechanism
from core.model.signal_laws import SampledSignal
from core.simulation.events.sampled_signals import NOISES, SAME_TIME, SampledSignals, sample_entry, set_stop_entry
from core.simulation.methods.step_state import StepState
from core.simulation.run.python_laws import Law, PythonLaw

Array = NDArray[np.float64]
Whole = NDArray[np.int64]


class SampledLaw:
    """A sampled signal with its period, delay and phase as numbers, and the indices of its states in x."""

    def __init__(self, sampled: SampledSignal, layer: int, numbers: Numbers, index: Mapping[str, int]) -> None:
        signal = sampled.signal
        self.sampled, self.layer, self.name, where = sampled, layer, signal.name, f"signal '{signal.name}'"
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
        self.function: PythonLaw | None = None
        """Function of a script that gives its forces."""

    def capacity(self, most: int) -> int:
        """Return how many samples wait for their delay at most; most: number of samples of a run at most."""
        return int(min(self.delay / self.period, most)) + 2


class SampledLaws:
    """All sampled signals of a run, which takes up to `most` steps."""

    def __init__(
        self, mech: Mechanism, p: Array, start: float, most: int, functions: Mapping[str, Law] | None = None
    ) -> None:
        table, elements = mech.compiled.elements.model.signal_table, mech.compiled.elements
        values = mech.model.expanded.values(dict(zip(mech.p_names, p.tolist(), strict=True)))
        numbers, index = Numbers(values, mech.model.origin), elements.signal_states
        self._update_names = list(elements.signal_updates)
        layers = table.sampled_order
        self.laws = [SampledLaw(each, k, numbers, index) for k, layer in enumerate(layers) for each in layer]
        for law in self.laws:
            if law.name in (functions or {}):
                law.function = PythonLaw((functions or {})[law.name], mech, p, law.sampled.signal)
        self._split = mech.nq, mech.nq + mech.nv
        self._evaluate: Callable[[int, float, int, int], int]
        self.record = self._allocate(start, len(layers), most)

    def _allocate(self, start: float, layers: int, most: int) -> SampledSignals:
        """Return the signals as machine code has them."""
        laws, column = self.laws, {name: k for k, name in enumerate(self._update_names)}

        def flat(read: Callable[[SampledLaw], Sequence[int]]) -> Whole:
            return np.array([k for law in laws for k in read(law)], dtype=np.int64)

        def offsets(read: Callable[[SampledLaw], Sequence[int]], sizes: Sequence[int] = (1,) * len(laws)) -> Whole:
            counts = (len(read(law)) * size for law, size in zip(laws, sizes, strict=True))
            return np.array([0, *accumulate(counts)], dtype=np.int64)

        rooms = [law.capacity(most) for law in laws]
        queues = offsets(lambda law: law.outputs, rooms)
        return SampledSignals(
            layers=layers,
            start=start,
            last=math.inf,
            timing=np.array([[law.period, law.delay, law.phase] for law in laws]),
            layer=flat(lambda law: [law.layer]),
            hosted=flat(lambda law: [int(law.function is not None)]),
            number=np.zeros(len(laws), dtype=np.int64),
            state_first=offsets(lambda law: law.states),
            state_at=flat(lambda law: law.states),
            state_from=flat(lambda law: [column[name] for name in law.sampled.states]),
            output_first=offsets(lambda law: law.outputs),
            output_at=flat(lambda law: law.outputs),
            output_from=flat(lambda law: [column[name] for name in law.sampled.outputs]),
            queue_first=queues,
            capacity=np.array(rooms),
            queued=np.zeros(len(laws), dtype=np.int64),
            waiting=np.zeros(queues[-1]),
            noise_first=offsets(lambda law: law.noises),
            noise_at=flat(lambda law: law.noises),
            noise_block=np.full(len(laws), -1),
            noises=np.zeros((NOISES, sum(len(law.noises) for law in laws))),
        )

    def attach(self, state: StepState) -> None:
        """Let the step loop of a run evaluate the signals."""
        state.samples, state.sample_of = self.record.place, sample_entry.address
        self._evaluate = sample_entry.call

    def set_end(self, state: StepState, end: float) -> None:
        """Set the end of the run, s; integration stops before it where a sample is due."""
        self.record.last = end
        set_stop_entry.call(state.place, end, 0, 0)

    def restart(self, time: float) -> None:
        """Go on from another state at a time. After the start, a state at the time of a sample is the one after it.
        Outputs that wait are dropped where other samples than these are the next ones."""
        record = self.record
        record.served = record.failed = -1
        for k, law in enumerate(self.laws):
            periods = (time - record.start - law.phase) / law.period
            after = math.floor(periods + SAME_TIME) + 1 if time > record.start else math.ceil(periods - SAME_TIME)
            if record.number[k] != max(0, after):
                record.number[k], record.queued[k] = max(0, after), 0

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes on controllers in Python for which no function was given."""
        return tuple(
            f"No function was given for the controller '{law.name}', so its forces are zero."
            for law in self.laws
            if law.sampled.signal.kind == "script" and law.function is None
        )

    def evaluate(self, state: StepState) -> None:
        """Evaluate the signals that are due at the state of a run. Raises SimulationError."""
        while self._evaluate(state.place, state.time, 0, 0) == STOPPED:
            if self.record.failed >= 0:
                raise SimulationError(
                    f"'{self._update_names[self.record.failed]}' is not a finite number at t = {state.time:.6g} s.",
                    where="signals",
                    remedy="Check its formula and its gains.",
                )
            self._serve(self.record.wanted, state)

    def _serve(self, layer: int, state: StepState) -> None:
        """Call the functions of scripts and draw the noise of the signals of a layer that are due."""
        record, t, y = self.record, state.time, state.y
        x = y[self._split[1] :]
        for k, law in enumerate(self.laws):
            number = int(record.number[k])
            time = record.start + law.phase + number * law.period
            if law.layer != layer or time > t + SAME_TIME * law.period:
                continue
            if law.noises and record.noise_block[k] != number // NOISES:
                record.noise_block[k] = number // NOISES
                draw = np.random.default_rng((abs(law.seed), number // NOISES))
                columns = slice(record.noise_first[k], record.noise_first[k + 1])
                record.noises[:, columns] = law.noise * draw.standard_normal((NOISES, len(law.noises)))
            if law.function is not None:
                x[law.states] = law.function.call(t, y[: self._split[0]], y[self._split[0] : self._split[1]], x)
        record.served = layer
