"""Target curves in a plane: ordered points, closed or open, with or without times; from arrays, CSV or an SVG path."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import FileError, ModelError

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
HARMONICS = 7
MOST_POINTS = 100_000
BEZIER_STEPS = 16
"""Number of points per curved segment of an SVG path."""


@dataclass(frozen=True, eq=False)
class Target:
    """Target curve. points (n, 2) m, in order; closed : the last point is joined to the first

    times : (n,) growing: of a closed curve the share of the crank's turn at each point, of an arc any measure of it;
    None if only the curve counts
    """

    points: Array
    closed: bool = True
    times: Array | None = field(default=None)

    def __post_init__(self) -> None:
        points = np.array(self.points, dtype=float)
        if points.ndim != 2 or points.shape[1] != 2:
            raise ModelError(
                f"The points have the shape {points.shape}; (n, 2) is needed.",
                where="target",
                remedy="Give rows of two numbers, x and y.",
            )
        if not np.isfinite(points).all():
            bad = int(np.argmin(np.isfinite(points).all(axis=1)))
            raise ModelError(
                f"Point {bad + 1} has a coordinate that is not a number.", where="target", remedy="Remove the point."
            )
        least = 3 if self.closed else 2
        if len(points) < least:
            raise ModelError(
                f"{len(points)} points do not define a curve.", where="target", remedy=f"Give at least {least}."
            )
        if np.ptp(points, axis=0).max() <= 0.0:
            raise ModelError("All points coincide.", where="target", remedy="Give distinct points.")
        object.__setattr__(self, "points", points)
        if self.times is not None:
            times = np.array(self.times, dtype=float)
            if times.shape != (len(points),) or not (np.diff(times) > 0.0).all():
                raise ModelError(
                    "A target needs one increasing time per point.", where="target", remedy="Sort the points by time."
                )
            object.__setattr__(self, "times", times)

    @property
    def z(self) -> Complex:
        """Points (n,) as complex numbers."""
        return np.asarray(self.points[:, 0] + 1j * self.points[:, 1])

    @property
    def size(self) -> float:
        """Root mean square distance of the points from their centre, m."""
        return float(np.sqrt(np.mean(np.abs(self.z - self.z.mean()) ** 2)))

    @property
    def length_shares(self) -> Array:
        """Share (n,) of the arc length at each point; below 1 for a closed curve."""
        z = np.append(self.z, self.z[0]) if self.closed else self.z
        at = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(z)))])
        return np.asarray(at[: len(self.z)] / at[-1])

    def sampled(self, count: int, *, by_length: bool = False) -> Complex:
        """Sample (count,) points evenly in time or arc length; a closed curve without its end point, an open one with
        both ends."""
        at = self.length_shares if by_length or self.times is None else self.time_shares
        wanted = np.arange(count) / (count if self.closed else count - 1)
        if self.closed:
            return np.asarray(_interpolate_closed_curve(at, self.z, wanted))
        keep = np.concatenate([[True], np.diff(at) > 0.0])
        return np.asarray(
            np.interp(wanted, at[keep], self.z[keep].real) + 1j * np.interp(wanted, at[keep], self.z[keep].imag)
        )

    @property
    def time_shares(self) -> Array:
        """Times of the points, scaled so that they start at 0 and an open curve ends at 1."""
        assert self.times is not None
        return self.times - self.times[0] if self.closed else (self.times - self.times[0]) / np.ptp(self.times)

    def smoothed(self, harmonics: int = HARMONICS, count: int = 64) -> Target:
        """Smooth the curve with this many Fourier terms (cosines for an open curve), at `count` points evenly in time
        or arc length."""
        if harmonics < 1:
            raise ModelError("At least one Fourier term is needed.", where="harmonics", remedy="Use 7, for example.")
        by_length = self.times is None
        dense = self.sampled(4 * max(count, 4 * harmonics), by_length=by_length)
        if self.closed:
            terms = np.fft.fft(dense)
            k = np.fft.fftfreq(len(dense), 1.0 / len(dense))
            terms[np.abs(k) > harmonics] = 0.0
            smooth = np.fft.ifft(terms)
            every = len(dense) // count
            z = smooth[::every][:count]
        else:
            from scipy.fft import dct, idct

            slope = dense[0] + (dense[-1] - dense[0]) * np.linspace(0.0, 1.0, len(dense))
            parts = []
            for rest in ((dense - slope).real, (dense - slope).imag):
                terms = dct(rest, norm="ortho")
                terms[harmonics + 1 :] = 0.0
                parts.append(idct(terms, norm="ortho"))
            smooth = slope + parts[0] + 1j * parts[1]
            z = smooth[np.round(np.linspace(0, len(dense) - 1, count)).astype(int)]
        times = None if by_length else np.arange(count) / (count if self.closed else count - 1)
        return replace(self, points=np.column_stack([z.real, z.imag]), times=times)

    def timed(self) -> Target:
        """Return the curve with the same points at evenly spaced times."""
        n = len(self.points)
        return replace(self, times=np.arange(n) / (n if self.closed else n - 1))


def _interpolate_closed_curve(positions: Array, points: Complex, new_positions: Array) -> Complex:
    """Interpolate a closed curve: exactly, by Fourier terms, for evenly spaced points, otherwise by cubic splines."""
    n, step = len(points), 1.0 / len(points)
    if np.allclose(positions, np.arange(n) * step, atol=1e-9):
        if len(new_positions) == n and np.allclose(new_positions, positions, atol=1e-9):
            return points
        terms = np.fft.fft(points) / n
        k = np.fft.fftfreq(n, step)
        return np.asarray(np.exp(2j * np.pi * np.outer(new_positions, k)) @ terms)
    from scipy.interpolate import CubicSpline

    keep = np.concatenate([[True], np.diff(positions) > 0.0]) & (positions < 1.0)
    closed = CubicSpline(
        np.append(positions[keep], positions[keep][0] + 1.0),
        np.append(points[keep], points[keep][0]),
        bc_type="periodic",
    )
    return np.asarray(closed(new_positions))


def target(points: ArrayLike, *, closed: bool = True, times: ArrayLike | None = None, timed: bool = False) -> Target:
    """Build a target curve from points (n, 2), m. timed : points are evenly spaced in time. Raises ModelError."""
    found = Target(np.asarray(points, dtype=float), closed, None if times is None else np.asarray(times, dtype=float))
    return found.timed() if timed and times is None else found


def target_from_csv(text: str, *, closed: bool = True, scale: float = 1.0, name: str = "target") -> Target:
    """Read a target from rows x, y or x, y, time, skipping a header row. Raises FileError with the line."""
    rows: list[list[float]] = []
    for number, line in enumerate(io.StringIO(text), 1):
        cells = [cell for cell in re.split(r"[,;\s]+", line.strip()) if cell]
        if not cells or line.lstrip().startswith("#"):
            continue
        try:
            rows.append([float(cell) for cell in cells])
        except ValueError:
            if rows:
                raise FileError(
                    f"'{line.strip()[:40]}' does not contain numbers.",
                    where=f"{name}, line {number}",
                    remedy="Write x, y.",
                ) from None
            continue
        if len(cells) not in (2, 3) or len(cells) != len(rows[0]) or len(rows) > MOST_POINTS:
            raise FileError(
                f"The line has {len(cells)} columns; all lines need the same number, 2 or 3."
                if len(rows) <= MOST_POINTS
                else f"The file has more than {MOST_POINTS} points.",
                where=f"{name}, line {number}",
                remedy="Write x, y in each line, optionally with the time.",
            )
    if not rows:
        raise FileError("The file contains no points.", where=name, remedy="Write x, y in each line.")
    numbers = np.array(rows)
    times = numbers[:, 2] if numbers.shape[1] == 3 else None
    return Target(scale * numbers[:, :2], closed, times)


def target_from_svg(text: str, *, scale: float = 1e-3, name: str = "target") -> Target:
    """Read a target from the first path, polyline or polygon of an SVG drawing, with y up; scale : m per unit. Raises
    FileError."""
    if "<!DOCTYPE" in text and "<!ENTITY" in text:
        raise FileError(
            "The drawing declares XML entities, which are not read.", where=name, remedy="Save it as plain SVG."
        )
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise FileError(f"This is not an SVG drawing ({error}).", where=name) from None
    for element in root.iter():
        tag = element.tag.rpartition("}")[2]
        if tag == "path":
            return _svg_target(*_parse_path_points(element.get("d", ""), name), scale)
        if tag in ("polyline", "polygon"):
            numbers = [float(x) for x in re.findall(_NUMBER, element.get("points", ""))]
            return _svg_target(np.array(numbers[: len(numbers) // 2 * 2]).reshape(-1, 2), tag == "polygon", scale)
    raise FileError("The drawing has no path.", where=name, remedy="Draw one path, polyline or polygon.")


def _svg_target(points: Array, closed: bool, scale: float) -> Target:
    if closed and len(points) > 3 and np.allclose(points[0], points[-1]):
        points = points[:-1]
    return Target(points * np.array([scale, -scale]), closed)


_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_COUNTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}


def _parse_path_commands(d: str, name: str) -> Iterator[tuple[str, list[float]]]:
    for letter, rest in re.findall(r"([A-Za-z])([^A-Za-z]*(?:[eE][-+]?\d[^A-Za-z]*)*)", d):
        count = _COUNTS.get(letter.upper())
        if count is None:
            raise FileError(f"'{letter}' is not a path command.", where=name)
        if letter in "aA":
            raise FileError("The path contains an elliptic arc.", where=name, remedy="Convert it to Bézier curves.")
        numbers = [float(x) for x in re.findall(_NUMBER, rest)]
        if count and (not numbers or len(numbers) % count):
            raise FileError(
                f"The path command '{letter}' takes {count} numbers, or a multiple of that, not {len(numbers)}.",
                where=name,
            )
        if not count:
            yield letter, []
        for k in range(0, len(numbers), count or 1):
            if k and letter in "Mm":
                letter = "L" if letter == "M" else "l"
            yield letter, numbers[k : k + count]


def _parse_path_points(d: str, name: str) -> tuple[Array, bool]:
    """Return the points of the first subpath, and True if it is closed."""
    points: list[complex] = []
    at, control, before = 0j, 0j, ""
    for letter, numbers in _parse_path_commands(d, name):
        kind = letter.upper()
        if kind == "Z" or (kind == "M" and points):
            return _to_coordinate_pairs(points), kind == "Z"
        origin = at if letter.islower() else 0j
        if kind in "HV":
            fixed = at if letter.isupper() else 0j
            end = complex(numbers[0], fixed.imag) if kind == "H" else complex(fixed.real, numbers[0])
            given = [end]
        else:
            given = [complex(x, y) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
        nodes = [origin + each for each in given]
        if kind == "S":
            nodes.insert(0, 2 * at - control if before in ("C", "S") else at)
        elif kind == "T":
            nodes.insert(0, 2 * at - control if before in ("Q", "T") else at)
        points += nodes if len(nodes) == 1 else _bezier_points([at, *nodes])
        control, at, before = nodes[-2] if len(nodes) > 1 else at, nodes[-1], kind
    if len(points) < 2:
        raise FileError("The path has no points.", where=name, remedy="Draw one.")
    return _to_coordinate_pairs(points), False


def _bezier_points(control_points: Sequence[complex]) -> list[complex]:
    s = np.arange(1, BEZIER_STEPS + 1) / BEZIER_STEPS
    rows = [np.full_like(s, node, dtype=complex) for node in control_points]
    while len(rows) > 1:
        rows = [(1 - s) * a + s * b for a, b in pairwise(rows)]
    return [complex(x) for x in rows[0]]


def _to_coordinate_pairs(points: Sequence[complex]) -> Array:
    z = np.array(points)
    return np.column_stack([z.real, z.imag])
