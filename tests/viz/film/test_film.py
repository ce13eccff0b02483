"""Films decoded again: frames, times, sizes and pixels; what cannot be filmed is said."""

from fractions import Fraction

import av
import numpy as np
import pytest

from core.analysis.mobility_marks import MobilityMarker
from core.errors import FileError, KinetostatError
from core.files import load
from core.functions.results import PoseSequence
from core.mechanism import Mechanism
from core.simulation import simulate
from core.simulation.run.resampling import equilibrium_run, resample_run
from resources import examples
from viz import camera
from viz.film.encoders import EncoderInBackground
from viz.film.film import (
    FilmStage,
    Footage,
    PointPath,
    exact_frame_rate,
    film_in_subprocess,
    frame_times,
    render_film,
    visible_path,
)
from viz.film.footage import FollowedPoint, footage_of_run, footage_of_sequence
from viz.pictures.offscreen import open_offscreen_scene, render
from viz.placement import to_matrix
from viz.scene import vectors

SIZE = (320, 180)


@pytest.fixture(scope="module")
def run():
    model = load(next(each.path for each in examples() if each.name == "four_bar"))
    return simulate(model, 1.0, method="rk4", v0={"crank_pin": 4.0}, output=0.01)


def decoded(path):
    with av.open(str(path)) as file:
        stream = file.streams.video[0]
        frames = [(float(frame.time), frame.to_ndarray(format="rgb24")) for frame in file.decode(stream)]
        return frames, stream.codec_context.name, stream.average_rate


# ------------------------------------------------------------------------------- times


def test_frames_stand_at_multiples_of_the_frame_time_up_to_the_end():
    times = frame_times(0.0, 2.0, 30)
    assert len(times) == 61
    assert np.allclose(times, np.arange(61) / 30, atol=1e-12)
    assert len(frame_times(0.0, 2.0, 30, speed=0.5)) == 121
    assert np.allclose(np.diff(frame_times(1.0, 3.0, 25, speed=2.0)), 2.0 / 25)
    assert len(frame_times(1.0, 1.0, 30)) == 1


def test_television_rates_are_exact_fractions():
    assert exact_frame_rate(29.97) == Fraction(30000, 1001)
    assert exact_frame_rate(23.976) == Fraction(24000, 1001)
    assert exact_frame_rate(30) == 30
    assert exact_frame_rate(12.5) == Fraction(25, 2)


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan")])
def test_a_speed_that_is_no_positive_ratio_is_refused(speed):
    with pytest.raises(KinetostatError, match="positive"):
        frame_times(0.0, 1.0, 30, speed)


def test_too_many_frames_and_backward_films_are_refused():
    with pytest.raises(KinetostatError, match="frames"):
        frame_times(0.0, 1e6, 30)
    with pytest.raises(KinetostatError, match="before its start"):
        frame_times(2.0, 1.0, 30)


# ------------------------------------------------------------------------------- films


def test_mp4_has_every_frame_at_its_time_and_in_its_size(run, tmp_path):
    path, parts = tmp_path / "film.mp4", []
    made = footage_of_run(run, fps=20, speed=0.5)
    assert render_film(made, path, fps=20, size=SIZE, progress=parts.append) == 41
    frames, codec, average = decoded(path)
    assert codec == "h264"
    assert average == 20
    assert [time for time, _ in frames] == pytest.approx(list(np.arange(41) / 20), abs=1e-9)
    assert frames[0][1].shape == (180, 320, 3)
    assert parts == pytest.approx(list((np.arange(41) + 1) / 41))
    assert list(tmp_path.iterdir()) == [path]


def test_a_frame_shows_what_a_picture_of_that_pose_shows(run, tmp_path):
    path = tmp_path / "film.png"
    view = camera.CameraView(target=(0.05, 0.0, 0.2), distance=1.6)
    made = footage_of_run(run, fps=10, view=view, caption=False)
    render_film(made, path, fps=10, size=SIZE)
    for k in (0, 4):
        with av.open(str(tmp_path / f"film_{k + 1:04d}.png")) as file:
            filmed = next(file.decode(video=0)).to_ndarray(format="rgb24").astype(float)
        still = render(run.model, run.at(made.times[k]), size=SIZE, view=view, mech=run.mech, scale=0.5)
        moved = render(run.model, run.at(made.times[k] + 0.3), size=SIZE, view=view, mech=run.mech, scale=0.5)
        same = np.abs(filmed - still[:, :, :3]).max(axis=2)
        other = np.abs(filmed - moved[:, :, :3]).max(axis=2)
        assert (same > 24).mean() < 0.002
        assert (other > 24).mean() > 0.01


