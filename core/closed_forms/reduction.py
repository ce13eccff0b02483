"""The machine in its independent speeds: v = Φ v_i, a = Φ a_i + b, Φᵀ M Φ a_i + Φᵀ (M b + h − τ) = 0.

1. The steps of the solution are walked once for all columns of Φ together (`_Pass.columns`): column k is v where the
   k-th independent speed is 1 and the others are 0. Independent joints move their cluster by their own columns S;
   closed chains answer with the speeds of their joints (`core.closed_forms.velocities.Solver`).
2. v = Φ v_i, and the motion of every body in the world with it.
3. The steps are walked once more for b, the accelerations where the independent ones vanish (`_Pass.bias`): every
   joint adds V × S v, and the same solvers answer.
4. Φᵀ M Φ = Σ over the links of V_i · I V_j, with the motions V_k of the link in column k (`_mass`); Φᵀ (M b + h) from
   one inverse dynamics with the accelerations b.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from core.closed_forms.dyads import LEAST_DIVISOR
from core.closed_forms.families import GEARED, ROD, Form
from core.closed_forms.graph import LINK, OWN, Edge, geared_pairs
from core.closed_forms.graph import known as coordinates_at
from core.closed_forms.positions import Positions
from core.closed_forms.velocities import Axis, Flow, Solver, Speed, at, axis_of, quality, span
from core.elements.added_inertia import AddedInertia, add_reduced
from core.mechanics.crba import joint_motion
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.kinematics import coordinates, speeds
from core.mechanics.tree import Tree
from core.spatial.motion import ZERO, Motion
from core.spatial.scalar import Scalar, apply, negated, over, plus, sqrt, times, total, vanish
from core.spatial.vector import Vector3

Scalars = Sequence[Scalar]


class Motions(NamedTuple):
    """Speeds of a closed machine."""

    v: list[Scalar]
    columns: list[list[Scalar]]
    """Φ by columns: v when one independent speed is 1."""
    bias: list[Scalar]
    """a when the independent accelerations vanish."""
    quality: list[Scalar]
    """Least sine, largest gain."""


def independent_speeds(edges: list[Edge], steps: Sequence[Form | int]) -> list[Speed]:
    """In the order in which they become known; followers have none of their own."""
    result: list[Speed] = []
    taken: set[int] = set()
    for step in steps:
        if isinstance(step, int):
            edge = edges[step]
            fresh = [k for k in range(edge.nv) if edge.v + k not in taken]
            result += [Speed(edge.v + k, step, k, False) for k in fresh]
            taken |= {edge.v + k for k in fresh}
        elif step.family == ROD:
            ball = next(i for i, _ in step.chain[1:] if not edges[i].cut)
            result.append(Speed(-1, ball, 0, True))
    return result


def motions(
    edges: list[Edge], steps: Sequence[Form | int], independent: Sequence[Speed], closed: Positions, v: Scalars, nv: int
) -> Motions:
    """Speeds, Φ and b at a closed position; v : (nv,) gives the independent speeds."""
    axes = {i: axis_of(edge, closed.clusters, closed.q) for i, edge in enumerate(edges)}
    pass_ = _Pass(edges, steps, independent, axes, closed, nv)
    own = pass_.own_speeds(v)
    columns, flow = pass_.columns()
    speeds_ = [total(times(columns[i][k], own[i]) for i in range(len(own))) for k in range(nv)]
    absolute = {node: span(parts, own) for node, parts in flow.motion.items()}
    bias = pass_.bias(speeds_, absolute)
    return Motions(speeds_, columns, bias, quality(pass_.grades, pass_.gains))


class _Pass:
    def __init__(
        self,
        edges: list[Edge],
        steps: Sequence[Form | int],
        independent: Sequence[Speed],
        axes: dict[int, Axis],
        closed: Positions,
        nv: int,
    ) -> None:
        self.edges, self.steps, self.independent, self.axes, self.nv = edges, steps, independent, axes, nv
        self.q, self.nodes = closed.q, list(closed.clusters.root)
        self.solvers = {
            n: Solver(step, "".join(edges[i].kind for i, _ in step.chain), [axes[i] for i, _ in step.chain])
            for n, step in enumerate(steps)
            if isinstance(step, Form) and step.family != GEARED
        }
        self.grades = [solver.grade for solver in self.solvers.values()]
        self.gains: list[Scalar] = []
        self.spins: dict[int, tuple[int, Vector3]] = {}
        for n, solver in self.solvers.items():
            if solver.form.family == ROD:
                ball = next(i for i, _ in solver.form.chain[1:] if not edges[i].cut)
                place = next(k for k, speed in enumerate(independent) if speed.spin and speed.edge == ball)
                along = solver.d.scaled(over(1.0, sqrt(solver.d.dot(solver.d))))
                self.spins[n] = (place, along)

    def own_speeds(self, v: Scalars) -> list[Scalar]:
        """The independent speeds in v."""
        directions = dict(self.spins.values())
        result = []
        for k, speed in enumerate(self.independent):
            if speed.spin:
                edge = self.edges[speed.edge]
                result.append(span(self.axes[speed.edge].columns, v[edge.v : edge.v + 3]).angular.dot(directions[k]))
            else:
                result.append(v[speed.v])
        return result

    def columns(self) -> tuple[list[list[Scalar]], Flow]:
        """Φ by columns, and the motions of all nodes for each."""
        count = len(self.independent)
        columns: list[list[Scalar]] = [[0.0] * self.nv for _ in range(count)]
        of_speed = {(speed.v): i for i, speed in enumerate(self.independent) if not speed.spin}
        flow = Flow(self.nodes, count)
        for edge in self.edges:
            if edge.kind == "W" and not edge.cut:
                flow.join(edge, [ZERO] * count)
        for n, step in enumerate(self.steps):
            if isinstance(step, int):
                self._independent(step, of_speed, columns, flow)
            elif step.family == GEARED:
                self._geared(step, columns, flow, [ZERO] * count)
            else:
                self._dependent(n, step, columns, flow)
        return columns, flow

    def _independent(self, i: int, of_speed: dict[int, int], columns: list[list[Scalar]], flow: Flow) -> None:
        edge = self.edges[i]
        across = [ZERO] * len(columns)
        for k, column in enumerate(self.axes[i].columns):
            place = of_speed[edge.v + k]
            columns[place][edge.v + k] = 1.0
            across[place] = column.scaled(edge.ratio)
        flow.join(edge, across)

    def _dependent(self, n: int, form: Form, columns: list[list[Scalar]], flow: Flow) -> None:
        solver = self.solvers[n]
        values = []
        moved: Scalar = 0.0
        moving: Scalar = 0.0
        for known in flow.around(form, self.edges):
            if _still(known):
                values.append([None] * len(form.chain))
                continue
            solution, out, into = solver.solve(known)
            values.append(solution)
            moved, moving = plus(moved, out), plus(moving, into)
        if n in self.spins:
            self._add_spin(n, values)
        self.gains.append(over(moved, plus(moving, LEAST_DIVISOR)))
        for k, (i, forward) in enumerate(form.chain):
            own = [_met(row[k], forward) for row in values]
            self._enter(i, own, columns)
            flow.join(self.edges[i], [self._across(i, value) for value in own])

    def _geared(self, form: Form, columns: list[list[Scalar]], flow: Flow, extra: list[Motion]) -> None:
        """A joint behind a gear: entries of Φ, or of the bias, proportional to those of the joint it follows."""
        (i, _), (k, forward) = form.chain
        source = self.edges[geared_pairs(self.edges)[k][1 if forward else 0]]
        ratio = self.edges[k].ratio if forward else over(1.0, self.edges[k].ratio)
        ratio = times(ratio, source.ratio)
        for column in columns:
            column[self.edges[i].v] = times(ratio, column[source.v])
        flow.join(
            self.edges[i],
            [self._across(i, column[self.edges[i].v]) + more for column, more in zip(columns, extra, strict=True)],
        )

    def _add_spin(self, n: int, values: list[list[Any]]) -> None:
        """The rod turns about itself: both balls turn, in opposite senses along the chain."""
        place, along = self.spins[n]
        (ball,) = {self.independent[place].edge}
        chain = self.solvers[n].form.chain
        forward = next(onward for i, onward in chain if i == ball)
        first = along if forward == (chain[1][0] == ball) else -along
        values[place] = [0.0, first, -first]

    def _across(self, i: int, value: Any) -> Motion:
        if value is None:
            return ZERO
        if self.edges[i].kind == "S":
            return Motion(value, self.axes[i].p.cross(value))
        return self.axes[i].columns[0].scaled(value)

    def _enter(self, i: int, own: list[Any], columns: list[list[Scalar]]) -> None:
        """Entries of a tree joint in Φ."""
        edge = self.edges[i]
        if edge.cut:
            return
        for column, value in zip(columns, own, strict=True):
            if value is None:
                continue
            if edge.kind == "S":
                column[edge.v : edge.v + 3] = list(self.axes[i].pose.rotation.act_back(value))
            else:
                column[edge.v] = value

    def bias(self, v: list[Scalar], absolute: dict[str, Motion]) -> list[Scalar]:
        """Accelerations of the dependent speeds while the independent ones do not change."""
        result: list[Scalar] = [0.0] * self.nv
        flow = Flow(self.nodes, 1)
        turning = {i: self._turning(i, v, absolute) for i in range(len(self.edges)) if not self.edges[i].cut}
        for edge in self.edges:
            if edge.kind == "W" and not edge.cut:
                flow.join(edge, [ZERO])
        for n, step in enumerate(self.steps):
            if isinstance(step, int):
                flow.join(self.edges[step], [turning[step]])
            elif step.family == GEARED:
                self._geared(step, [result], flow, [turning[step.chain[0][0]]])
            else:
                self._biased(n, step, absolute, flow, result)
        return result

    def _turning(self, i: int, v: list[Scalar], absolute: dict[str, Motion]) -> Motion:
        """V_b × S v: what an edge's turning columns add; and Ṡ v where they change in b's axes."""
        edge = self.edges[i]
        values = [times(edge.ratio, v[edge.v + k]) for k in range(edge.nv)]
        turning = absolute[edge.b].cross(span(self.axes[i].columns, values))
        if edge.kind != OWN:
            return turning
        return turning + self.axes[i].pose.motion(edge.law.bias(coordinates_at(edge, self.q), values))

    def _biased(self, n: int, form: Form, absolute: dict[str, Motion], flow: Flow, result: list[Scalar]) -> None:
        (known,) = flow.around(form, self.edges)
        extra = {}
        for i, forward in form.chain:
            edge = self.edges[i]
            # V_b × (V_b − V_a), which is V_b × S v also where the joint is cut
            each = absolute[edge.b].cross(absolute[edge.b] - absolute[edge.a])
            if edge.kind == LINK:
                each = self._swinging(i, absolute)
            extra[i] = each
            known = known + (each if forward else -each)
        solution, _, _ = self.solvers[n].solve(known)
        for (i, forward), value in zip(form.chain, solution, strict=True):
            own = _met(value, forward)
            self._enter(i, [own], [result])
            flow.join(self.edges[i], [self._across(i, own) + extra[i]])

    def _swinging(self, i: int, absolute: dict[str, Motion]) -> Motion:
        """A motion along a rod that makes up for what its turning adds: with d from end to end, differentiating
        d · ḋ = 0 leaves d · (A_b − A_a) = −(ḋ · ḋ + d · (ω_b × ṗ_b − ω_a × ṗ_a))."""
        axis, V_a, V_b = self.axes[i], absolute[self.edges[i].a], absolute[self.edges[i].b]
        d, p_b = axis.z, axis.p
        v_a, v_b = at(V_a, p_b - d), at(V_b, p_b)
        added = plus((v_b - v_a).dot(v_b - v_a), d.dot(V_b.angular.cross(v_b) - V_a.angular.cross(v_a)))
        return Motion(ZERO.angular, d.scaled(negated(over(added, d.dot(d)))))


def _still(motion: Motion) -> bool:
    """True if every entry is a literal zero."""
    return vanish((*motion.angular, *motion.linear))


def _met(value: Any, forward: bool) -> Any:
    """A walking speed as the joint's own."""
    if value is None or forward:
        return value
    return -value if isinstance(value, Vector3) else times(-1.0, value)


