"""Path synthesis against closed forms, published linkages and points."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.design.atlas import Atlas, build_swept_point, get_atlas
from core.design.path_synthesis import four_bar_coupler_curve, synthesise
from core.design.target_curves import Target, target, target_from_csv, target_from_svg
from core.design.topologies import DRIVEN, POINT, TOPOLOGIES
from core.errors import FileError, ModelError
from core.mechanism import Mechanism

NINE = [(0.25, 0), (0.52, 0.1), (0.8, 0.7), (1.2, 1), (1.4, 1.3), (1.1, 1.48), (0.7, 1.4), (0.2, 1), (0.02, 0.4)]
"""Problem 3 of Wampler, Morgan, Sommese (1992), Complete Solution of the Nine-Point Path Synthesis Problem."""
CRANK = 2.0 * np.pi * np.arange(64) / 64
LAMBDA = {"a": 1.0, "b": 2.5, "c": 2.5, "d": 2.0, "px": 5.0, "py": 0.0}
"""Chebyshev's lambda linkage."""
KNOWN = {"a": 0.3, "b": 0.8, "c": 0.7, "d": 0.9, "px": 0.4, "py": 0.35, "x0": 0.1, "z0": 0.2, "turn": 0.3}


def drawn(linkage, theta):
    """Points of the solution by the closed form; its crank angles are counted from the ground bar."""
    both = [four_bar_coupler_curve(linkage.lengths, theta, side) for side in (1.0, -1.0)]
    return min(both, key=lambda z: np.linalg.norm(z - linkage.target.points))


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_slopes_of_a_swept_point_are_exact(name):
    swept = build_swept_point(TOPOLOGIES[name])
    mech, rng = swept.mech, np.random.default_rng(1)
    atlas = Atlas(TOPOLOGIES[name], members=3, seed=5)
    shapes, start, _, _ = atlas._compute_members()
    for row, q in zip(atlas.p(shapes), start, strict=True):
        guess = swept.guesses_at_angles(rng.uniform(-0.05, 0.05, 5), q)
        found = swept.compute_slopes(guess, row)
        closed = swept.poses(guess, row)
        positions = mech.poses(closed.q, row)[:, list(mech.frame_names).index(POINT), :3, 3]
        assert positions[:, [0, 2]] == pytest.approx(found.point, abs=1e-12)
        for k, at in enumerate(swept.variables):
            h = 1e-6 * max(abs(row[at]), 1.0)
            plus, minus = row.copy(), row.copy()
            plus[at] += h
            minus[at] -= h
            difference = (swept.points(guess, plus) - swept.points(guess, minus))[:, :2] / (2.0 * h)
            assert found.slopes[:, 1 + k, :2] == pytest.approx(difference, abs=2e-7, rel=1e-6)


def test_every_member_of_an_atlas_closes_through_the_turn():
    atlas = get_atlas("four_bar")
    few = slice(0, 200)
    theta = np.linspace(0.0, 2.0 * np.pi, 90)
    found = atlas.swept.follow_along(theta, atlas.start[few], atlas.p(atlas.shapes[few]))
    assert found.reach.min() > 0.0
    assert found.point[:, -1] == pytest.approx(found.point[:, 0], abs=1e-6)
    bars = np.sort(np.column_stack([np.ones(200), atlas.shapes[few, :3]]), axis=1)
    assert (bars[:, 0] + bars[:, 3] < bars[:, 1] + bars[:, 2]).all()  # Grashof