def test_gif_delays_add_up_to_the_exact_time(run, tmp_path):
    path = tmp_path / "film.gif"
    render_film(footage_of_run(run, fps=30), path, fps=30, size=SIZE)
    frames, codec, _ = decoded(path)
    assert codec == "gif"
    assert len(frames) == 31
    assert [time for time, _ in frames] == pytest.approx(list(np.arange(31) / 30), abs=0.0051)
    assert frames[30][0] == pytest.approx(1.0, abs=1e-9)
    assert np.abs(frames[0][1].astype(float) - frames[10][1]).max() > 60


def test_a_shorter_png_film_leaves_no_frames_of_a_longer_one(run, tmp_path):
    path = tmp_path / "film.png"
    render_film(footage_of_run(run, fps=10), path, fps=10, size=(64, 48))
    assert len(list(tmp_path.iterdir())) == 11
    render_film(footage_of_run(run, fps=10, end=0.5), path, fps=10, size=(64, 48))
    assert sorted(each.name for each in tmp_path.iterdir()) == [f"film_{k:04d}.png" for k in range(1, 7)]


def test_a_cancelled_film_leaves_nothing_and_keeps_an_older_one(run, tmp_path):
    path = tmp_path / "film.mp4"
    path.write_bytes(b"older")
    asked = iter([False] * 5 + [True] * 100)
    assert render_film(footage_of_run(run), path, size=SIZE, cancelled=lambda: next(asked)) == 0
    assert path.read_bytes() == b"older"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_format_cannot_hold_is_said(run, tmp_path):
    made = footage_of_run(run, fps=60)
    with pytest.raises(KinetostatError, match="even sides"):
        render_film(made, tmp_path / "film.mp4", fps=60, size=(321, 180))
    with pytest.raises(KinetostatError, match="at most 50"):
        render_film(made, tmp_path / "film.gif", fps=60, size=SIZE)
    with pytest.raises(FileError, match="not a film format"):
        render_film(made, tmp_path / "film.avi", fps=60, size=SIZE)
    with pytest.raises(FileError, match="folder does not exist"):
        render_film(made, tmp_path / "nowhere" / "film.mp4", fps=60, size=SIZE)
    assert not list(tmp_path.iterdir())


def test_another_process_films_the_same_and_its_errors_come_back(run, tmp_path):
    made = footage_of_run(run, fps=10, end=0.5)
    parts = []
    assert film_in_subprocess(made, tmp_path / "other.mp4", fps=10, size=SIZE, progress=parts.append) == 6
    assert render_film(made, tmp_path / "own.mp4", fps=10, size=SIZE) == 6
    assert (tmp_path / "other.mp4").read_bytes() == (tmp_path / "own.mp4").read_bytes()
    assert parts[-1] == 1.0
    with pytest.raises(KinetostatError, match="even sides"):
        film_in_subprocess(made, tmp_path / "odd.mp4", fps=10, size=(321, 181))
    assert film_in_subprocess(made, tmp_path / "never.mp4", fps=10, size=SIZE, cancelled=lambda: True) == 0
    assert not (tmp_path / "never.mp4").exists()


# ------------------------------------------------------------------------------- what is filmed


@pytest.mark.parametrize("turn", [0.0, 6.0])
def test_the_camera_sees_the_whole_motion_also_while_it_turns(run, turn):
    made = footage_of_run(run, fps=10, turn=turn, paths=[FollowedPoint("coupler_point")])
    with open_offscreen_scene(SIZE) as scene:
        stage = FilmStage(scene, made)
        distances = []
        for k in range(len(made.times)):
            stage.show_frame(k)
            distances.append(scene.view.distance)
            for place in (*made.poses[k][:, :3, 3], *made.paths["coupler_point 0"].places):
                x, y = scene.project(place)
                assert 0.0 <= x <= SIZE[0]
                assert 0.0 <= y <= SIZE[1]
        assert max(distances) == pytest.approx(min(distances))
        azimuth = scene.view.azimuth
        stage.show_frame(0)
        turned = (azimuth - scene.view.azimuth + np.pi) % (2 * np.pi) - np.pi
        assert turned == pytest.approx((turn + np.pi) % (2 * np.pi) - np.pi, abs=1e-9)


