"""Atlas of a linkage topology: coupler curves of random linkages, computed in batches and stored as Fourier
coefficients.

Every member is one branch that closes through the whole turn of the crank, or, for arcs, part of one. Similarity, phase
and sense of the nearest curves are found in closed form (complex least squares over all shifts by the fast Fourier
transform; Ullah and Kota 1997), so that they cost no unknowns.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from core.codegen import object_cache
from core.design.swept import SweptPoint
from core.design.topologies import DRIVEN, POINT, Topology, topology_named
from core.mechanism import Mechanism

Array = NDArray[np.float64]
Terms = NDArray[np.complex64]
Complex = NDArray[np.complex128]
MEMBERS, ARC_MEMBERS = 100_000, 20_000
SAMPLES = 64
HARMONICS = 15
LEAST_REACH = 0.01
"""Smallest reach that a linkage of the atlas may have in any pose."""
ROUND = 60_000
MOST_ROUNDS = 40
GRID = 2.0 * np.pi * np.arange(SAMPLES) / SAMPLES
BINS = np.r_[1 : HARMONICS + 1, SAMPLES - HARMONICS : SAMPLES]
LENGTHS = (10, 16, 22, 28, 36, 46, 58)
"""Numbers of samples of the atlas's arcs with which a target arc is compared."""
VERSION = 2


class Candidates(NamedTuple):
    """Linkages of the atlas near a curve, the nearest first: index in the atlas, distance (rms in sizes of the curve),
    sense ±1, crank angle at the curve's first point (with points by arc length: 2 π times the share of the length
    there), and crank rotation up to the last point of an arc."""

    member: NDArray[np.int64]
    distance: Array
    sense: Array
    first: Array
    span: Array

    def best(self, count: int) -> Candidates:
        """Return the `count` nearest candidates."""
        order = np.argsort(self.distance, kind="stable")[:count]
        return Candidates(self.member[order], *(each[order] for each in self[1:]))


class AtlasInterrupted(Exception):
    """Raised when the construction of an atlas is stopped."""


