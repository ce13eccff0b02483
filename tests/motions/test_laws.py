"""Time laws against references, closed forms, and what limits demand."""

import json
from pathlib import Path

import numpy as np
import pytest

from core.errors import ModelError
from core.motions import laws

REFERENCE = json.loads((Path(__file__).parents[1] / "reference" / "traj_time_laws.json").read_text(encoding="utf-8"))
GIVEN, WANTED = REFERENCE["parameters"], REFERENCE["reference"]


def test_quintic_of_the_reference():
    q = GIVEN["quintic"]
    ends = {
        "start_velocity": q["v0"],
        "end_velocity": q["v1"],
        "start_acceleration": q["a0"],
        "end_acceleration": q["a1"],
    }
    rows = np.array(WANTED["quintic"]["rows"])
    law = laws.quintic(q["q0"], q["q1"], q["T"], **ends)
    np.testing.assert_allclose(np.array(law.at(rows[:, 0])).T, rows[:, 1:], rtol=1e-9, atol=1e-12)


def test_trapezoid_of_the_reference():
    t, rows = GIVEN["trapezoid"], np.array(WANTED["trapezoid"]["rows"])
    law = laws.trapezoid(0.0, t["D"], velocity=t["V"], acceleration=t["A"])
    assert law.duration == pytest.approx(WANTED["trapezoid"]["total_time"], rel=1e-12)
    np.testing.assert_allclose(law.at(rows[:, 0])[0], rows[:, 1], rtol=1e-9)


