"""Runs with dry friction and stops, and with quaternions, fitted to traces in closed form."""

from dataclasses import replace

import numpy as np
import pytest

import kinetostat as ks

MASS = 1.0


def parameters(values):
    return tuple(ks.Parameter(name=name, value=value) for name, value in values.items())


def block(**values):
    """A block of 1 kg on a spring, with dry friction."""
    return ks.Model(
        name="block",
        parameters=parameters({"k": 50.0, "F": 0.8} | values),
        bodies=(ks.Body(name="block", mass=MASS),),
        joints=(
            ks.Joint(
                name="x", kind="prismatic", parent="world", child="block", axis=(1, 0, 0), stiffness="k", friction="F"
            ),
        ),
    )


def rubbed(t, k, F, x0):
    """x(t) of the block released at rest at x0 > 0: half periods about ±F/k, each shorter by 2F/k, until it sticks."""
    w, x, begin, sign = np.sqrt(k / MASS), x0, 0.0, 1.0
    found = np.full(len(t), np.nan)
    while k * abs(x) > F:
        centre = sign * F / k
        inside = (t >= begin) & (t <= begin + np.pi / w)
        found[inside] = centre + (x - centre) * np.cos(w * (t[inside] - begin))
        x, begin, sign = 2.0 * centre - x, begin + np.pi / w, -sign
    found[t >= begin] = x
    return found


def ball_on_a_floor(**values):
    """A mass that falls on a rigid stop, again and again."""
    return ks.Model(
        name="ball",
        parameters=parameters({"g": 9.0, "back": 0.7} | values),
        world=ks.World(gravity=ks.Gravity(acceleration=(0, 0, "-g"))),
        bodies=(ks.Body(name="ball", mass=MASS),),
        joints=(
            ks.Joint(
                name="z",
                kind="prismatic",
                parent="world",
                child="ball",
                axis=(0, 0, 1),
                limits=(ks.Limit(lower=0.0, stop="rigid", restitution="back"),),
            ),
        ),
    )


def bounced(t, g, e, z0):
    """z(t) of a mass let fall from z0, which a floor throws back with a part e of its speed."""
    found, begin, height, speed = np.zeros(len(t)), 0.0, z0, 0.0
    while begin < t[-1]:
        end = begin + (speed + np.sqrt(speed**2 + 2.0 * g * height)) / g
        inside = (t >= begin) & (t <= end)
        s = t[inside] - begin
        found[inside] = height + speed * s - 0.5 * g * s**2
        begin, height, speed = end, 0.0, e * (g * (end - begin) - speed)
    return found


def top(**values):
    """A body with an axis of symmetry, on a ball joint in its centre of mass."""
    return ks.Model(
        name="top",
        parameters=parameters({"J3": 0.02} | values),
        bodies=(ks.Body(name="top", mass=1.0, inertia=ks.Inertia(ixx=0.01, iyy=0.01, izz="J3")),),
        joints=(ks.Joint(name="ball", kind="spherical", parent="world", child="top"),),
    )


def turning(t, J1, J3, across, spin):
    """(n, 3) ω in the body's axes of a free symmetric top: across it goes round at (J3 − J1)/J1 · spin (Euler)."""
    angle = (J3 - J1) / J1 * spin * t
    return np.stack([across * np.cos(angle), across * np.sin(angle), np.full(len(t), spin)], axis=1)


def rotations(t, J1, J3, across, spin):
    """(n, 3, 3) of the same, world ← body, from the identity: it turns about the angular momentum H at |H|/J1, and
    about its own axis at (J1 − J3)/J1 · spin."""

    def about(axis, angles):
        x, y, z = axis / np.linalg.norm(axis)
        K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        return np.eye(3) + np.sin(angles)[:, None, None] * K + (1.0 - np.cos(angles))[:, None, None] * (K @ K)

    H = np.array([J1 * across, 0.0, J3 * spin])
    return about(H, np.linalg.norm(H) / J1 * t) @ about(np.array([0.0, 0.0, 1.0]), (J1 - J3) / J1 * spin * t)


def test_friction_is_found_again_through_sticking():
    t = np.linspace(0.0, 2.0, 101)
    truth = {"k": 60.0, "F": 2.5}
    data = {"time": t, "x.q": rubbed(t, **truth, x0=0.2)}
    found = ks.fit_run(block(k=63.0, F=2.7), data, vary=("k", "F"), free=("x.q",))
    assert found.converged
    np.testing.assert_allclose(found.estimate, [60.0, 2.5, 0.2], rtol=1e-6)
    assert any("differences of runs" in note for note in found.notes)
    assert any("riction" in note for note in found.notes)