@pytest.mark.parametrize("timed", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_unseen_curves_are_found_again(timed):
    rng = np.random.default_rng(123)
    shapes = [s for s in TOPOLOGIES["four_bar"].draw_random_shapes(rng, 400) if np.min([1.0, *s[:3]]) == 1.0][:6]
    hits = 0
    for k, shape in enumerate(shapes):
        values = dict(zip(("b", "c", "d", "px", "py"), shape, strict=True)) | {"a": 1.0}
        points = 0.05 * four_bar_coupler_curve(values, (-1) ** k * CRANK + 0.3, (-1.0) ** (k // 2))
        assert np.isfinite(points).all()
        found = synthesise(target(points, timed=timed), count=1)[0]
        hits += found.relative < 1e-6 and not found.defects
    assert hits >= 5


def test_wamplers_nine_points():
    found = synthesise(Target(np.array(NINE)), count=3)
    exact = [each for each in found if each.relative < 1e-10]
    assert exact
    assert not exact[0].defects
    assert drawn(exact[0], exact[0].theta) == pytest.approx(np.array(NINE), abs=1e-9)


def test_chebyshevs_lambda_linkage_is_found_from_its_curve():
    found = synthesise(target(four_bar_coupler_curve(LAMBDA, CRANK), timed=True), count=4)
    ratios = [[each.lengths[n] / each.lengths["a"] for n in ("b", "c", "d")] for each in found if each.relative < 1e-9]
    # itself, or its cognate with a turning crank, which is of the same proportions mirrored
    assert any(np.allclose(each, [2.5, 2.5, 2.0], atol=1e-6) for each in ratios)


@pytest.mark.slow
def test_roberts_straight_line_is_found_from_its_arc():
    """Side bars of one length, the coupler half the ground, its point the tip of a triangle of equal sides."""
    roberts = {"a": 1.0, "b": 1.0, "c": 1.0, "d": 2.0, "px": 0.5, "py": -np.sqrt(3.0) / 2.0}
    theta = np.linspace(np.radians(48.0), np.radians(72.0), 24)
    points = four_bar_coupler_curve(roberts, theta, 1.0)
    found = synthesise(target(points, closed=False, timed=True), count=3)[0]
    assert found.relative < 1e-6
    assert not found.defects


def test_the_reference_curve():
    path = Path(__file__).parents[1] / "reference" / "opt_coupler_curve_known.json"
    rows = np.array(json.loads(path.read_text())["parameters"]["rows"])
    found = synthesise(target(rows[:, 1:], times=rows[:, 0] / (2.0 * np.pi)), count=4)
    assert found[0].error < 1e-6
    known = [each for each in found if np.isclose(each.lengths["a"], KNOWN["a"], rtol=1e-6)]
    assert {name: known[0].lengths[name] for name in KNOWN} == pytest.approx(KNOWN, abs=1e-8)


def test_a_solution_is_a_machine_that_stands_at_the_curve():
    found = synthesise(target(four_bar_coupler_curve(KNOWN, CRANK), timed=True), count=1)[0]
    mech = Mechanism(found.model)
    q = mech.rest()
    assert mech.frame(q, POINT)[[0, 2], 3] == pytest.approx(found.target.points[0], abs=1e-9)
    moved = mech.move(q, {DRIVEN: float(found.theta[3])})
    assert mech.frame(moved, POINT)[[0, 2], 3] == pytest.approx(found.target.points[3], abs=1e-9)


def test_cognates_draw_the_same_curve():
    found = synthesise(target(four_bar_coupler_curve(KNOWN, CRANK), timed=True), count=1)[0]
    points = found.curve(40)
    for cognate in found.cognates():
        # a point lies on the curve if the dyad from it closes: |B − B0| = c for one of both poses of the crank
        ratio = complex(cognate["px"], cognate["py"]) / cognate["b"]
        ground = np.exp(1j * cognate["turn"])
        start = complex(cognate["x0"], cognate["z0"])
        gaps = []
        for x, y in points:
            z = (complex(x, y) - start) / ground
            d, radius = abs(z), abs(complex(cognate["px"], cognate["py"]))
            angle = np.arccos(np.clip((cognate["a"] ** 2 + d**2 - radius**2) / (2 * cognate["a"] * d), -1, 1))
            pins = [cognate["a"] * np.exp(1j * (np.angle(z) + side * angle)) for side in (1, -1)]
            gaps.append(min(abs(abs(A + (z - A) / ratio - cognate["d"]) - cognate["c"]) for A in pins))
        assert max(gaps) < 1e-9


@pytest.mark.slow
def test_other_topologies_find_their_own_curves():
    for name in ("slider_crank", "swinging_block"):
        atlas = Atlas(TOPOLOGIES[name], members=1, seed=9)
        shapes, start, _, _ = atlas._compute_members()
        w = atlas._compute_curves(shapes, start)[0]
        found = synthesise(target(np.column_stack([w.real, w.imag]), timed=True), name, count=1)[0]
        assert found.relative < 1e-6, name


def test_what_is_drawn_can_be_typed_imported_and_smoothed():
    csv = target_from_csv("x,y\n0,0\n1,0\n1,1\n0,1\n", scale=1e-3)
    assert csv.points.tolist() == [[0, 0], [1e-3, 0], [1e-3, 1e-3], [0, 1e-3]]
    svg = target_from_svg('<svg><path d="M0 0 h10 v-10 H0 Z"/></svg>')
    assert svg.closed
    assert svg.points == pytest.approx(np.array([[0, 0], [0.01, 0], [0.01, 0.01], [0, 0.01]]))
    circle = target(np.column_stack([np.cos(CRANK), np.sin(CRANK)]))
    noisy = target(circle.points + 0.01 * np.column_stack([np.cos(20 * CRANK), np.sin(20 * CRANK)]), timed=True)
    assert np.linalg.norm(noisy.smoothed(3).points, axis=1) == pytest.approx(np.ones(64), abs=1e-12)
    assert svg.sampled(4, by_length=True) == pytest.approx(svg.z, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "says"), [("", "no points"), ("0,0\n1,a\n", "line 2"), ("0,0\n1,2,3,4\n", "4 columns")]
)
def test_bad_csv_is_told_with_its_line(text, says):
    with pytest.raises(FileError, match=says):
        target_from_csv(text)


def test_bad_targets_are_refused():
    with pytest.raises(ModelError, match="coincide"):
        target(np.zeros((5, 2)))
    with pytest.raises(ModelError, match="no topology"):
        synthesise(target(NINE), "five_bar")
    with pytest.raises(FileError, match="elliptic"):
        target_from_svg('<svg><path d="M0 0 A 1 1 0 0 1 2 2"/></svg>')
    with pytest.raises(ModelError, match="Point 2"):
        target([(0, 0), (np.nan, 1), (2, 2)])


@pytest.mark.slow
def test_two_searches_of_all_kinds_at_once_end_when_they_are_stopped():
    """In a process of its own, where both make machine code of all kinds of linkages: a crash would end it."""
    script = """
import threading, time
import numpy as np
from core.design.path_synthesis import synthesise
from core.design.target_curves import target

t = 2 * np.pi * np.arange(24) / 24
found = {}

def search(k):
    points = np.column_stack([np.cos(t) + 0.3 * np.cos(2 * t + k), 0.5 * np.sin(t) + 0.1 * k * np.sin(3 * t)])
    end = time.monotonic() + 4.0
    found[k] = synthesise(target(points), "auto", starts=6, stop=lambda: time.monotonic() > end)

threads = [threading.Thread(target=search, args=(k,)) for k in range(2)]
for each in threads:
    each.start()
for each in threads:
    each.join()
assert set(found) == {0, 1}
"""
    ended = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-W", "error::RuntimeWarning", "-c", script],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr
