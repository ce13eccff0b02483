"""Operating points: states, inputs and parameters of a machine that fulfil what is asked of them (trim).

A row is a quantity by name: fixed, free or a target. Unknown are the independent displacements s and speeds u, states
of force elements, free inputs and parameters; equations are

    u̇ = wanted (default 0),  u = wanted (default 0),  ẋ = 0,  fixed rows        hold,
    targets                                                                      weighted least squares.

Newton's method on the manifold of closed poses: the blocks are A, B, C, D of the linear system there
(`core.control.lineariser`), loops are closed again after each step. Where less is asked than there are unknowns the
step is the least in units of the machine; where targets compete, they share by their weights; bounds that would be
passed (also motors' limits of effort) act as fixed values of that step (active set; Nocedal and Wright, Numerical
Optimization, 16.5).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.constraints import motor_limits
from core.control.asked_points import ask, asked_point
from core.control.inputs import input_names
from core.control.linear_system import LinearSystem
from core.control.lineariser import Lineariser, Point, input_points
from core.control.outputs import FORMULA_SIGNS, all_outputs
from core.control.trim_counting import missing_rows, structural_rank
from core.errors import KinetostatError, ModelError, listed, near_misses
from core.mechanism import Mechanism
from core.model import Model, Trim
from core.multibody.parameter_values import Values
from core.numerics.rank import null_space

if TYPE_CHECKING:
    from core.simulation import Run

Array = NDArray[np.float64]

MOST_STEPS = 60
LONGEST = 0.5
"""Longest step of a displacement, rad or sizes of the machine."""
STANDING = 1e-14
"""rad/s or m/s up to which a speed is none: rounding of a step, without which the speeds of all joints are known."""
SOLVED = 1e-10
"""Part of the sizes of what is compared up to which a row counts as fulfilled."""
DEPENDENT = 1e-10
"""Part of the largest singular value of the rows below which one counts as zero."""
LEFT = 0.1
"""Part of the residual of rows for which unknowns are too few that is left by a step that is worth while."""


@dataclass
class Row:
    """What is asked of a quantity. Its methods say it: `fixed`, `free`, `target`, `steady`; they give the row again.

    kind : "fixed", "free", "target" or "" (nothing said)
    """

    name: str
    of_input: bool
    kind: str = ""
    value: float | None = None
    low: float = -np.inf
    high: float = np.inf
    weight: float = 1.0

    def fixed(self, value: float | None = None) -> Row:
        """It has this value (SI), default the one at the start."""
        self.kind, self.value = "fixed", None if value is None else _number(value, self.name)
        return self

    def free(self, min: float = -np.inf, max: float = np.inf) -> Row:
        """It is found, within bounds. Raises ModelError for bounds that leave nothing."""
        low, high = (_number(each, self.name, endless=True) for each in (min, max))
        if not low <= high:
            raise ModelError(
                f"Nothing lies between {low:g} and {high:g}.", where=f"'{self.name}'", remedy="Swap the bounds."
            )
        self.kind, self.low, self.high = "free", low, high
        return self

    def target(self, value: float, weight: float = 1.0) -> Row:
        """It comes as near to this value (SI) as what holds lets it; targets share by their weights."""
        weight = _number(weight, self.name)
        if not weight > 0.0:
            raise ModelError("A weight is positive.", where=f"'{self.name}'", remedy="Give one, or leave the row out.")
        self.kind, self.value, self.weight = "target", _number(value, self.name), weight
        return self

    def steady(self) -> Row:
        """Its rate is zero: of a speed, the acceleration."""
        self.kind = "steady"
        return self


@dataclass(frozen=True, eq=False)
class Found:
    """What an operating point came to. `solved` : whether all that must hold does; `message` : what does not, and why.

    q (nq,), v, a, tau (nv,), x (nx,), multipliers (rows,); inputs : values of those that were free; parameters : of
    all; values : by row; residuals : by row, value − what was asked; acting : bounds that act; iterations; system : the
    linear system there, with the free inputs and the rows as outputs; saturated : speed → (N·m or N that its motor is
    asked for, what it gives), of motors that can less
    """

    solved: bool
    message: str
    mech: Mechanism
    q: Array
    v: Array
    a: Array
    tau: Array
    x: Array
    multipliers: Array
    t: float
    inputs: Mapping[str, float]
    parameters: Mapping[str, float]
    values: Mapping[str, float]
    residuals: Mapping[str, float]
    missing: Mapping[str, float]
    """Force, N or N·m, by which independent coordinates are out of balance."""
    acting: tuple[str, ...]
    iterations: int
    system: LinearSystem
    saturated: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    targets: tuple[str, ...] = ()
    """Rows that are targets."""

    @property
    def stable(self) -> bool:
        """Whether small motions there die away or stay small (no pole to the right, within rounding)."""
        poles = self.system.poles
        size = float(np.max(np.abs(poles), initial=0.0))
        return bool(np.max(poles.real, initial=0.0) <= 1e-6 * max(size, 1e-3))

    @property
    def verdict(self) -> str:
        """In how many steps it was found, whether it is stable, which bounds act, how targets were weighed; or what is
        wrong."""
        if not self.solved:
            return self.message
        words = "stable" if self.stable else "unstable"
        bounds = f" Bounds act: {', '.join(self.acting)}." if self.acting else ""
        if self.saturated:
            bounds += f" Asked for more than their limits of effort: the motors of {', '.join(self.saturated)}."
        steps = f"{self.iterations} step{'s' * (self.iterations != 1)}"
        return f"Found in {steps}; it is {words}.{bounds} {self.remark}".rstrip()

    @property
    def remark(self) -> str:
        """How targets were weighed that compete and do not measure the same; empty where none do."""
        missed = [name for name in self.targets if abs(self.residuals[name]) > SOLVED]
        known = dict(zip(self.system.output_names, self.system.units.outputs, strict=True))
        units = dict.fromkeys(known.get(name, "") or "pure numbers" for name in missed)
        if len(units) < 2:
            return ""
        return (
            f"Targets in {listed(list(units))} compete: each counts by its error in SI, as a part of its value where "
            "that is above 1, times its weight."
        )

    def met(self) -> Found:
        """The point itself. Raises ModelError where it does not fulfil what was asked."""
        if not self.solved:
            remedy = "" if "Free one of" in self.message else "Change its rows, or begin elsewhere."
            raise ModelError(self.message, where="operating point", remedy=remedy)
        return self

    def run(self, duration: float, **options: Any) -> Run:
        """A run that begins here, with the forces, inputs and parameters of the point. options : those of `simulate`"""
        from core.simulation import simulate

        return simulate(self.mech, duration, **(self.start | options))

    @property
    def start(self) -> dict[str, Any]:
        """What `simulate(found.mech, …)` is given to begin here."""
        begin: dict[str, Any] = {"q0": self.q, "v0": self.v, "torque": self.tau, "start": self.t}
        return begin | {"parameters": self.parameters} | ({"x0": self.x} if len(self.x) else {})


class OperatingPoint:
    """A problem: rows by name, `op["crank.q"].fixed(0.5)`, and `solve()`.

    Names are signals: joint.q, joint.v, joint.a; inputs (joint.tau, force.input, parameters, gravity.x, frame.force.x
    …); any other channel, or a formula of channels. What is not named: positions are free, speeds and accelerations of
    independent coordinates zero, inputs and parameters as they are.
    """

    def __init__(
        self,
        model: Model | Mechanism,
        at: ArrayLike | str | None = None,
        *,
        name: str = "",
        v: Any = None,
        tau: Any = None,
        p: Values = None,
        t: float = 0.0,
        motors: bool = True,
    ) -> None:
        """at : (nq,) where to begin, default the rest pose, or the name of an operating point of the document

        name : the same; its rows are asked; v, tau : (nv,) or by name; p : parameters; t : s; motors : they give no
        more than their limits of effort, and do not drive beyond those of speed; False: joints get any force. Raises
        ModelError.
        """
        at, name = (None, at) if isinstance(at, str) else (at, name)
        self.mech = model if isinstance(model, Mechanism) else Mechanism(model)
        self._start = input_points(self.mech, at, v, tau, p, t)
        self.motors = motors
        self.rows: dict[str, Row] = {}
        self._traced: dict[tuple[tuple[str, ...], ...], Lineariser] = {}
        if name:
            self.ask(asked_point(self.mech.model, name))

    def ask(self, point: Trim) -> None:
        """Ask what an operating point of the document asks. Raises ModelError naming its row."""
        where = f"operating point '{point.name}'"
        values = self.mech.model.values(dict(zip(self.mech.p_names, map(float, self._start.p), strict=True)))
        for row in point.rows:
            try:
                ask(self[row.quantity], row, values, where)
            except KinetostatError as error:
                if not error.where.startswith(where):
                    error.where = f"{where}, row '{row.quantity}'"
                raise error

    def lineariser(self, inputs: Sequence[str], outputs: Sequence[str]) -> Lineariser:
        """Linear systems with these inputs and outputs, traced once."""
        key = tuple(inputs), tuple(outputs)
        if key not in self._traced:
            self._traced[key] = Lineariser(self.mech, *key, self._start.p, friction=False, motors=False)
        return self._traced[key]

    def __getitem__(self, name: str) -> Row:
        """The row of a quantity. Raises ModelError for one that there is not, with near misses."""
        if name not in self.rows:
            inputs = input_names(self.mech)
            if name not in inputs:
                self._known(name, inputs)
            self.rows[name] = Row(name, name in inputs)
        return self.rows[name]

    def _known(self, name: str, inputs: Sequence[str]) -> None:
        """A row that is an output has one component."""
        try:
            lineariser = Lineariser(self.mech, (), (name,), self._start.p)
        except KinetostatError as error:
            if "There is no" not in str(error):
                raise
            if set(name) & FORMULA_SIGNS:  # a formula: which of its names it is has been said
                raise ModelError(error.what, where="operating point", remedy=error.remedy) from None
            known = (*inputs, *all_outputs(self.mech, self._start.p))
            raise ModelError(
                f"There is no quantity '{name}'.", where="operating point", remedy=near_misses(name, known)
            ) from None
        if len(lineariser.outputs.names) > 1:
            raise ModelError(
                f"'{name}' has several components.",
                where="operating point",
                remedy=f"Name one of them, such as '{lineariser.outputs.names[0]}'.",
            )

    def names(self) -> tuple[str, ...]:
        """All quantities that can be rows, formulas apart."""
        return (*input_names(self.mech), *all_outputs(self.mech, self._start.p))

    def solve(self, starts: Sequence[ArrayLike] = ()) -> Found:
        """The point that fulfils the rows, from where it begins; the nearest one where there is none (`solved` False).

        starts : further positions (nq,) to begin from: of several solutions the one with the least inputs is given,
        `solutions` has all
        """
        return self.solutions(starts)[0]

    def solutions(self, starts: Sequence[ArrayLike] = ()) -> tuple[Found, ...]:
        """Distinct points from all starts, solved ones first, those with the least inputs before others."""
        points = [self._start, *(self._start._replace(q=np.asarray(q, dtype=float)) for q in starts)]
        found: list[Found] = []
        for point in points:
            own = _Solver(self, point, self.motors).found()
            if not own.solved and self.motors:
                own = self._told(own, point)
            same = (np.max(np.abs(self.mech.difference(own.q, other.q)), initial=0.0) < 1e-6 for other in found)
            if not any(same):
                found.append(own)
        effort = [float(np.linalg.norm(list(each.inputs.values()))) for each in found]
        order = sorted(range(len(found)), key=lambda k: (not found[k].solved, effort[k]))
        return tuple(found[k] for k in order)

    def _told(self, found: Found, point: Point) -> Found:
        """What was not found, with the motors that are too weak for it, if strong ones would do."""
        strong = _Solver(self, point, motors=False).found()
        words = motor_limits.needed_words(strong.mech.compiled, strong.tau, strong.parameters) if strong.solved else ""
        return dataclasses.replace(found, message=f"{words} {found.message}") if words else found


@dataclass
class _Equations:
    """Residuals r and their derivatives J by the unknowns: rows that hold, then targets (weighted); scale : (r,) sizes
    of what is compared."""

    names: list[str] = field(default_factory=list)
    r: list[float] = field(default_factory=list)
    J: list[Array] = field(default_factory=list)
    scale: list[float] = field(default_factory=list)

    def add(self, name: str, r: float, J: Array, scale: float) -> None:
        """A row."""
        self.names.append(name)
        self.r.append(float(r))
        self.J.append(J)
        self.scale.append(max(scale, 1e-300))

    def arrays(self, unknowns: Array) -> tuple[Array, Array]:
        """(r, J) in comparable units."""
        r = np.array(self.r) / np.array(self.scale)
        J = np.array(self.J).reshape(len(r), len(unknowns)) * unknowns / np.array(self.scale)[:, None]
        return r, J


class _Solver:
    """One problem from one start."""

    def __init__(self, problem: OperatingPoint, point: Point, motors: bool) -> None:
        self.rows, self.given, self._motors = problem.rows, problem.mech, motors
        inputs = [name for name, row in self.rows.items() if row.of_input]
        outputs = [name for name, row in self.rows.items() if not row.of_input]
        rates = [f"{name[:-2]}.v" for name in outputs if name[-2:] in (".v", ".a")]
        faster = [f"{name[:-2]}.a" for name in outputs if name[-2:] == ".v"]
        self._outputs = list(dict.fromkeys([*outputs, *rates, *faster]))
        self.lineariser = problem.lineariser(inputs, self._outputs)
        self.mech = self.lineariser.mech
        self.point = point._replace(mech=self.mech, p=self.lineariser.values(point.p))
        self.table = self.lineariser.inputs.table
        most = motor_limits.effort_limits(self.mech.compiled, self.point.p) if motors else np.full(self.mech.nv, np.inf)
        self.most = np.array([most[each.speed] if each.speed >= 0 else np.inf for each in self.table])
        """What inputs may be at most, as motors can no more."""
        start = self.lineariser.bound(point)
        self.values = np.array([self._begin(k, each.name, start) for k, each in enumerate(self.table)])
        asked = self.lineariser.pushed(self.point, self.values).tau
        self.saturated = motor_limits.beyond(self.mech.compiled, asked, self.point.p) if motors else {}
        self.point = self.point._replace(tau=np.clip(self.point.tau, -most, most))
        self.values = np.clip(self.values, -self.most, self.most)
        self.free = [k for k, each in enumerate(self.table) if self.rows[each.name].kind in ("free", "")]
        self.kept: tuple[str, ...] = ()
        self.wanted: dict[str, float] = {}

    def _begin(self, k: int, name: str, start: Array) -> float:
        row = self.rows[name]
        value = float(start[k]) if row.value is None else row.value
        return float(np.clip(value, row.low, row.high)) if row.kind == "free" else value

    # ------------------------------------------------------------------------------------------ one iterate

    def linear(self, q: Array, u: Mapping[str, float], values: Array) -> LinearSystem:
        """The linear system at a pose, with speeds by name and inputs."""
        point = self.lineariser.pushed(self.point, values)._replace(q=q, v=dict(u), x=None)
        return self.lineariser.at(point, kept=self.kept)

    def equations(self, s: LinearSystem) -> tuple[_Equations, _Equations]:
        """(what holds, targets) at an iterate."""
        k, n = len(s.coordinates), len(s.A)
        AB, CD = (np.concatenate(both, axis=1)[:, self._columns(s)] for both in ((s.A, s.B), (s.C, s.D)))
        hold, targets = _Equations(), _Equations()
        quick = max(1.0, float(np.max(np.abs(s.a), initial=0.0)), self._fast(s))
        places = {name: i for i, name in enumerate(s.output_names)}
        speeds: list[Array] = []
        accelerations: list[Array] = []
        free_v: list[str] = []
        free_a: list[str] = []
        for name, row in self.rows.items():
            if row.of_input:
                continue
            i = places[name]
            if name.endswith(".v") and row.kind == "free":
                free_v.append(name)
            if name.endswith(".a") and row.kind == "free":
                free_a.append(name)
            if row.kind == "steady":
                j, end = (places[f"{name[:-2]}.a"], ".a") if name.endswith(".v") else (i, "")
                hold.add(f"{name[:-2]}{end}" if end else name, s.y0[j], CD[j], quick)
                accelerations.append(s.C[places[f"{name[:-2]}.v"], k : 2 * k])
                free_v.append(name)
            elif row.kind in ("fixed", "target"):
                wanted = self.wanted.setdefault(name, float(s.y0[i])) if row.value is None else row.value
                size = quick if name.endswith(".a") else max(1.0, abs(wanted))
                into = hold if row.kind == "fixed" else targets
                into.add(name, s.y0[i] - wanted, CD[i], size / (row.weight if row.kind == "target" else 1.0))
                if name[-2:] in (".v", ".a"):
                    place = places[f"{name[:-2]}.v"]
                    (speeds if name[-2:] == ".v" else accelerations).append(s.C[place, k : 2 * k])
            beyond = self._beyond(row, float(s.y0[i]))
            if beyond is not None:
                hold.add(name, s.y0[i] - beyond, CD[i], max(1.0, abs(beyond)))
        self._at_rest(s, hold, AB, (speeds, accelerations), (free_v, free_a), places, quick)
        for i in range(2 * k, n):
            if not s.state_names[i].endswith(tuple(each.name for each in self.table)):
                hold.add(f"rate of {s.state_names[i]}", s.residual[i], AB[i], 1.0)
        return hold, targets

    def _at_rest(
        self,
        s: LinearSystem,
        hold: _Equations,
        AB: Array,
        given: tuple[list[Array], list[Array]],
        free: tuple[list[str], list[str]],
        places: Mapping[str, int],
        quick: float,
    ) -> None:
        """Speeds and accelerations of independent coordinates that no row says are zero."""
        k = len(s.coordinates)
        unit = np.eye(AB.shape[1])
        for level, end in ((0, ".v"), (1, ".a")):
            open_ones = [s.C[places[f"{name[:-2]}.v"], k : 2 * k] for name in free[level]]
            for i in _complement(given[level] + open_ones, k):
                name = f"{s.coordinates[i]}{end}"
                if level == 0:
                    hold.add(name, s.residual[i], unit[k + i], 1.0)
                else:
                    hold.add(name, s.residual[k + i], AB[k + i], quick)

    def _beyond(self, row: Row, value: float) -> float | None:
        """The bound of a row that is passed."""
        if row.kind != "free":
            return None
        return row.low if value < row.low else row.high if value > row.high else None

    def _columns(self, s: LinearSystem) -> list[int]:
        return [*range(len(s.A)), *(len(s.A) + k for k in self.free)]

    def _fast(self, s: LinearSystem) -> float:
        """Accelerations that gravity and the free inputs of size 1 make."""
        k = len(s.coordinates)
        return float(np.max(np.abs(s.A[k : 2 * k, :k]), initial=0.0))

    def _units(self, s: LinearSystem) -> Array:
        """(unknowns,) sizes of the unknowns."""
        size = self.lineariser.size
        states = np.array([size if unit in ("m", "m/s") else 1.0 for unit in s.units.states])
        quick = max(1.0, self._fast(s))
        k = len(s.coordinates)
        efforts = []
        for each in self.free:
            gain = float(np.max(np.abs(s.B[k : 2 * k, each]), initial=0.0))
            efforts.append(quick / gain if gain > 0.0 else max(1.0, abs(self.values[each])))
        return np.concatenate([states, efforts])

    # ------------------------------------------------------------------------------------------- iteration

    def found(self) -> Found:
        """Newton's method, steps halved while they lead away."""
        q, u = self.point.q, self.point.v
        s = self.linear(q, {} if u is None else self._speeds(u), self.values)
        self.kept = s.coordinates
        acting: set[str] = set()
        hold, targets = self.equations(s)
        count = 0
        while count < MOST_STEPS:
            step, acting = self._step(s, hold, targets)
            if self._hopeless(s, hold):
                break
            count += 1
            before = self._merit(s, hold, targets)
            still = np.max(np.abs(step / self._units(s)), initial=0.0) < 1e-13
            tried = self._tried(s, step, before)
            if tried is None:
                break
            s, hold, targets = tried
            if still or self._ended(s, hold, targets, before):
                break
        return self._as_found(s, hold, targets, acting, count)

    def _speeds(self, v: Any) -> dict[str, float]:
        return dict(v) if isinstance(v, Mapping) else dict(zip(self.mech.v_names, map(float, v), strict=True))

    def _tried(self, s: LinearSystem, step: Array, before: float) -> tuple[LinearSystem, _Equations, _Equations] | None:
        k, n = len(s.coordinates), len(s.A)
        values = self.values
        for _ in range(12):
            q = self.mech.integrate(s.q, s.basis[:, :n] @ step[:n])
            u = {name: float(s.v[self.mech.v_names.index(name)] + step[k + i]) for i, name in enumerate(s.coordinates)}
            u = {name: each if abs(each) > STANDING else 0.0 for name, each in u.items()}
            self.values = values.copy()
            self.values[self.free] += step[n:]
            try:
                trial = self.linear(np.asarray(q), u, self.values)
                hold, targets = self.equations(trial)
                merit = self._merit(trial, hold, targets)
            except KinetostatError:
                merit = np.inf
            if merit <= before * (1.0 + 1e-6) or merit < SOLVED:
                self.kept = trial.coordinates
                return trial, hold, targets
            step = 0.5 * step
        self.values = values
        return None

    def _hopeless(self, s: LinearSystem, hold: _Equations) -> bool:
        """Whether more rows must hold than there are unknowns for them, and no step brings these nearer."""
        h, H = hold.arrays(self._units(s))
        if structural_rank(H) == len(h):
            return False
        left = float(np.linalg.norm(h + H @ np.linalg.lstsq(H, -h, rcond=DEPENDENT)[0] if H.size else h))
        return bool(left > max(LEFT * float(np.linalg.norm(h)), SOLVED))

    def _merit(self, s: LinearSystem, hold: _Equations, targets: _Equations) -> float:
        units = self._units(s)
        h, t = hold.arrays(units)[0], targets.arrays(units)[0]
        return float(np.linalg.norm(h) * 10.0 + np.linalg.norm(t))

    def _ended(self, s: LinearSystem, hold: _Equations, targets: _Equations, before: float) -> bool:
        h = hold.arrays(self._units(s))[0]
        done = np.max(np.abs(h), initial=0.0) < 1e-2 * SOLVED
        after = self._merit(s, hold, targets)
        settled = after > before * (1.0 - 1e-9)
        return bool((done and (not targets.r or settled or after < 1e-2 * SOLVED)) or (settled and after < 1e-13))

    def _step(self, s: LinearSystem, hold: _Equations, targets: _Equations) -> tuple[Array, set[str]]:
        """The step of the unknowns, bounds kept, as long as linear motions are true."""
        units = self._units(s)
        n = len(s.A)
        (h, H), (t, T) = hold.arrays(units), targets.arrays(units)
        fixed: dict[int, float] = {}
        acting: set[str] = set()
        for _ in range(len(self.free) + 1):
            step = _least_step(h, H, t, T, fixed)
            over = self._passed(step * units, n, fixed)
            if over is None:
                break
            k, bound = over
            fixed[n + k] = (bound - self.values[self.free[k]]) / units[n + k]
            acting.add(self.table[self.free[k]].name)
        step = step * units
        longest = float(np.max(np.abs(step[: len(s.coordinates)] / units[: len(s.coordinates)]), initial=0.0))
        return step * min(1.0, LONGEST / max(longest, 1e-300)), acting

    def _passed(self, step: Array, n: int, fixed: Mapping[int, float]) -> tuple[int, float] | None:
        """(which free input passes a bound the furthest, the bound)."""
        worst: tuple[float, int, float] | None = None
        for k, place in enumerate(self.free):
            row, value = self.rows[self.table[place].name], self.values[place] + step[n + k]
            most = float(self.most[place])
            bound = min(max(value, row.low, -most), row.high, most)
            past = abs(value - bound) / max(1.0, abs(bound))
            if n + k not in fixed and past > 1e-12 and (worst is None or past > worst[0]):
                worst = past, k, bound
        return None if worst is None else worst[1:]

    # ----------------------------------------------------------------------------------------- what came out

    def _as_found(self, s: LinearSystem, hold: _Equations, targets: _Equations, acting: set[str], count: int) -> Found:
        from core.constraints.multipliers import constrained_motion

        units = self._units(s)
        h, H = hold.arrays(units)
        solved = bool(np.max(np.abs(h), initial=0.0) < SOLVED)
        point = self.lineariser.pushed(self.point, self.values)
        compiled, p = self.mech.compiled, point.p
        x = np.asarray(self.mech.x_rest(s.q, p=p, t=point.t)) if self.mech.nx else np.zeros(0)
        a, multipliers = constrained_motion(compiled, s.q, s.v, point.tau, p, True, point.t, x if len(x) else None)
        M = self.mech.mass_matrix(s.q, p=p)
        k = len(s.coordinates)
        forces = s.basis[:, :k].T @ M @ s.basis[:, :k] @ s.residual[k : 2 * k]
        off = {name for name, each in zip(hold.names, h, strict=True) if abs(each) >= SOLVED}
        missing = {c: float(f) for c, f in zip(s.coordinates, forces, strict=True) if f"{c}.a" in off}
        names = (*hold.names, *targets.names)
        residuals = dict(zip(names, (*hold.r, *targets.r), strict=True))
        values = dict(zip(s.output_names, map(float, s.y0), strict=True))
        inputs = {each.name: float(self.values[i]) for i, each in enumerate(self.table) if i in self.free}
        values |= {each.name: float(self.values[i]) for i, each in enumerate(self.table)}
        acting |= {name for name in hold.names if name in self.rows and self.rows[name].kind == "free"}
        message = "" if solved else self._wrong(s, hold, h, H, missing, acting)
        if self._motors and motor_limits.supplied(compiled, s.v[None], point.tau[None], p).reached.any():
            message = message or motor_limits.too_fast_words(compiled, s.v, point.tau, p)
            solved = not message
            s = self.lineariser.at(point._replace(q=s.q, v=s.v, x=None), kept=self.kept, motors=True)
        return Found(
            solved,
            message,
            self.mech,
            s.q,
            s.v,
            np.asarray(a),
            point.tau,
            x,
            np.asarray(multipliers),
            point.t,
            inputs,
            dict(zip(self.mech.p_names, map(float, p), strict=True)),
            {name: values[name] for name in (*self.rows,)},
            residuals,
            missing,
            tuple(sorted(acting)),
            count,
            s,
            self.saturated,
            tuple(targets.names),
        )

    def _wrong(
        self,
        s: LinearSystem,
        hold: _Equations,
        h: Array,
        H: Array,
        missing: Mapping[str, float],
        acting: set[str],
    ) -> str:
        """What is not fulfilled, in words."""
        return missing_rows(self, s, hold, h, H, missing, acting)


