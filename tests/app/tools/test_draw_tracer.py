"""Points whose paths are drawn: to which link they belong, and dimensions while they are placed."""

import pytest

from app.document.session import ElementRef
from app.tours.four_bar import TOUR
from tests.app.tools.test_draw import Pen, middle


@pytest.fixture
def pen(bench):
    bench.window.activateWindow()
    bench.view.setFocus()
    return Pen(bench)


def test_a_point_beside_all_links_belongs_to_the_selected_one(pen):
    pen.four_bar()
    pen.key("p")
    pen.bench.session.select(ElementRef("bodies", "link2"))
    pen.aim(*middle(pen, "link3"))  # the pointer was on another link last
    pen.click(0.1, 0.25)
    assert pen.model.frames[-1].parent == "link2"
    pen.bench.session.select(None)
    pen.aim(*middle(pen, "link3"))
    pen.click(0.14, 0.25)
    assert pen.model.frames[-1].parent == "link3"


def test_the_tour_does_not_take_an_arc_for_a_coupler_curve(pen):
    class Seen:
        bench = pen.bench.window

    step = next(each for each in TOUR.steps if each.title == "A point and its path")
    pen.four_bar()
    pen.key("p")
    pen.aim(*middle(pen, "link3"))
    pen.click(0.3, 0.1)
    assert pen.bench.view.scene.tracks.followed_frames
    assert not step.done(Seen)
    pen.aim(*middle(pen, "link2"))
    pen.click(0.1, 0.25)
    assert step.done(Seen)


def test_a_dimension_is_edited_while_points_are_placed(pen):
    pen.four_bar()
    pen.key("p")
    count = len(pen.model.frames)
    pen.tag("length", "l2")
    assert pen.hand.field.isVisible()
    assert len(pen.model.frames) == count
    pen.type("250 mm\r")
    assert pen.model.values()["l2"] == pytest.approx(0.25)