def reduced(
    tree: Tree,
    found: Motions,
    q: Scalars,
    forces: Callable[[list[Scalar]], list[Scalar]],
    masses: Sequence[AddedInertia] = (),
) -> tuple[list[list[Scalar]], list[Scalar]]:
    """(Φᵀ M Φ, Φᵀ (M b + h)); forces(a): joint forces that produce accelerations a at this state; masses : what has
    inertia beside the links."""
    M = _mass(tree, q, found.columns)
    add_reduced(M, masses, KinematicState(tree, q), found.columns)
    h = forces(found.bias)
    return M, [total(times(c, f) for c, f in zip(column, h, strict=True)) for column in found.columns]


def _mass(tree: Tree, q: Scalars, columns: list[list[Scalar]]) -> list[list[Scalar]]:
    """Σ_l V_i · I V_j over the links, and the armatures."""
    own = coordinates(tree, q)
    joints = [joint_motion(link.law, link.placement, own[i]) for i, link in enumerate(tree.links)]
    count = len(columns)
    M: list[list[Scalar]] = [[0.0] * count for _ in range(count)]
    rates = [speeds(tree, column) for column in columns]
    twists: list[list[Motion]] = [[] for _ in columns]
    for l, link in enumerate(tree.links):
        X, S = joints[l]
        for i in range(count):
            parent = ZERO if link.parent < 0 else twists[i][link.parent]
            twists[i].append((ZERO if parent is ZERO else X.motion_back(parent)) + span(S, rates[i][l]))
        for i in range(count):
            momentum = link.inertia.act(twists[i][l])
            for j in range(i, count):
                entry = plus(twists[j][l].dot(momentum), _armature(link.armature, rates[i][l], rates[j][l]))
                M[i][j] = plus(M[i][j], entry)
    return [[M[min(i, j)][max(i, j)] for j in range(count)] for i in range(count)]


def _armature(armature: Scalar, a: Scalars, b: Scalars) -> Scalar:
    return times(armature, total(times(x, y) for x, y in zip(a, b, strict=True)))


def least(values: Sequence[Scalar]) -> Scalar:
    """The smallest; 1 of none."""
    result: Scalar = 1.0
    for value in values:
        result = apply("fmin", result, value)
    return result