def _least_step(h: Array, H: Array, t: Array, T: Array, fixed: Mapping[int, float]) -> Array:
    """The least x with H x = −h, and then |T x + t| least; fixed : entries that are given."""
    count = H.shape[1] if H.size else T.shape[1]
    x = np.zeros(count)
    for k, value in fixed.items():
        x[k] = value
    left = [k for k in range(count) if k not in fixed]
    A, b = H[:, left], -(h + H @ x)
    first = np.linalg.lstsq(A, b, rcond=DEPENDENT)[0] if len(b) else np.zeros(len(left))
    if len(t):
        N = null_space(A, DEPENDENT) if len(b) else np.eye(len(left))
        B = T[:, left]
        along = np.linalg.lstsq(B @ N, -(t + T @ x) - B @ first, rcond=DEPENDENT)[0] if N.size else np.zeros(0)
        first = first + N @ along
    x[left] = first
    return x


def _complement(given: Sequence[Array], count: int) -> list[int]:
    """Coordinates whose unit rows make the given rows (count,) a basis, as independent of them as possible."""
    if not given:
        return list(range(count))
    span = np.array(given).reshape(len(given), count)
    left = np.eye(count) - np.linalg.pinv(span, rcond=DEPENDENT) @ span
    import scipy.linalg

    rank = count - int(np.linalg.matrix_rank(span, tol=1e-9 * max(1.0, float(np.max(np.abs(span), initial=0.0)))))
    pivots = scipy.linalg.qr(left, mode="r", pivoting=True)[1]
    return sorted(int(i) for i in pivots[:rank])


def _number(value: Any, name: str, endless: bool = False) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not (np.isfinite(number) or (endless and np.isinf(number))):
        raise ModelError(f"{value!r} is no number.", where=f"'{name}'", remedy="Give one in SI units.")
    return number