def test_friction_is_found_in_segments_and_seen_on_what_is_held_back():
    t = np.linspace(0.0, 0.8, 81)
    data = {"time": t, "x.q": rubbed(t, 60.0, 0.6, 0.2)}
    found = ks.fit_run(block(), data, vary=("k", "F"), segments=2, held_back=0.2)
    np.testing.assert_allclose(found.estimate[:3], [60.0, 0.6, 0.2], rtol=1e-5)
    assert found.validation.relative[0] < 1e-5


def test_rows_of_a_trace_with_friction_need_not_be_even():
    rng = np.random.default_rng(4)
    t = np.sort(np.append(rng.uniform(0.0, 0.8, 60), [0.0, 0.8]))
    found = ks.fit_run(block(), {"time": t, "x.q": rubbed(t, 60.0, 0.6, 0.2)}, vary=("k", "F"), free=("x.q",))
    np.testing.assert_allclose(found.estimate, [60.0, 0.6, 0.2], rtol=1e-3)


def test_what_a_stop_gives_back_is_found():
    t = np.linspace(0.0, 1.6, 161)
    data = {"time": t, "z.q": bounced(t, 9.81, 0.8, 0.5)}
    found = ks.fit_run(ball_on_a_floor(), data, vary=("g", "back"), q0={"z": 0.5}, free=())
    np.testing.assert_allclose(found.estimate, [9.81, 0.8], rtol=1e-6)
    assert any("differences of runs" in note for note in found.notes)


def test_methods_without_slopes_fit_by_differences():
    from tests.identification.test_fit_run import decay, slider

    t = np.linspace(0.0, 3.0, 61)
    data = {"time": t, "x.q": decay(t, 40.0, 0.8, 0.1)}
    found = ks.fit_run(slider(), data, vary=("k", "c"), integrator="radau")
    np.testing.assert_allclose(found.estimate, [40.0, 0.8, 0.1, 0.0], atol=1e-5)
    assert any("differences of runs" in note for note in found.notes)


@pytest.mark.parametrize("segments", [1, 3])
def test_the_inertia_of_a_spinning_top(segments):
    """From how fast its angular velocity goes round in the body (Euler's free top)."""
    t = np.linspace(0.0, 1.0, 81)
    w = turning(t, 0.01, 0.014, 1.5, 8.0)
    data = {"time": t, "ball.wx.v": w[:, 0], "ball.wy.v": w[:, 1], "ball.wz.v": w[:, 2]}
    free = ("ball.wx.v", "ball.wy.v", "ball.wz.v")
    found = ks.fit_run(top(J3=0.0155), data, vary=("J3",), segments=segments, free=free)
    np.testing.assert_allclose(found.estimate, [0.014, 1.5, 0.0, 8.0], rtol=1e-7, atol=1e-7)
    assert not found.notes


@pytest.mark.parametrize("segments", [1, 4])
def test_how_a_top_stands_at_the_start_is_found_from_a_point_of_it(segments):
    """The point (1, 2, 2)/3 m of the body is seen; the top is turned by a known rotation at the start."""
    t = np.linspace(0.0, 1.5, 121)
    turn, point = np.array([0.3, -0.2, 0.25]), np.array([1.0, 2.0, 2.0]) / 3.0
    angle = np.linalg.norm(turn)
    x, y, z = turn / angle
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    first = np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)
    seen = first @ (rotations(t, 0.01, 0.014, 1.5, 8.0) @ point).T
    model = top(J3=0.0135)
    model = replace(
        model,
        joints=(replace(model.joints[0], start_speed=(1.2, 0.2, 7.5)),),
        frames=(ks.Frame(name="mark", parent="top", pose=ks.Pose(position=tuple(point))),),
    )
    data = {"time": t} | {f"mark.position.{axis}": row for axis, row in zip("xyz", seen, strict=True)}
    free = tuple(f"ball.w{axis}.{end}" for end in "qv" for axis in "xyz")
    found = ks.fit_run(model, data, vary=("J3",), segments=segments, free=free)
    values = dict(zip(found.names, found.estimate, strict=True))
    assert values["J3"] == pytest.approx(0.014, rel=1e-6)
    np.testing.assert_allclose([values[f"ball.w{a}.q"] for a in "xyz"], turn, atol=1e-6)
    np.testing.assert_allclose([values[f"ball.w{a}.v"] for a in "xyz"], [1.5, 0.0, 8.0], atol=1e-5)
