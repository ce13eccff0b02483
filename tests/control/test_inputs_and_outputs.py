"""Inputs and outputs by name: drivers, wrenches, reactions, redundancy, runs, what is refused."""

import numpy as np
import pytest

import kinetostat as ks
from core.errors import KinetostatError, ModelError
from core.model.edits import edits
from resources import EXAMPLES
from tests.control.machines import cart_pole, mass_chain, pendulum

M, m, l, J, g = 1.2, 0.3, 0.4, 0.012, 9.81


def driven_cart_pole(motion="position"):
    model = cart_pole(M, m, l, J, g)
    return ks.edits.add(model, ks.Driver(name="slide", joint="x", function=0.0, motion=motion))


def test_a_driver_enters_by_its_value_rate_and_second_rate():
    found = ks.linearise(
        driven_cart_pole(),
        [0.0, 0.0],
        inputs=["slide.signal"],
        outputs=["x.q", "x.v", "x.a", "slide.force", "tip.position.x"],
    )
    assert found.state_names == ("th.q", "th.v")
    assert found.input_names == ("slide.signal", "slide.signal.rate", "slide.signal.second")
    assert found.units.inputs == ("m", "m/s", "m/s²")
    I = J + m * l**2
    np.testing.assert_allclose(found.A, [[0.0, 1.0], [m * g * l / I, 0.0]], rtol=1e-12)
    np.testing.assert_allclose(found.B, [[0.0, 0.0, 0.0], [0.0, 0.0, -m * l / I]], atol=1e-12)
    np.testing.assert_allclose(found.D[:3], np.eye(3), atol=1e-12)
    np.testing.assert_allclose(found.C[:3], 0.0, atol=1e-12)
    # the driver's force carries both masses: (M + m) ẍ + m l θ̈
    np.testing.assert_allclose(found.C[3], [m * l * m * g * l / I, 0.0], rtol=1e-11)
    np.testing.assert_allclose(found.D[3], [0.0, 0.0, M + m - (m * l) ** 2 / I], atol=1e-11)
    np.testing.assert_allclose(found.D[4], [1.0, 0.0, 0.0], atol=1e-12)


@pytest.mark.parametrize(
    ("motion", "driver_as", "states", "inputs"),
    [
        ("position", "acceleration", ("slide.signal", "slide.signal.rate"), ("slide.signal.second",)),
        ("velocity", "signal", ("slide.signal",), ("slide.signal.rate", "slide.signal.second")),
        ("acceleration", "signal", ("slide.signal", "slide.signal.rate"), ("slide.signal.second",)),
    ],
)
def test_a_driver_behind_integrators_is_the_cart_whose_acceleration_is_given(motion, driver_as, states, inputs):
    found = ks.linearise(
        driven_cart_pole(motion), [0.0, 0.0], inputs=["slide.signal"], outputs=["x.q", "th"], driver_as=driver_as
    )
    assert found.state_names[2:] == states
    assert found.input_names == inputs
    # from the acceleration: 1/s² to the cart
    s = 2.0j
    to_cart = found.frequency_response(2.0)[0, 0, -1]
    assert (to_cart if len(states) == 2 else 0.0) == pytest.approx(1.0 / s**2 if len(states) == 2 else 0.0, rel=1e-12)
    if len(states) == 1:
        assert found.frequency_response(2.0)[0, 0, 0] == pytest.approx(1.0 / s, rel=1e-12)


