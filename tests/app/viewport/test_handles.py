"""Handles of what is pointed at outside of the viewport, and in another document."""

from app.document.session import Ref


def test_a_handle_pointed_at_in_a_list_goes_with_the_pointer(bench):
    bench.example("puma560")
    handles, session = bench.view.scene.handles, bench.session
    bench.view.gestures.leave()
    session.point_at(Ref("joints", "joint3"))
    bench.wait(lambda: handles.shown == ("joint3",))
    session.point_at(None)
    assert handles.shown == ()


def test_another_robot_shows_no_handle_of_the_one_before(bench):
    bench.example("puma560")
    handles, session = bench.view.scene.handles, bench.session
    bench.move(5, 5)

    def pointed_at():
        session.point_at(Ref("joints", "joint3"))  # again, should what is under the pointer be told only now
        return handles.shown == ("joint3",)

    bench.wait(pointed_at)
    bench.example("stanford")
    assert handles.shown == ()


def test_no_handle_is_seen_that_the_chosen_tool_does_not_drag(bench):
    bench.example("four_bar")
    session, view = bench.session, bench.view
    session.select(Ref("joints", "crank_pin"))
    assert view.scene.handles.shown == ("crank_pin",)
    for tool, shown in (("connect", ()), ("select", ("crank_pin",)), ("measure", ()), ("move", ("crank_pin",))):
        view.gestures.choose(tool)
        assert view.scene.handles.shown == shown, tool


def test_a_selected_body_has_no_arrows_that_nobody_can_drag(bench):
    """Its axes have the colours of handles; they are shown where frames are asked for, and are rods."""
    bench.example("four_bar")
    bench.session.select(Ref("bodies", "crank"))
    drawn = bench.view.scene.figures.table
    assert "frame/crank" not in drawn
    bench.window.settings.set_flag("frames", True)
    try:
        rods = drawn["frame/crank"]
        assert not rods.item.geometry.heads
    finally:
        bench.window.settings.set_flag("frames", False)