@pytest.mark.parametrize("ends", ["natural", "clamped"])
def test_splines_of_the_reference(ends):
    rows = np.array(WANTED["spline"][ends]["rows"])[1:-1]
    law = laws.spline(GIVEN["spline"]["knots"], GIVEN["spline"]["values"], ends)
    np.testing.assert_allclose(np.array(law.at(rows[:, 0])).T, rows[:, 1:], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("ends", laws.SPLINE_ENDS)
def test_splines_meet_their_points(ends):
    rng = np.random.default_rng(3)
    times, points = np.cumsum(rng.uniform(0.1, 1.0, 7)), rng.normal(size=(7, 2))
    law = laws.spline(times, points, ends)
    np.testing.assert_allclose(law.at(times - times[0])[0], points, atol=1e-12)
    if ends == "quintic":
        np.testing.assert_allclose(law.at([0.0, law.duration])[1:], 0.0, atol=1e-9)


def shortest_s_curve(way, velocity, acceleration, jerk):
    """Duration from the classic case distinction, whose cases are not those of the code."""
    if velocity * jerk < acceleration**2:
        ramp = 2.0 * np.sqrt(velocity / jerk)
    else:
        ramp = velocity / acceleration + acceleration / jerk
    if way >= velocity * ramp:
        return way / velocity + ramp
    if way >= 2.0 * acceleration**3 / jerk**2:
        return acceleration / jerk + np.sqrt((acceleration / jerk) ** 2 + 4.0 * way / acceleration)
    return (32.0 * way / jerk) ** (1.0 / 3.0)


def test_s_curves_are_fastest_and_within_their_limits():
    rng = np.random.default_rng(1)
    for _ in range(500):
        way, (velocity, acceleration, jerk) = 10.0 ** rng.uniform(-6, 2), 10.0 ** rng.uniform(-2, 2, 3)
        law = laws.s_curve(0.0, -way, velocity=velocity, acceleration=acceleration, jerk=jerk)
        assert law.duration == pytest.approx(shortest_s_curve(way, velocity, acceleration, jerk), rel=1e-12)
        peaks = law.peaks()
        assert peaks.velocity <= velocity * (1 + 1e-12)
        assert peaks.acceleration <= acceleration * (1 + 1e-12)
        assert peaks.jerk <= jerk * (1 + 1e-12)
        s, v, _ = law.at(law.duration * (1 - 1e-15))
        assert s == pytest.approx(-way, rel=1e-9)
        assert abs(v) < 1e-6 * velocity


def test_slower_braking():
    law = laws.trapezoid(0.0, 1.0, velocity=9.0, acceleration=4.0, deceleration=1.0)
    assert law.duration == pytest.approx(np.sqrt(2.0 * (1 / 4 + 1)))
    soft = laws.s_curve(0.0, 1.0, velocity=9.0, acceleration=4.0, deceleration=1.0, jerk=1e9)
    assert soft.duration == pytest.approx(law.duration, rel=1e-6)
    assert soft.at(soft.duration * 0.9)[2] == pytest.approx(-1.0)


@pytest.mark.parametrize("name", laws.LAWS)
def test_laws_keep_their_limits_and_end_where_they_should(name):
    limits = {"velocity": [0.8, 0.3], "acceleration": 2.0} | ({"jerk": 5.0} if name == "s-curve" else {})
    law = laws.LAWS[name]([0.0, 1.0], [1.2, 0.7], **limits)
    peaks, (t, s, v, a) = law.peaks(), law.sample(law.duration / 2000)
    assert np.all(peaks.velocity <= np.array([0.8, 0.3]) * (1 + 1e-12))
    assert np.all(peaks.acceleration <= 2.0 * (1 + 1e-12))
    np.testing.assert_allclose(np.max(np.abs(v), axis=0), peaks.velocity, rtol=1e-5)
    np.testing.assert_allclose(np.max(np.abs(a), axis=0), peaks.acceleration, rtol=5e-3)
    np.testing.assert_array_equal(s[-1], [1.2, 0.7])
    np.testing.assert_allclose(np.trapezoid(v, t, axis=0), s[-1] - s[0], rtol=1e-5)
    np.testing.assert_allclose(
        (s[:, 0] - s[0, 0]) * (s[-1, 1] - s[0, 1]), (s[:, 1] - s[0, 1]) * (s[-1, 0] - s[0, 0]), atol=1e-12
    )
    assert peaks.velocity[0] == pytest.approx(0.8) or peaks.velocity[1] == pytest.approx(0.3)


def test_components_that_are_not_synchronised():
    law = laws.trapezoid([0.0, 1.0], [1.2, 3.0], velocity=[0.8, 0.7], acceleration=2.0, synchronised=False)
    for k, (start, end, velocity) in enumerate([(0.0, 1.2, 0.8), (1.0, 3.0, 0.7)]):
        own = laws.trapezoid(start, end, velocity=velocity, acceleration=2.0)
        t = np.linspace(0.0, law.duration, 97)
        np.testing.assert_allclose(law.at(t)[0][:, k], own.at(t)[0], atol=1e-14)


@pytest.mark.parametrize("name", laws.LAWS)
def test_longer_durations_are_taken_and_shorter_ones_refused(name):
    if name in ("trapezoid", "s-curve"):
        limits = {"velocity": 1.0, "acceleration": 2.0} | ({"jerk": 5.0} if name == "s-curve" else {})
        assert laws.LAWS[name](0.0, 1.0, **limits, duration=9.0).duration == pytest.approx(9.0, rel=1e-14)
        with pytest.raises(ModelError, match="takes at least"):
            laws.LAWS[name](0.0, 1.0, **limits, duration=0.1)
    else:
        assert laws.LAWS[name](0.0, 1.0, 9.0).at(9.0)[0] == 1.0
        with pytest.raises(ModelError, match="takes time"):
            laws.LAWS[name](0.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: laws.trapezoid(0, 1, velocity=0, acceleration=1), "permits no motion"),
        (lambda: laws.trapezoid(0, 1, velocity=1, acceleration=np.inf), "bounds the acceleration"),
        (lambda: laws.trapezoid(0, np.nan, velocity=1, acceleration=1), "not a finite number"),
        (lambda: laws.trapezoid([0, 1], [1, 2, 3], velocity=1, acceleration=1), "not of one size"),
        (lambda: laws.cubic(0, 1), "duration is missing"),
        (lambda: laws.cubic(0, 1, 1.0, end_jerk=1.0), "no 'end_jerk'"),
        (lambda: laws.quintic(0, 1, velocity=1.0, end_velocity=1.0), "from rest to rest only"),
        (lambda: laws.quintic(0, 1, 2.0, velocity=1.0), "cannot both"),
        (lambda: laws.spline([0, 1, 1], [1, 2, 3]), "does not come after"),
        (lambda: laws.spline([0, 1], [1, 2], "free"), "no ends"),
    ],
)
def test_what_is_not_possible_is_refused(call, message):
    with pytest.raises(ModelError, match=message):
        call()


def test_a_law_without_way_takes_no_time():
    law = laws.s_curve(2.0, 2.0, velocity=1.0, acceleration=1.0, jerk=1.0)
    assert law.duration == 0.0
    assert law.at([-1.0, 0.0, 1.0])[0].tolist() == [2.0, 2.0, 2.0]
