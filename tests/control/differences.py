"""Differences of the nonlinear response: what small motions about a state are, found without any derivative."""

import dataclasses
from functools import cached_property

import numpy as np

from core.constraints.multipliers import solve_constrained_motion
from core.control.outputs import SampledState
from core.mechanism import Mechanism
from core.model import Force, Parameter
from core.model.edits import edits
from core.simulation.run.channels import Channels

STEP = 2e-5


class Nonlinear:
    """Accelerations and outputs of a machine at states near one, by the equations that runs integrate."""

    def __init__(self, model, system, outputs, p=None, v=None):
        self.model, self.system, self.outputs, self.p = model, system, outputs, dict(p or {})
        self.pushes: dict[str, str] = {}
        self.v = system.v if v is None else v

    def at(self, state=None, inputs=None):
        """(ẋ, y) with deviations (n,) of the state and of inputs by name."""
        mech, inputs = self.mech, dict(inputs or {})
        system = self.system
        k = len(system.coordinates)
        x = np.zeros(2 * k) if state is None else np.asarray(state[: 2 * k], dtype=float)
        p = {**self.p}
        p |= {name: self._parameter(name) + value for name, value in inputs.items() if name in mech.p_names}
        p |= {self.pushes[name]: value for name, value in inputs.items() if name in self.pushes}
        chosen = [mech.v_names.index(name) for name in system.coordinates]
        displacement = np.zeros(mech.nv)
        displacement[chosen] = x[:k]
        q = mech.integrate(system.q, displacement)
        fixed = [mech.v_names[i] for i in chosen]
        if mech.constrained:
            q = self._closed(mech, q, p, chosen)
        speeds = {name: self.v[i] + x[k + n] for n, (name, i) in enumerate(zip(fixed, chosen, strict=True))}
        v = self._speeds(mech, q, p, chosen, np.array(list(speeds.values())))
        tau = system.tau.copy()
        for name, value in inputs.items():
            if name.endswith(".tau") and name.removesuffix(".tau") in mech.v_names:
                tau[mech.v_names.index(name.removesuffix(".tau"))] += value
        own = system.x0[2 * k :] + (0.0 if state is None else np.asarray(state)[2 * k :])
        a, _ = solve_constrained_motion(mech.compiled, q, v, tau, p, True, 0.0, own if len(own) else None)
        samples = SampledState(np.zeros(1), *(each[None] for each in (q, v, a, tau, own)))
        channels = Channels(mech, mech.parameter_values(p), samples)
        y = np.concatenate([np.asarray(channels[name], dtype=float).reshape(-1) for name in self.outputs])
        rate = mech.x_rate(q, v, own, p=p) if len(own) else np.zeros(0)
        return np.concatenate([v[chosen], a[chosen], rate]), y

    def _closed(self, mech, q, p, chosen):
        """The closed pose with these coordinates, by Newton's method on what holds."""
        rest = [i for i in range(mech.nv) if i not in chosen]
        for _ in range(20):
            gap = np.asarray(mech.constraint_residual(q, p=p))
            G = np.asarray(mech.constraint_jacobian(q, p=p))
            step = np.zeros(mech.nv)
            step[rest] = -np.linalg.lstsq(G[:, rest], gap, rcond=1e-10)[0]
            q = mech.integrate(q, step)
            if np.max(np.abs(step), initial=0.0) < 1e-14:
                break
        return q

    def _speeds(self, mech, q, p, chosen, given):
        v = np.zeros(mech.nv)
        v[chosen] = given
        if mech.constrained:
            rest = [i for i in range(mech.nv) if i not in chosen]
            G = np.asarray(mech.constraint_jacobian(q, p=p))
            drift = np.asarray(mech.compiled.call("constraint_time", p=p, t=0.0)) if len(G) else np.zeros(0)
            v[rest] = -np.linalg.lstsq(G[:, rest], G[:, chosen] @ given + drift, rcond=1e-10)[0]
        return v

    def _parameter(self, name):
        return self.p.get(name, self.model.values()[name])

    @cached_property
    def mech(self):
        """The machine with wrenches on frames and further gravity, as parameters: one for all differences."""
        model = self.model.expanded
        for name in self.system.input_names:
            head, _, axis = name.rpartition(".")
            if head != "gravity" and not head.endswith((".force", ".torque")):
                continue
            parameter = self.pushes[name] = f"pushed{len(self.pushes)}"
            model = edits.add(model, Parameter(name=parameter, value=0.0))
            if head == "gravity":
                g = list(model.world.gravity.acceleration)
                g["xyz".index(axis)] = f"{g['xyz'.index(axis)]} + {parameter}"
                gravity = dataclasses.replace(model.world.gravity, acceleration=tuple(g))
                model = dataclasses.replace(model, world=dataclasses.replace(model.world, gravity=gravity))
            else:
                frame, _, kind = head.rpartition(".")
                wrench = [0.0] * 3
                wrench["xyz".index(axis)] = parameter
                model = edits.add(model, Force(name=parameter, kind="wrench", b=frame, **{kind: tuple(wrench)}))
        return Mechanism(model)

    def matrices(self):
        """A, B, C, D by central differences of second and fourth order together (Richardson)."""
        n, m = len(self.system.A), len(self.system.input_names)
        columns = []
        for k in range(n + m):
            coarse, fine = (self._difference(k, n, step) for step in (2.0 * STEP, STEP))
            columns.append((4.0 * fine - coarse) / 3.0)
        both = np.array(columns).T
        return both[:n, :n], both[:n, n:], both[n:, :n], both[n:, n:]

    def _difference(self, k, n, step):
        def moved(amount):
            if k < n:
                state = np.zeros(n)
                state[k] = amount
                return np.concatenate(self.at(state))
            return np.concatenate(self.at(None, {self.system.input_names[k - n]: amount}))

        return (moved(step) - moved(-step)) / (2.0 * step)