def test_reactions_of_a_pendulum_equal_its_closed_form():
    length, mass = 0.4, 0.8
    angle = 0.3
    found = ks.linearise(
        pendulum(1, length, mass), [angle], inputs=["j0.tau", "gravity.z"], outputs=["j0.reaction", "j0.a"]
    )
    h, I = 0.5 * length, mass * length**2 / 3.0
    # at (−h sin φ, −h cos φ) from the pin: force of the pin = m (acceleration − g)
    a = -mass * 9.81 * h * np.sin(angle) / I
    fx, fz = mass * -h * np.cos(angle) * a, mass * (9.81 + h * np.sin(angle) * a)
    rows = {name.rpartition(".")[2]: k for k, name in enumerate(found.output_names)}
    np.testing.assert_allclose(found.y0[[rows["fx"], rows["fz"]]], [fx, fz], rtol=1e-12)
    da = -mass * 9.81 * h * np.cos(angle) / I
    slopes = [mass * h * (np.sin(angle) * a - np.cos(angle) * da), mass * h * (np.cos(angle) * a + np.sin(angle) * da)]
    np.testing.assert_allclose(found.C[[rows["fx"], rows["fz"]], 0], slopes, rtol=1e-12)
    np.testing.assert_allclose(
        found.D[[rows["fx"], rows["fz"]], 0], [-mass * h * np.cos(angle) / I, mass * h * np.sin(angle) / I], rtol=1e-12
    )
    # gravity.z is −9.81: one m/s² more of it lifts
    assert found.u0[1] == -9.81
    assert found.D[-1, 1] == pytest.approx(mass * h * np.sin(angle) / I, rel=1e-12)


def test_reactions_in_the_plane_of_a_four_bar_are_unique_and_others_refused():
    mech = ks.Mechanism(ks.load(EXAMPLES / "four_bar.kst"))
    joint = mech.loops[0].cut
    q = np.asarray(mech.assemble(mech.rest()))
    rng = np.random.default_rng(3)
    tau = rng.normal(size=mech.nv)
    run_like = mech.reactions(q, np.zeros(mech.nv), tau)[joint]
    axis, inside = 1, [0, 2]  # it moves in the plane of x and z
    names = [f"{joint}.reaction.f{'xyz'[k]}" for k in inside]
    found = ks.linearise(mech, q, tau=tau, inputs=[f"{mech.v_names[0]}.tau"], outputs=names, friction=False)
    np.testing.assert_allclose(found.y0, run_like[[3 + k for k in inside]], rtol=1e-9, atol=1e-10)
    with pytest.raises(ModelError, match="redundant"):
        ks.linearise(mech, q, outputs=[f"{joint}.reaction.f{'xyz'[axis]}"], friction=False)


