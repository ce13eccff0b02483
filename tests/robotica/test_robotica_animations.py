"""Animations kept in files, ranges of views, pictures beside: what a session says and writes."""

import contextlib
import json
from pathlib import Path

import numpy as np
import pytest

import resources
from app.panels.output.result_pictures import write_pictures
from core.errors import ExpressionError, FileError, ModelError
from core.functions.results import EllipsoidField, Motion, PoseSequence, Print, ViewRanges, leaf_results
from core.robotica.animations import find_animation
from core.robotica.robotica_session import Session
from core.robotica.workspace import ScriptHost

PATHS = {Path(entry.path).stem: entry.path for entry in resources.examples()}


@pytest.fixture
def session(tmp_path):
    made = Session(ScriptHost(str(PATHS["two_link"])))
    made.state.folder = str(tmp_path)
    return made


def again(tmp_path, robot="two_link"):
    """Another session, as after a restart."""
    made = Session(ScriptHost(str(PATHS[robot])))
    made.state.folder = str(tmp_path)
    return made


@pytest.mark.parametrize(
    "line",
    [
        "ShowRobot[{{q1, 20 Degree, 90 Degree, 8}}, {frame}]",
        "SeqShowRobot[{{q1, 0, 1}, {q2, 0, 1}}]",
        "ShowRobot[{{alpha2, 0, 1, 3}}]",
        "RElp[{{q1, 0, 90 Degree}, {a2, 3, 8}}, {scale}]",
    ],
)
def test_animations_come_back_as_they_were(session, tmp_path, line):
    (shown,) = session.run(line)
    session.run('SaveAnim["anim1"]')
    other = again(tmp_path)
    other.run('LoadAnim["anim1"]')
    (played,) = other.run("ShowAnim[]")
    before, after = (x.poses if isinstance(x, EllipsoidField) else x for x in (shown, played))
    assert after.display == "animate"
    assert (after.q, after.p, after.frame, after.view) == (before.q, before.p, before.frame, before.view)
    assert (after.model is None) == (before.model is None)
    mech, other_mech = session.context().mech, other.context().mech
    if before.model is not None:  # the entry that ran is a parameter of both
        mech, other_mech = mech.updated(before.model), other_mech.updated(after.model)
    for q, p in zip(before.q, before.p, strict=True):
        np.testing.assert_array_equal(other_mech.poses(np.array(q), p=p), mech.poses(np.array(q), p=p))
    if isinstance(shown, EllipsoidField):
        assert played.ellipsoids == shown.ellipsoids
        assert played.drawable_ellipsoid(2) == shown.drawable_ellipsoid(2)


def test_a_run_is_an_animation_too(session, tmp_path):
    session.run("Response[{0, 1}, {q1[0] == 0.3}]")
    run = session.state.run
    session.run('SaveAnim["run.json"]')
    other = again(tmp_path)
    other.run('LoadAnim["run.json"]')
    (played,) = other.run("ShowAnim[]")
    assert isinstance(played, Motion)
    assert played.animate
    np.testing.assert_array_equal(played.run.q, run.q)
    np.testing.assert_array_equal(played.run.time, run.time)


def test_another_robot_is_told(session, tmp_path):
    session.run('ShowRobot[{{q1, 0, 1}}]; SaveAnim["anim1"]')
    other = again(tmp_path, "stanford")
    with pytest.raises(FileError, match="belongs to another robot, 'two_link' with the coordinates joint1, joint2;"):
        other.run('LoadAnim["anim1"]')
    assert other.state.animation is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace('"version": 1', '"version": '), "Expecting value"),
        (lambda text: "[]", "not an animation file"),
        (lambda text: text.replace('"version": 1', '"version": 9'), "another version of the program"),
        (lambda text: text.replace('"poses": [[', '"poses": [[1.0, '), "cannot be read"),
        (lambda text: text.replace('"parameters"', '"parameter"'), "'parameters' is missing"),
        (lambda text: text.replace('"a1"', '"zz"'), "no parameter 'zz'"),
    ],
)
def test_broken_files_are_refused(session, tmp_path, change, words):
    session.run('ShowRobot[{{q1, 0, 1}}]; SaveAnim["anim1"]')
    path = tmp_path / "anim1"
    path.write_text(change(path.read_text()))
    before = session.state.animation
    with pytest.raises(FileError, match=words):
        session.run('LoadAnim["anim1"]')
    assert session.state.animation is before


