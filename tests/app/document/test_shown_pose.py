"""What is seen: the edited pose, a run over it, a preview over both."""

import numpy as np

from app.document.revision import RunPoseMoment, ShownPose

EDITED = np.array([0.1, 0.2])
RUN = RunPoseMoment(np.array([1.0, 2.0]), {"m": 5.0}, {"spring.x": 0.3})
SHOWN = ShownPose(EDITED, {"m": 1.0, "k": 2.0})


def test_at_first_the_document_is_seen():
    assert SHOWN.q is EDITED
    assert SHOWN.p == {"m": 1.0, "k": 2.0}
    assert SHOWN.x == {}


def test_a_run_is_seen_over_the_document_which_keeps_its_own():
    shown = SHOWN.with_run_moment(RUN)
    assert np.array_equal(shown.q, [1.0, 2.0])
    assert shown.p == {"m": 5.0, "k": 2.0}
    assert shown.x == {"spring.x": 0.3}
    assert shown.edited is EDITED
    assert shown.edited_values == {"m": 1.0, "k": 2.0}
    assert shown.with_run_moment(None).q is EDITED


def test_a_drag_begins_from_the_run_and_keeps_its_parameters():
    shown = SHOWN.with_run_moment(RUN).with_preview(RUN.q + 0.1)
    assert np.array_equal(shown.q, [1.1, 2.1])
    assert shown.p == {"m": 5.0, "k": 2.0}
    assert shown.x == {}  # states belong to the run's pose


def test_a_parameter_begins_from_the_edited_pose_and_hides_the_runs():
    shown = SHOWN.with_run_moment(RUN).with_preview(p={"k": 3.0})
    assert np.array_equal(shown.q, EDITED)
    assert shown.p == shown.edited_values == {"m": 1.0, "k": 3.0}


def test_previews_add_up_until_they_are_dropped():
    shown = SHOWN.with_preview(p={"k": 3.0}).with_preview(p={"m": 4.0}).with_preview(np.array([7.0, 8.0]))
    assert np.array_equal(shown.q, [7.0, 8.0])
    assert shown.p == {"m": 4.0, "k": 3.0}
    assert np.array_equal(shown.with_preview(p={"k": 5.0}).q, [7.0, 8.0])
    assert shown.without_preview().q is EDITED
    assert shown.without_preview().p == SHOWN.p


def test_a_run_that_moves_on_stays_behind_what_is_previewed():
    shown = SHOWN.with_preview(np.array([7.0, 8.0])).with_run_moment(RUN)
    assert np.array_equal(shown.q, [7.0, 8.0])
    assert np.array_equal(shown.without_preview().q, RUN.q)


def test_a_preview_does_not_change_with_the_array_it_was_made_of():
    q = np.array([7.0, 8.0])
    shown = SHOWN.with_preview(q)
    q[0] = 0.0
    assert shown.q[0] == 7.0