@pytest.mark.parametrize("effort", [None, 1.5])
def test_the_force_of_a_joint_that_closes_a_loop_acts_as_in_the_machine_cut_elsewhere(effort):
    model = ks.load(EXAMPLES / "four_bar.kst")
    first, _, _ = ks.Mechanism(model).v_names
    cut = ks.Mechanism(model).loops[0].cut
    limits = () if effort is None else (ks.Limit(effort=effort),)
    model = edits.change(model, "joints", cut, limits=limits)
    other = edits.change(model, "joints", cut, cut="no")
    assert cut in ks.Mechanism(other).v_names
    asked = {"inputs": [f"{first}.tau", "gravity.z"], "outputs": [f"{cut}.q", f"{first}.a"], "coordinates": [first]}
    own, elsewhere = (ks.linearise(each, tau={cut: 2.5}, friction=False, **asked) for each in (model, other))
    for each in "ABCD":
        np.testing.assert_allclose(getattr(own, each), getattr(elsewhere, each), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(own.y0, elsewhere.y0, atol=1e-9)
    assert abs(own.y0[1]) > 1.0  # it accelerates
    given = ks.linearise(model, tau={cut: 1.0}, inputs=[f"{cut}.tau"], friction=False)
    assert given.u0 == pytest.approx([1.0])
    with pytest.raises(ModelError, match=f"tau of '{cut}': 'abc' is not a finite number"):
        ks.linearise(model, tau={cut: "abc"})


def test_an_actuator_of_a_force_element_adds_to_its_law():
    model = mass_chain([1.2, 0.7], [40.0, 25.0], [0.3, 0.1])
    law = ks.linearise(model, inputs=["spring0.input", "x0.tau"], outputs=["spring0.force"], coordinates=["x0", "x1"])
    np.testing.assert_allclose(law.B[:, 0], -law.B[:, 1], rtol=1e-12)
    np.testing.assert_allclose(law.D, [[1.0, 0.0]], atol=1e-12)


def test_a_wrench_on_a_frame_acts_as_its_joint_forces():
    model = cart_pole(M, m, l, J, g)
    found = ks.linearise(model, [0.0, 0.0], inputs=["tip.wrench", "x.tau"], outputs=["x.q"])
    assert found.input_names[:6] == tuple(f"tip.{what}.{axis}" for what in ("torque", "force") for axis in "xyz")
    mech = ks.Mechanism(model)
    B = np.linalg.solve(mech.mass_matrix([0.0, 0.0]), mech.jacobian([0.0, 0.0], "tip").T)
    np.testing.assert_allclose(found.B[2:, :6], B, atol=1e-12)


def test_a_parameter_that_moves_the_manifold_moves_outputs():
    """A slider-crank at rest: the slider's place by the length of the rod is its closed form."""
    model = ks.load(EXAMPLES / "slider_crank.kst")
    mech = ks.Mechanism(model)
    moving = [name for name in mech.p_names if model.find("parameters", name).dimension == "length"]
    found = ks.linearise(mech, inputs=moving, outputs=[f"{mech.frame_names[-1]}.position"], friction=False)
    q, step = found.q, 1e-5
    k = mech.v_names.index(found.coordinates[0])
    for column, name in enumerate(moving):
        value = model.values()[name]
        ends = []
        for sign in (1.0, -1.0):
            p = {name: value + sign * step}
            moved = mech.assemble(q, p=p, fixed=[found.coordinates[0]], limits=False)
            assert moved[k] == pytest.approx(q[k], abs=1e-12)
            ends.append(mech.frame(moved, mech.frame_names[-1], p=p)[:3, 3])
        np.testing.assert_allclose(found.D[:, column], (ends[0] - ends[1]) / (2.0 * step), atol=1e-7)


def test_times_of_a_run_are_a_sequence():
    model = pendulum(2)
    run = ks.simulate(model, duration=1.0, q0=[0.4, -0.2], method="rk4", step=1e-3)
    found = ks.linearise(run, at=[0.0, 0.25, 0.5], inputs=["j0.tau"], outputs=["end.position.x"])
    assert found.A.shape == (3, 4, 4)
    assert found.D.shape == (3, 1, 1)
    assert len(found.changes) == 1
    for k, time in enumerate(found.time):
        alone = ks.linearise(run, at=float(time), inputs=["j0.tau"], outputs=["end.position.x"])
        for name in ("A", "B", "C", "D", "x0", "u0", "y0", "residual", "q", "v", "a"):
            np.testing.assert_allclose(getattr(found[k], name), getattr(alone, name), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(alone.q, run.at(float(time)))
        assert alone.y0 == pytest.approx(np.interp(time, run.time, run["end.position"][:, 0]), rel=1e-9)
        assert not alone.at_rest or time == 0.0
    with pytest.raises(ModelError, match=r"no time 2 s"):
        ks.linearise(run, at=2.0)


def test_along_a_run_stops_and_states_are_those_of_each_time_alone():
    """The arm falls against its elastic stop; the four-bar is held; the linear systems are those of single times."""
    arm = ks.edits.change(pendulum(2), "joints", "j0", limits=(ks.Limit(lower=-0.2, upper=0.3, stiffness=200.0),))
    run = ks.simulate(arm, duration=0.5, q0=[-0.15, 0.6], v0=[2.0, 0.0], output=0.02)
    assert run.q[:, 0].max() > 0.3
    bar = ks.simulate(ks.load(EXAMPLES / "four_bar.kst"), duration=0.1, output=0.02)
    for each, names in ((run, ["j0.tau", "gravity.x"]), (bar, ["crank_pin.tau"])):
        found = ks.linearise(each, inputs=names, outputs=["energy.total"])
        assert len(found) == len(each)
        for k, time in enumerate(each.time):
            alone = ks.linearise(
                each, at=float(time), inputs=names, outputs=["energy.total"], coordinates=found[k].coordinates
            )
            for name in "ABCD":
                np.testing.assert_allclose(getattr(found, name)[k], getattr(alone, name), rtol=1e-9, atol=1e-9)
    with pytest.raises(ModelError, match="No times"):
        ks.linearise(run, at=[])


def test_named_coordinates_are_kept_or_refused():
    found = ks.linearise(ks.load(EXAMPLES / "four_bar.kst"), coordinates="auto")
    assert len(found.coordinates) == 1
    with pytest.raises(ModelError, match="independent coordinates are needed"):
        ks.linearise(pendulum(2), coordinates=["j0"])
    with pytest.raises(ModelError, match="There is no speed"):
        ks.linearise(pendulum(2), coordinates=["j0", "j7"])


@pytest.mark.parametrize(
    ("inputs", "outputs", "words"),
    [
        (["j0.tua"], [], ["no input 'j0.tua'", "j0.tau"]),
        (["j0.tau", "j0.tau"], [], ["twice"]),
        (["gravity.w"], [], ["gravity.x"]),
        ([], ["end.positon"], ["no output", "end.position"]),
        ([], ["end.position + 1"], ["several components", "end.position.x"]),
        ([], ["3*2"], ["does not depend on the motion"]),
        ([], ["t"], ["time cannot be an output"]),
        ([], ["constraint.residual"], ["cannot be an output"]),
        ([], ["energy.friction"], ["cannot be an output"]),
        ("j0.tau", [], ["Write a list"]),
    ],
)
def test_what_is_no_signal_is_refused_by_name(inputs, outputs, words):
    with pytest.raises(KinetostatError) as told:
        ks.linearise(pendulum(2), inputs=inputs, outputs=outputs)
    for word in words:
        assert word in str(told.value)


def test_a_law_that_needs_accelerations_is_refused_as_a_circle():
    model = pendulum(1)
    sensor = ks.Sensor(name="felt", kind="acceleration", b="end")
    loop = ks.Force(name="loop", kind="joint", joint="j0", law="felt.x")
    with pytest.raises(KinetostatError, match="depends on accelerations"):
        ks.linearise(ks.edits.add(model, sensor, loop), outputs=["j0"])


@pytest.mark.parametrize("example", ["four_bar", "spatial_four_bar", "three_springs", "shaker"])
def test_the_descriptor_form_answers_as_the_minimal_one(example):
    mech = ks.Mechanism(ks.load(EXAMPLES / f"{example}.kst"))
    frame = mech.frame_names[-1]
    given = {
        "inputs": [f"{mech.v_names[0]}.tau", f"{frame}.force.z"],
        "outputs": [f"{frame}.position", f"{frame}.acceleration", f"{mech.v_names[0]}.tau"],
        "friction": False,
    }
    rest = ks.OperatingPoint(mech).solve().q
    minimal, whole = ks.linearise(mech, rest, **given), ks.linearise(mech, rest, form="descriptor", **given)
    omega = [0.3, 2.0, 17.0]
    response = minimal.frequency_response(omega)
    scale = np.max(np.abs(response))
    np.testing.assert_allclose(whole.frequency_response(omega), response, atol=1e-8 * scale, rtol=1e-8)
    assert whole.E.shape[0] == 3 * mech.nv + len(mech.compiled.rows) + mech.nx
    assert len(whole.state_names) == len(whole.E)


def test_the_descriptor_form_of_a_driver_and_its_poles():
    given = {"inputs": ["slide.signal"], "outputs": ["slide.force", "th"]}
    minimal = ks.linearise(driven_cart_pole(), [0.0, 0.0], **given)
    whole = ks.linearise(driven_cart_pole(), [0.0, 0.0], form="descriptor", **given)
    np.testing.assert_allclose(np.sort_complex(whole.poles), np.sort_complex(minimal.poles), rtol=1e-6)
    with pytest.raises(ModelError, match="form cannot be"):
        ks.linearise(driven_cart_pole(), form="sparse")
