"""Channels of joints with friction, stops and limits: contact states, forces, and energy losses.

One channel for each thing that acts along a coordinate of a joint (`elbow`, of joints with several `joint.x`):

Friction of a ball joint, or in the plane of a planar one, is one vector: `ball.friction` with mode stick, slide or
saturated and the components `ball.friction.force.wx`, …

elbow.friction.mode : stick, slide+, slide- (against motion onward or backward), saturated (others hold it)
elbow.stop.mode : open, closed, leaving (elastic: on its way out, without a force); free, at limit (rigid)
elbow.speed_limit.mode : free, at limit (the motor gives less), overrun (loads are faster, the motor gives nothing)
elbow.effort_limit.mode : free, saturated+, saturated-
elbow.….force : N·m or N along the coordinate, positive as its joint force is; of limits what they take off the command
elbow.friction.loss, elbow.stop.loss, elbow.stop.stored : J lost since the run began; J in the stop now
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.joint_modes import NOWHERE, JointRow, JointRowTable, build_joint_row_table
from core.constraints.joint_rows import cut_row_index
from core.constraints.row_forces import RowForces
from core.mechanism import Mechanism
from core.model.dimensions import force_dimension
from core.simulation.equations.contact_rows import AGAINST, APART, AT_SPEED, HELD, MOVING, OVERRUN, SATURATED
from core.simulation.events.contact_columns import (
    BOUNCES,
    CLIPPED,
    CUT,
    EACH_ROW,
    FRICTION,
    FRICTION_LOSS,
    MODE,
    MOTOR_WORK,
    RESTS,
    STOP,
    STOP_FORCE,
    STOP_WORK,
    STORED,
    WITHHELD,
    row_columns,
)
from core.simulation.run.element_channels import Channel

Array = NDArray[np.float64]
Words = NDArray[np.str_]

FRICTION_MODES = ("stick", "slide+", "slide-", "saturated", "free")
BALL_MODES = ("stick", "slide", "saturated", "free")
ELASTIC_MODES = ("open", "closed", "leaving")
RIGID_MODES = ("free", "at limit")
SPEED_MODES = ("free", "at limit", "overrun")
EFFORT_MODES = ("free", "saturated+", "saturated-")


class StateInterval(NamedTuple):
    """Interval of time, s, during which a contact state lasts."""

    begin: float
    end: float
    word: str


class Event(NamedTuple):
    """Change of a contact state at an instant of a run."""

    time: float
    """Time, s."""
    joint: str
    """Joint name, with the coordinate if it has several."""
    what: str
    """Kind of event: slipped, stuck, hit, left, …"""

    def __str__(self) -> str:
        return f"{self.joint}: {self.what}"


class ContactElement(NamedTuple):
    """Friction, stop or limit that acts along a coordinate and has contact states."""

    name: str
    """Channel prefix, such as elbow.friction."""
    words: tuple[str, ...]
    codes: Callable[[Array], Array]
    """(n, columns of its row) → (n,) index of the contact state."""
    force: int
    """Column of its force."""
    width: int = 1
    """Number of rows, from its own on, along which it acts."""


def _friction_codes(rows: Array) -> Array:
    mode = rows[:, MODE]
    return np.select([mode == HELD, np.abs(mode) == SATURATED, mode > 0.0], [0, 3, 1], 2)


def _brake_codes(rows: Array) -> Array:
    """Return the contact states of a brake or clutch, which is free where it has no friction."""
    free = (np.abs(rows[:, MODE]) == MOVING) & (rows[:, FRICTION] == 0.0)
    return np.where(free, FRICTION_MODES.index("free"), _friction_codes(rows))


def _disk_codes(rows: Array) -> Array:
    mode = np.abs(rows[:, MODE])
    return np.select([mode == HELD, mode == SATURATED], [0, 2], 1)


def _disk_brake_codes(rows: Array) -> Array:
    """Return the contact states of a brake with vector friction: free only where all rows have no friction."""
    free = (np.abs(rows[:, MODE]) == MOVING) & (rows[:, FRICTION] == 0.0)
    return np.where(free, BALL_MODES.index("free"), _disk_codes(rows))


def _elastic_codes(rows: Array) -> Array:
    return np.abs(rows[:, STOP])


def _rigid_codes(rows: Array) -> Array:
    return np.where(np.abs(rows[:, STOP]) == AGAINST, 1, 0)


def _speed_codes(rows: Array) -> Array:
    mode = np.abs(rows[:, MODE])
    return np.select([mode == AT_SPEED, mode == OVERRUN], [1, 2], 0)


def _effort_codes(rows: Array) -> Array:
    return np.select([rows[:, CLIPPED] > 0.0, rows[:, CLIPPED] < 0.0], [1, 2], 0)


def find_contact_elements(row: JointRow) -> Iterator[ContactElement]:
    """Yield friction, stop and limits that act along a row."""
    if row.has_dry_friction and row.shares != 1:
        if row.shares:
            codes = _disk_codes if row.controlled == NOWHERE else _disk_brake_codes
            yield ContactElement(f"{row.together}.friction", BALL_MODES, codes, FRICTION, row.shares)
    elif row.has_dry_friction:
        codes = _friction_codes if row.controlled == NOWHERE else _brake_codes
        yield ContactElement(f"{row.name}.friction", FRICTION_MODES, codes, FRICTION)
    if np.isfinite(row.lower) or np.isfinite(row.upper):
        words, codes = (RIGID_MODES, _rigid_codes) if row.rigid else (ELASTIC_MODES, _elastic_codes)
        yield ContactElement(f"{row.name}.stop", words, codes, STOP_FORCE)
    if np.isfinite(row.fastest):
        yield ContactElement(f"{row.name}.speed_limit", SPEED_MODES, _speed_codes, WITHHELD)
    if np.isfinite(row.effort) and row.at_v != NOWHERE and row.ratio == 1.0:
        yield ContactElement(f"{row.name}.effort_limit", EFFORT_MODES, _effort_codes, CUT)


class ContactChannels:
    """Channels of the contact states of a run; empty if nothing in its machine has contact states or if they were not
    recorded."""

    def __init__(self, mech: Mechanism, p: Array, samples: Any) -> None:
        self.mech, self.samples = mech, samples
        self._p = p

    def replace_samples(self, p: Array, modes: JointRowTable) -> None:
        """Use other samples, of the same machine with other parameter values."""
        self.__dict__.pop("stretches", None)
        self._p, self.rows = p, modes.rows if self.samples.modes.shape[1:] == (column_count(len(modes.rows)),) else ()

    @cached_property
    def rows(self) -> tuple[JointRow, ...]:
        """Return the recorded rows."""
        rows = build_joint_row_table(self.mech.compiled, self._p).rows
        return rows if self.samples.modes.shape[1:] == (column_count(len(rows)),) else ()

    def of(self, k: int) -> Array:
        """Return the recorded columns (n, `EACH_ROW`) of one contact row."""
        return row_columns(self.samples.modes, k)

    @cached_property
    def contact_elements(self) -> dict[str, tuple[int, ContactElement]]:
        """Return (row, contact element) by name: frictions, stops and limits."""
        return {thing.name: (k, thing) for k, row in enumerate(self.rows) for thing in find_contact_elements(row)}

    def state_codes(self, name: str) -> Array:
        """Return the index (n,) of the contact state of a friction, stop or limit at each sample."""
        k, found = self.contact_elements[name]
        return np.asarray(found.codes(self.of(k)), dtype=np.int64)

    @cached_property
    def stretches(self) -> dict[str, tuple[StateInterval, ...]]:
        """Return the intervals of each contact state, by the name of the friction, stop or limit."""
        time = self.samples.time
        found = {}
        for name, (_, thing) in self.contact_elements.items():
            codes = self.state_codes(name)
            begins = np.concatenate([[0], np.flatnonzero(np.diff(codes)) + 1])
            ends = np.concatenate([begins[1:], [len(time) - 1]])
            found[name] = tuple(
                StateInterval(float(time[begin]), float(time[end]), thing.words[codes[begin]])
                for begin, end in zip(begins, ends, strict=True)
            )
        return found

    def state_words(self, name: str) -> Words:
        """Return the contact states (n,) as strings."""
        return np.array(self.contact_elements[name][1].words)[self.state_codes(name)]

    @cached_property
    def table(self) -> dict[str, Channel]:
        """Return the numerical channels by name."""
        return dict(self._number_channels())

    @cached_property
    def word_channels(self) -> dict[str, tuple[str, ...]]:
        """Return the channels of strings, each with the strings that it may take."""
        return {f"{name}.mode": thing.words for name, (_, thing) in self.contact_elements.items()}

    def _number_channels(self) -> Iterator[tuple[str, Channel]]:
        for name, (k, thing) in self.contact_elements.items():
            force = force_dimension(self.rows[k].dimension)
            if thing.width > 1:
                suffixes = tuple(row.name.removeprefix(f"{row.owner}.") for row in self.rows[k : k + thing.width])
                yield f"{name}.force", Channel(self._force_vector(k, thing), (force,) * thing.width, suffixes)
            else:
                yield f"{name}.force", Channel(self._recorded_column(k, thing.force), (force,))
            if thing.force == FRICTION:
                yield f"{name}.loss", Channel(self._friction_loss(k, thing.width), ("energy",))
            elif thing.force == STOP_FORCE:
                yield f"{name}.loss", Channel(self._stop_loss(k), ("energy",))
                yield f"{name}.stored", Channel(self._recorded_column(k, STORED), ("energy",))

    def _recorded_column(self, k: int, column: int) -> Callable[[], Array]:
        return lambda: self.of(k)[:, column]

    def _force_vector(self, k: int, element: ContactElement) -> Callable[[], Array]:
        return lambda: np.stack([self.of(i)[:, element.force] for i in range(k, k + element.width)], axis=1)

    def _friction_loss(self, k: int, count: int) -> Callable[[], Array]:
        return lambda: np.sum([self.of(i)[:, FRICTION_LOSS] for i in range(k, k + count)], axis=0)

    def _stop_loss(self, k: int) -> Callable[[], Array]:
        return lambda: self.of(k)[:, STOP_WORK] - self.of(k)[:, STORED]

    def total(self, column: int) -> Array:
        """Return the sum (n,) of a column over all rows."""
        return np.asarray(sum((self.of(k)[:, column] for k in range(len(self.rows))), np.zeros(len(self.samples.time))))

    @property
    def motor_work(self) -> Array | None:
        """Return the work (n,) of joint forces, J; None: it was not recorded."""
        return np.asarray(self.samples.modes[:, EACH_ROW * len(self.rows) + MOTOR_WORK]) if self.rows else None

    def row_forces(self) -> RowForces | None:
        """Return the forces of friction, stops and limits, which act in addition to the smooth equations; None: there
        are none."""
        if not self.rows:
            return None
        compiled, s = self.mech.compiled, self.samples
        joint = np.zeros(s.v.shape)
        closing = np.zeros((len(joint), len(compiled.program.symbolic.cut_coordinates)))
        cut = [row for row in self.rows if row.at_v == NOWHERE]
        W = dict(zip([row.name for row in cut], self._cut_row_entries(cut), strict=True)) if cut else {}
        for k, row in enumerate(self.rows):
            kept = self.of(k)
            force = kept[:, FRICTION] + kept[:, STOP_FORCE] + kept[:, WITHHELD]
            if row.at_v != NOWHERE:
                joint[:, row.at_v] += row.ratio * force
            else:
                joint += W[row.name] * force[:, None]
                closing[:, cut_row_index(compiled, row)] += force
        return RowForces(joint, closing)

    def _cut_row_entries(self, rows: Sequence[JointRow]) -> list[Array]:
        """Return W (n, nv) of rows of loop-closing joints."""
        compiled, q = self.mech.compiled, self.samples.q
        entries = compiled.call("cut_entries", q, p=self._p)
        pattern = compiled.program.symbolic.cut_expressions.pattern
        found = []
        for row in rows:
            W, chosen = np.zeros((len(q), compiled.nv)), pattern.rows == cut_row_index(compiled, row)
            W[:, pattern.columns[chosen]] = entries[:, chosen]
            found.append(W)
        return found


def column_count(rows: int) -> int:
    """Return the number of columns that are recorded for a number of rows."""
    return EACH_ROW * rows + 1 if rows else 0


def find_events(channels: ContactChannels) -> tuple[Event, ...]:
    """Return the events in order of time, which are found where contact states differ between two samples."""
    time = channels.samples.time
    found = [
        Event(float(time[i + 1]), row.together or row.name, what)
        for k, row in enumerate(channels.rows)
        if row.shares
        for i, what in _find_row_events(channels.of(k)[:, : RESTS + 1], row)
    ]
    return tuple(sorted(found))


def _find_row_events(rows: Array, row: JointRow) -> Iterator[tuple[int, str]]:
    """Yield (sample before, event) of one row."""
    for i in np.flatnonzero((rows[1:] != rows[:-1]).any(axis=1)):
        before, after = rows[i], rows[i + 1]
        if row.has_dry_friction:
            rested, rests = abs(before[MODE]) in (HELD, SATURATED), abs(after[MODE]) in (HELD, SATURATED)
            if rested != rests:
                yield int(i), "stuck" if rests else "slipped"
        yield from ((int(i), what) for what in _find_stop_events(before, after, row))
        yield from ((int(i), what) for what in _find_limit_events(before, after))


def _find_stop_events(rows_before: Array, rows_after: Array, row: JointRow) -> Iterator[str]:
    """Yield the events of a stop."""
    side = rows_after[STOP] or rows_before[STOP] or np.isfinite(row.upper) * 1.0 - np.isfinite(row.lower) * 1.0
    if not side and rows_after[BOUNCES] > rows_before[BOUNCES]:
        side = -rows_after[MODE]  # thrown back onward: it was the lower one
    which = "upper stop" if side > 0.0 else "lower stop" if side < 0.0 else "stop"
    if rows_after[RESTS] > rows_before[RESTS]:
        yield f"bounced to rest at {which}"
    elif rows_after[BOUNCES] > rows_before[BOUNCES]:
        yield f"hit {which}"
    if rows_after[STOP] == APART and rows_before[STOP] != APART:
        yield f"left {which}"


def _find_limit_events(rows_before: Array, rows_after: Array) -> Iterator[str]:
    """Yield the events of speed and effort limits."""
    was, now = abs(rows_before[MODE]), abs(rows_after[MODE])
    if was != now and AT_SPEED in (was, now):
        yield (
            "reached speed limit"
            if now == AT_SPEED
            else "left speed limit"
            if now != OVERRUN
            else "overran speed limit"
        )
    elif was != now and OVERRUN in (was, now):
        yield "overran speed limit" if now == OVERRUN else "left speed limit"
    if rows_before[CLIPPED] != rows_after[CLIPPED]:
        yield "reached effort limit" if rows_after[CLIPPED] else "left effort limit"