def test_a_trace_grows_with_the_time_and_ends_where_the_point_is():
    times = np.linspace(0.0, 1.0, 11)
    places = np.column_stack([times, times**2, np.zeros(11)])
    path_of = PointPath(times, places)
    assert len(visible_path(path_of, 0.0)) == 1
    shown = visible_path(path_of, 0.55)
    assert len(shown) == 7
    assert shown[-1] == pytest.approx([0.55, (0.25 + 0.36) / 2, 0.0])
    assert visible_path(path_of, 1.0) == pytest.approx(places)
    assert visible_path(path_of._replace(whole=True), 0.1) == pytest.approx(places)


def test_a_point_off_the_origin_is_traced_where_it_goes(run):
    made = footage_of_run(run, fps=10, paths=[FollowedPoint("crank", (0.1, 0.2, 0.3))])
    (path_of,) = made.paths.values()
    pose = run.mech.frame(run.q[37], "crank")
    assert path_of.places[37] == pytest.approx((pose @ [0.1, 0.2, 0.3, 1.0])[:3], abs=1e-12)
    with pytest.raises(KinetostatError, match="There is no body or frame 'nose'"):
        footage_of_run(run, paths=[FollowedPoint("nose")])


def test_a_run_between_its_samples(run):
    at = resample_run(run, [0.123, 0.5, 99.0])
    assert at.time == pytest.approx([0.123, 0.5, 1.0])
    assert at.q[0] == pytest.approx(run.at(0.123))
    assert at["crank_pin.q"][1] == pytest.approx(run["crank_pin.q"][50])
    assert at.v[2] == pytest.approx(run.v[-1])
    assert at.v[0] == pytest.approx(run.v[12] + 0.3 * (run.v[13] - run.v[12]))


# ------------------------------------------------------------------------------- vectors


def test_arrows_are_the_channels_of_the_run_at_their_points(run):
    wanted = [
        vectors.RequestedArrow("velocity", "frames", "coupler_point"),
        vectors.RequestedArrow("force", "joints", "rocker_pin"),
        vectors.RequestedArrow("torque", "joints", "rocker_pin"),
        vectors.RequestedArrow("velocity", "frames", "gone"),
    ]
    found = vectors.compute_arrow_fields(run, wanted)
    assert [field.wanted for field in found] == wanted[:3]
    assert found[0].origins == pytest.approx(run["coupler_point.position"])
    assert found[0].vectors == pytest.approx(run["coupler_point.velocity"])
    reaction = run.mech.reactions(run.q, run.v, run.tau)["rocker_pin"]
    assert found[1].vectors == pytest.approx(reaction[:, 3:])
    assert found[2].vectors == pytest.approx(reaction[:, :3])
    b = run.mech.joint_poses(run.q)["rocker_pin"][1]
    assert found[1].origins == pytest.approx(b[:, :3, 3])


def test_the_usual_arrow_has_its_share_of_the_machine_and_all_keep_their_proportions(run):
    wanted = vectors.possible_arrows(run.model, "velocity")
    found = vectors.compute_arrow_fields(run, wanted)
    scale = vectors.arrow_scales(vectors.reference_magnitudes(found), 2.0)
    peaks = [max(np.linalg.norm(g.vector) for g in vectors.build_glyphs(found, scale, k)) for k in range(len(run))]
    shorter = np.mean(np.array(peaks) <= vectors.LENGTH * 2.0 * (1 + 1e-12))
    assert shorter == pytest.approx(0.75, abs=1.5 / len(run))
    glyphs = vectors.build_glyphs(found, scale, 50)
    for field, glyph in zip(found, glyphs, strict=True):
        assert np.asarray(glyph.vector) == pytest.approx(scale["velocity"] * field.vectors[50])


@pytest.mark.parametrize("scale", [1e-4, 0.013, 0.4, 7.0])
def test_the_legend_names_a_round_number(scale):
    value, length = vectors.legend_arrow(scale, 1.0)
    digits = f"{value:e}"[0]
    assert digits in "125"
    assert float(f"{value:.0e}") == pytest.approx(value)
    assert length == pytest.approx(value * scale)
    assert 1 / 24 < length <= 1 / 8 + 1e-12


def test_a_machine_at_rest_carries_its_weight():
    model = load(next(each.path for each in examples() if each.name == "puma560"))
    mech_run = simulate(model, 0.01, method="rk4")
    still = equilibrium_run(mech_run.mech, mech_run.q[0])
    first = mech_run.mech.joint_names[0]
    mass = sum(float(body.mass) for body in model.expanded.bodies if body.name != "base")
    (field,) = vectors.compute_arrow_fields(still, [vectors.RequestedArrow("force", "joints", first)])
    assert field.vectors[0] == pytest.approx([0.0, 0.0, 9.81 * mass], rel=1e-6, abs=1e-9)