def test_any_change_of_a_file_is_read_or_refused(session, tmp_path):
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    session.run('ShowRobot[{{q1, 0, 1, 1}}]; SaveAnim["anim1"]')
    path = tmp_path / "anim1"
    data = json.loads(path.read_text())
    anything = st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=8,
    )

    @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(sorted(data)), anything)
    def tried(key, value):
        path.write_text(json.dumps({**data, key: value}))
        with contextlib.suppress(FileError):
            session.run('LoadAnim["anim1"]')
        assert find_animation(session.state.animation) is session.state.animation

    tried()


def test_nothing_was_shown_yet(session):
    for line in ("ShowAnim[]", 'SaveAnim["x"]'):
        with pytest.raises(ModelError, match="no animation yet"):
            session.run(line)


def test_ranges_of_views(session):
    (fixed,) = session.run("SetRanges[{-5, 5}, {-2, 4}, {9, 0}]")
    assert isinstance(fixed, ViewRanges)
    assert fixed.ranges == ((-5.0, 5.0), (-2.0, 4.0), (0.0, 9.0))
    (free,) = session.run("SetRanges[]")
    assert free.ranges == ()
    with pytest.raises(ExpressionError, match="1 given"):
        session.run("SetRanges[{0, 1}]")
    with pytest.raises(ExpressionError, match="not a range along y"):
        session.run("SetRanges[{0, 1}, {1, 1}, {0, 1}]")


def test_planar_arms_are_looked_at_from_their_side(session, tmp_path):
    (flat,) = session.run("ShowRobot[{{q1, 0, 1}}]")
    assert flat.view == "top"
    (deep,) = again(tmp_path, "stanford").run("ShowRobot[{{q1, 0, 1}}]")
    assert deep.view == ""


def test_pictures_of_poses_in_three_formats(session, tmp_path):
    session.run("SetRanges[{-3, 3}, {-3, 3}, {-1, 1}]")
    (shown,) = session.run('ShowRobot[{{q1, 0, 1, 2}}, {print, xprint -> "mine.svg", mprint}]')
    prints = [part for part in leaf_results(shown) if isinstance(part, Print)]
    assert [Path(each.path).name for each in prints] == ["robotplot.pdf", "mine.svg", "mrobotplot.png"]
    assert isinstance(prints[0].of, PoseSequence)
    assert all(len(each.ranges) == 3 for each in prints)
    write_pictures(shown, session.context())
    begins = {"robotplot.pdf": b"%PDF-1.4", "mine.svg": b"<svg", "mrobotplot.png": b"\x89PNG"}
    for name, begin in begins.items():
        assert (tmp_path / name).read_bytes().startswith(begin)


def test_a_printed_trace_shows_the_way_of_the_tool_without_the_arm_too(session, tmp_path):
    session.run("q1 = 0; q2 = 0; Response[{0, 1}, {q1'[0] == 1, q2'[0] == 2}]")
    written = {}
    for option in ("trace, ", ""):
        (shown,) = session.run(f'SimDrive["*", {{{option}xprint -> "way.png", frame}}]')
        (printed,) = [part for part in leaf_results(shown) if isinstance(part, Print)]
        assert len(printed.trajectories) == bool(option)
        write_pictures(shown, session.context())
        written[option] = (tmp_path / "way.png").read_bytes()
    assert written["trace, "] != written[""]


@pytest.mark.slow
def test_pages_and_drawings_have_finer_pixels_and_say_so(session, tmp_path):
    (shown,) = session.run('ShowRobot[{{q1, 0, 1, 2}}, {print, xprint -> "mine.svg", mprint}]')
    titles = [part.title for part in leaf_results(shown) if isinstance(part, Print)]
    assert ["pixels inside" in title for title in titles] == [True, True, False]
    write_pictures(shown, session.context())
    page, drawing = (tmp_path / "robotplot.pdf").read_bytes(), (tmp_path / "mine.svg").read_text()
    assert b"/Width 2400 /Height 1600" in page
    assert b"/MediaBox [0 0 576.00 384.00]" in page
    assert 'width="1200" height="800"' in drawing


def test_a_page_says_where_its_objects_begin():
    from viz.pictures.picture_files import pdf_data

    page = pdf_data(np.full((4, 6, 4), 128, dtype=np.uint8))
    start = int(page.split(b"startxref\n")[1].split()[0])
    assert page[start : start + 4] == b"xref"
    for number, line in enumerate(page[start:].split(b"\n")[3:8], 1):
        assert page[int(line.split()[0]) :].startswith(b"%d 0 obj" % number)


def test_unknown_formats_of_pictures_are_refused(session):
    (shown,) = session.run('ShowRobot[{{q1, 0, 1, 1}}, {xprint -> "mine.xyz"}]')
    with pytest.raises(FileError, match="no format of pictures"):
        write_pictures(shown, session.context())