class Atlas:
    """Atlas of the curves of one topology. shapes (n, k) in crank lengths; start (n, nq) closed poses at crank angle 0;
    terms (n, 30) Fourier coefficients of the curve over time, of norm 1; by_length : the same over arc length."""

    def __init__(self, topology: Topology, members: int = MEMBERS, seed: int = 0) -> None:
        self.topology, self._members, self._seed = topology, members, seed
        self.swept = build_swept_point(topology)
        self._lock = threading.RLock()
        self._stop: Callable[[], bool] = lambda: False

    def prepare(self, should_stop: Callable[[], bool]) -> bool:
        """Build the atlas unless it exists. The callable is polled; if it ends the work, a partial atlas is discarded
        and False returned."""
        with self._lock:
            self._stop = should_stop
            try:
                return len(self._load_or_compute_members[0]) > 0
            except AtlasInterrupted:
                return False
            finally:
                self._stop = lambda: False

    def p(self, shapes: Array) -> Array:
        """Return the (n, n_p) parameter values of these shapes with a crank of length 1."""
        names = self.swept.mech.p_names
        columns = [
            np.ones(len(shapes)) if name == "a" else shapes[:, self.topology.shape.index(name)] for name in names
        ]
        return np.column_stack(columns)

    @property
    def shapes(self) -> Array:
        """Shape parameters (n, k) of the linkages, in crank lengths."""
        return self._load_or_compute_members[0]

    @property
    def start(self) -> Array:
        """Closed poses (n, nq) at crank angle 0."""
        return self._load_or_compute_members[1]

    @property
    def time_coefficients(self) -> Terms:
        """Fourier coefficients (n, 30) of the curves over time."""
        return self._load_or_compute_members[2]

    @property
    def length_coefficients(self) -> Terms:
        """Fourier coefficients (n, 30) of the curves over arc length."""
        return self._load_or_compute_members[3]

    @cached_property
    def _load_or_compute_members(self) -> tuple[Array, Array, Terms, Terms]:
        with self._lock:
            nq, k = self.swept.mech.nq, len(self.topology.shape)
            content = object_cache.load(self._cache_name)
            widths = 4 * k, 4 * nq, 16 * HARMONICS, 16 * HARMONICS
            if content is not None and len(content) % sum(widths) == 0 and content:
                n = len(content) // sum(widths)
                ends = np.cumsum([0, *(n * width for width in widths)])
                parts = [content[a:b] for a, b in pairwise(ends)]
                reals = (np.frombuffer(each, np.float32).reshape(n, -1).astype(float) for each in parts[:2])
                terms = (np.frombuffer(each, np.complex64).reshape(n, -1) for each in parts[2:])
                return (*reals, *terms)  # type: ignore[return-value]
            made = self._compute_members()
            reals32 = [each.astype(np.float32) for each in made[:2]]
            object_cache.store_object_code(self._cache_name, b"".join(each.tobytes() for each in (*reals32, *made[2:])))
            return reals32[0].astype(float), reals32[1].astype(float), made[2], made[3]

    @property
    def _cache_name(self) -> str:
        text = repr((VERSION, self.topology, self._members, self._seed, SAMPLES, HARMONICS))
        return "atlas-" + hashlib.sha256(text.encode()).hexdigest()

    def _compute_members(self) -> tuple[Array, Array, Terms, Terms]:
        """Compute the curves of random linkages whose crank makes full turns."""
        rng = np.random.default_rng(self._seed)
        found: list[tuple[NDArray[Any], ...]] = []
        count = 0
        for _ in range(MOST_ROUNDS):
            shapes = (
                self.topology.draw_random_shapes(rng, min(ROUND, 2000 + 4 * self._members))
                .astype(np.float32)
                .astype(float)
            )
            guess = draw_pose_guesses(rng, self.swept, len(shapes))
            shapes, start = self._select_full_turn_members(shapes, guess)
            w = self._compute_curves(shapes, start)
            good = np.isfinite(w).all(axis=1) & (np.ptp(w.real, axis=1) + np.ptp(w.imag, axis=1) > 1e-3)
            found.append(
                (shapes[good], start[good], _fourier_terms(w[good]), _fourier_terms(_resample_evenly(w[good])))
            )
            count += int(good.sum())
            if count >= self._members:
                break
        parts = [np.concatenate(column)[: self._members] for column in zip(*found, strict=True)]
        return parts[0], parts[1], parts[2], parts[3]

    def _select_full_turn_members(self, shapes: Array, guess: Array) -> tuple[Array, Array]:
        """Select the shapes whose loops close at a few crank angles, with their poses closed at angle 0."""
        p = self.p(shapes)
        start = self.swept.poses(self.swept.guesses_at_angles(np.zeros(len(shapes)), guess), p)
        good = start.reach > LEAST_REACH
        q = start.q
        for angle in (np.pi, np.pi / 2, 3 * np.pi / 2):
            good &= self.swept.points(self.swept.guesses_at_angles(np.full(len(q), angle), q), p)[:, 4] > LEAST_REACH
        return shapes[good], q[good]

    def _compute_curves(self, shapes: Array, start: Array) -> Complex:
        """Compute (n, SAMPLES) curve points; nan for a linkage whose crank cannot make a full turn or that returns on
        another branch."""
        p, q = self.p(shapes), start
        w = np.empty((len(shapes), SAMPLES), dtype=complex)
        good = np.ones(len(shapes), dtype=bool)
        for k, angle in enumerate((*GRID, 2.0 * np.pi)):
            if self._stop():
                raise AtlasInterrupted
            at = self.swept.poses(self.swept.guesses_at_angles(np.full(len(q), angle), q), p)
            good &= at.reach > LEAST_REACH
            if k < SAMPLES:
                w[:, k] = at.point[:, 0] + 1j * at.point[:, 1]
            else:
                good &= np.abs(at.point[:, 0] + 1j * at.point[:, 1] - w[:, 0]) < 1e-6
            q = at.q
        w[~good] = np.nan
        return w

    @cached_property
    def compute_arcs(self) -> tuple[Array, Array, NDArray[np.complex64], NDArray[np.bool_]]:
        """Compute arcs of linkages whose crank need not make a full turn: shapes, poses (m, SAMPLES, nq), points, and a
        mask of the poses that close."""
        with self._lock:
            rng = np.random.default_rng([self._seed, 1])
            topology = self.topology._replace(grashof=False)
            shapes = topology.draw_random_shapes(rng, ARC_MEMBERS)
            guess = draw_pose_guesses(rng, self.swept, len(shapes))
            found = self.swept.follow_along(GRID, guess, self.p(shapes))
            # round once more: where the branch was lost between, it is taken up where it begins
            again = self.swept.follow_along(GRID, found.q[:, -1], self.p(shapes))
            w = (again.point[..., 0] + 1j * again.point[..., 1]).astype(np.complex64)
            return shapes, again.q, w, again.reach > LEAST_REACH

    # ----------------------------------------------------------------------------------------------- search

    def find_near_closed_curve(self, curve: Complex, count: int, *, by_length: bool = False) -> Candidates:
        """Find linkages whose curve, after a similarity transform, is near a closed curve given by (SAMPLES,) points,
        evenly spaced in time (by_length : in arc length)."""
        W = self.length_coefficients if by_length else self.time_coefficients
        Z = np.fft.fft(curve)[BINS]
        Z = (Z / np.linalg.norm(Z)).astype(np.complex64)
        whole = np.abs(np.fft.fft(curve)) ** 2
        size = float(np.sqrt(whole[1:].sum() / max(float(whole[BINS].sum()), 1e-300)))
        found = []
        for sense, own in ((1.0, Z), (-1.0, Z[::-1])):
            above = np.abs(W) @ np.abs(own)
            members = (
                np.argpartition(-above, min(25_000, len(above) - 1))[:25_000]
                if len(above) > 25_000
                else np.arange(len(above))
            )
            spread = np.zeros((len(members), SAMPLES), dtype=np.complex64)
            spread[:, BINS] = np.conj(W[members]) * own
            c = np.abs(scipy.fft.fft(spread, axis=1, workers=1))
            shift = np.argmax(c, axis=1)
            distance = np.sqrt(np.maximum(size**2 - c[np.arange(len(members)), shift] ** 2, 0.0)) / size
            none = np.zeros(len(members))
            found.append(Candidates(members, distance, none + sense, GRID[shift], none))
        return _merge_candidates([each.best(count) for each in found]).best(count)

    def find_near_arc(self, curve: Complex, count: int, fractions: tuple[int, ...] = LENGTHS) -> Candidates:
        """Find linkages with an arc near an open curve given by points evenly spaced in time."""
        shapes, _, w, closes = self.compute_arcs
        found = []
        open_ = np.where(closes, 0, 1)
        w = np.where(closes, w, 0)
        W, energy = scipy.fft.fft(w, axis=1), np.abs(w) ** 2
        for sense in (1.0, -1.0):
            for length in fractions:
                at = np.linspace(0.0, len(curve) - 1.0, length)
                own = np.interp(at, np.arange(len(curve)), curve.real) + 1j * np.interp(
                    at, np.arange(len(curve)), curve.imag
                )
                own = own[:: int(sense)] - own.mean()  # against the crank's sense: from the end
                own = (own / np.linalg.norm(own)).astype(np.complex64)
                kernel = np.zeros(SAMPLES, dtype=np.complex64)
                kernel[:length] = own
                box = np.zeros(SAMPLES, dtype=np.float32)
                box[:length] = 1.0
                B = np.conj(np.fft.fft(box)).astype(np.complex64)
                corr = np.abs(scipy.fft.ifft(W * np.conj(np.fft.fft(kernel)).astype(np.complex64), axis=1))
                total = scipy.fft.ifft(W * B, axis=1)
                squares = scipy.fft.ifft(scipy.fft.fft(energy, axis=1) * B, axis=1).real
                misses = scipy.fft.ifft(scipy.fft.fft(open_, axis=1) * B, axis=1).real
                variance = np.maximum(squares - np.abs(total) ** 2 / length, 1e-9)
                score = np.where(misses < 0.5, corr**2 / variance, 0.0)
                shift = np.argmax(score, axis=1)
                best = np.minimum(score[np.arange(len(shapes)), shift], 1.0)
                first = GRID[shift] if sense > 0 else GRID[shift] + GRID[1] * (length - 1)
                span = np.full(len(shapes), sense * GRID[1] * (length - 1))
                every = Candidates(
                    np.arange(len(shapes)), np.sqrt(1.0 - best), np.full(len(shapes), sense), first, span
                )
                found.append(every.best(-(-count // (2 * len(fractions)))))
        return _merge_candidates(found).best(count)


def _merge_candidates(candidate_sets: Sequence[Candidates]) -> Candidates:
    """Merge several sets of candidates into one."""
    columns = list(zip(*candidate_sets, strict=True))
    return Candidates(np.concatenate(columns[0]), *(np.concatenate(column) for column in columns[1:]))


def draw_pose_guesses(rng: np.random.Generator, swept: SweptPoint, count: int) -> Array:
    """Draw (count, nq) random pose guesses over the ranges of the coordinates; each leads to a random assembly
    branch."""
    return np.asarray(rng.uniform(-np.pi, np.pi, (count, swept.mech.nq)))


def _fourier_terms(curves: Complex) -> Terms:
    """Compute (n, 30) Fourier coefficients of curves, scaled to norm 1."""
    W = np.fft.fft(curves, axis=1)[:, BINS]
    return np.asarray((W / np.linalg.norm(W, axis=1, keepdims=True)).astype(np.complex64))


def _resample_evenly(curves: Complex) -> Complex:
    """Resample curves evenly in arc length."""
    closed = np.concatenate([curves, curves[:, :1]], axis=1)
    at = np.concatenate([np.zeros((len(curves), 1)), np.cumsum(np.abs(np.diff(closed, axis=1)), axis=1)], axis=1)
    wanted = np.arange(SAMPLES) / SAMPLES * at[:, -1:]
    k = np.zeros(wanted.shape, dtype=np.int64)
    for j in range(1, SAMPLES):
        k += wanted >= at[:, j : j + 1]
    low, high = np.take_along_axis(at, k, 1), np.take_along_axis(at, k + 1, 1)
    share = (wanted - low) / np.maximum(high - low, 1e-12)
    return np.asarray(np.take_along_axis(closed, k, 1) * (1 - share) + np.take_along_axis(closed, k + 1, 1) * share)


_atlases: dict[str, Atlas] = {}
_swept: dict[str, SweptPoint] = {}
_lock = threading.Lock()


def build_swept_point(topology: Topology) -> SweptPoint:
    """Return the tracing point of a topology's machine, with derivatives with respect to the shape; compiled once."""
    with _lock:
        if topology.name not in _swept:
            mech = Mechanism(topology.model({}, drawn=False))
            _swept[topology.name] = SweptPoint(mech, DRIVEN, POINT, topology.shape, "xz")
        return _swept[topology.name]


def get_atlas(name: str) -> Atlas:
    """Return the atlas of a topology by name, built on first use."""
    topology = topology_named(name)
    with _lock:
        known = _atlases.get(name)
    if known is None:
        known = Atlas(topology)
        with _lock:
            known = _atlases.setdefault(name, known)
    return known