def test_footage_is_plain_data(run):
    import pickle

    made = footage_of_run(run, fps=5, arrows=vectors.possible_arrows(run.model, "velocity"), others=[run])
    again = pickle.loads(pickle.dumps(made))
    assert isinstance(again, Footage)
    assert again.model == made.model
    assert again.poses == pytest.approx(made.poses)
    assert len(again.vectors) == 6
    assert len(again.ghosts) == 1


def test_each_frame_has_the_marks_of_mobility_of_its_pose(run):
    """As the kernel gives them at the pose of the frame; the closing pin that carries them moves."""
    import pickle

    marks = MobilityMarker(run.mech)
    made = pickle.loads(pickle.dumps(footage_of_run(run, fps=4, marks=lambda q, p: marks.at(q).marks)))
    places = set()
    with open_offscreen_scene(SIZE) as scene:
        stage = FilmStage(scene, made)
        for k, time in enumerate(made.times):
            stage.show_frame(k)
            shown = scene.mobility_marks.marks
            found = run.mech.mobility(run.at(time))
            held = [mark for mark in shown if mark.kind == "redundant"]
            assert [(mark.ref[1], mark.text) for mark in held] == [(r.joint, r.component) for r in found.redundant]
            pin = run.mech.joint_poses(found.q)["moving_pin_b"][1][:3, 3]
            np.testing.assert_allclose([mark.place for mark in held], [pin] * 3, atol=1e-6)
            places.add(held[0].place)
    assert len(places) == len(made.times)
    assert footage_of_run(run, fps=4).marks == ()


# ------------------------------------------------------------------------------- sequences of poses


def test_a_sequence_shows_each_pose_for_its_time_with_its_sizes():
    model = load(next(each.path for each in examples() if each.name == "pendulum"))
    mech = Mechanism(model)
    lengths = (0.3, 0.5, 0.7)
    poses = PoseSequence(q=((0.0,), (0.4,), (0.8,)), p=tuple({"l": length} for length in lengths), display="animate")
    film = footage_of_sequence(poses, mech, interval=0.5, fps=4)
    np.testing.assert_allclose(film.times, [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5])
    shown = [0, 0, 1, 1, 2, 2, 2]
    bob = film.names.index("bob")
    for k, pose in enumerate(shown):
        q, length = poses.q[pose][0], lengths[pose]
        expected = np.array([length * np.sin(q), 0.0, 0.9 - length * np.cos(q)])
        np.testing.assert_allclose(film.poses[k, bob, :3, 3], expected, atol=1e-12)
    assert [text.split()[0] for text in film.captions] == ["1", "1", "2", "2", "3", "3", "3"]
    with open_offscreen_scene(SIZE) as scene:
        stage = FilmStage(scene, film)
        heights = []
        for k in (0, 2, 4):
            stage.show_frame(k)
            rods = [figure.item for figure in scene.figures.find_figures(("bodies", "rod"))]
            heights.append(max(np.linalg.norm(to_matrix(item.placement)[:3, 3]) for item in rods))
    np.testing.assert_allclose(heights, lengths, atol=1e-9)  # the ball at the rod's end is drawn there


def test_links_that_meet_in_the_filmed_motion_lie_side_by_side():
    """Two links of the pantograph do not meet where it rests; in its run they do."""
    model = load(next(example.path for example in examples() if example.name == "pantograph"))
    filmed = footage_of_run(simulate(model, 1.0), fps=60)

    def layers(scene):
        return {each.id: each.layer for each in scene.items if each.role == "shape"}

    with open_offscreen_scene((320, 240)) as scene:
        scene.show_model(model)
        at_rest = layers(scene)
    with open_offscreen_scene((320, 240)) as scene:
        FilmStage(scene, filmed)
        assert layers(scene) != at_rest


class FailingEncoder:
    """Fails at the second frame."""

    def __init__(self) -> None:
        self.frames = self.discarded = 0

    def add_frame(self, picture):
        self.frames += 1
        if self.frames == 2:
            raise FileError("The disk is full.")

    def discard(self):
        self.discarded += 1


def test_errors_of_encoders_in_the_background_are_raised_by_later_calls():
    failing = FailingEncoder()
    encoder = EncoderInBackground(failing)
    for _ in range(2):
        encoder.add_frame(np.zeros((2, 2, 4), np.uint8))
    with pytest.raises(FileError, match="disk is full"):
        encoder.finish()
    encoder.discard()
    assert (failing.frames, failing.discarded) == (2, 1)
