"""Handles of what is pointed at outside of the viewport, and in another document."""

from PySide6.QtCore import QPointF

from app.document.session import ElementRef


def test_a_handle_pointed_at_in_a_list_goes_with_the_pointer(bench):
    bench.example("puma560")
    handles, session = bench.view.scene.handles, bench.session
    bench.view.gestures.on_pointer_left()
    session.set_hovered_element(ElementRef("joints", "joint3"))
    bench.wait(lambda: handles.shown_joints == ("joint3",))
    session.set_hovered_element(None)
    assert handles.shown_joints == ()


def test_another_robot_shows_no_handle_of_the_one_before(bench):
    bench.example("puma560")
    handles, session = bench.view.scene.handles, bench.session
    bench.move(5, 5)

    def pointed_at():
        session.set_hovered_element(ElementRef("joints", "joint3"))
        return handles.shown_joints == ("joint3",)

    bench.wait(pointed_at)
    bench.example("stanford")
    assert handles.shown_joints == ()


def test_no_handle_is_seen_that_the_chosen_tool_does_not_drag(bench):
    bench.example("four_bar")
    session, view = bench.session, bench.view
    session.select(ElementRef("joints", "crank_pin"))
    assert view.scene.handles.shown_joints == ("crank_pin",)
    for tool, shown in (("connect", ()), ("select", ("crank_pin",)), ("measure", ()), ("move", ("crank_pin",))):
        view.gestures.choose_tool(tool)
        assert view.scene.handles.shown_joints == shown, tool


def test_a_selected_body_has_no_arrows_that_nobody_can_drag(bench):
    """Its axes have the colours of handles; they are shown where frames are asked for, and are rods."""
    bench.example("four_bar")
    bench.session.select(ElementRef("bodies", "crank"))
    drawn = bench.view.scene.figures.table
    assert "frame/crank" not in drawn
    bench.window.settings.set_view_flag("frames", True)
    try:
        rods = drawn["frame/crank"]
        assert not rods.item.geometry.heads
    finally:
        bench.window.settings.set_view_flag("frames", False)


def test_in_pull_a_body_goes_before_the_handle_that_lies_over_it(bench):
    """What lights up is what a press would take; ends of links, which are not dragged there, are not shown."""
    bench.example("four_bar")
    session, view = bench.session, bench.view
    session.select(ElementRef("bodies", "crank"))
    assert view.link_ends.ends
    view.gestures.choose_tool("pull")
    assert view.link_ends.ends == ()
    (part,) = view.scene.handles.visible_parts
    bench.draw()
    ratio, seen = view.devicePixelRatioF(), []
    for x in range(20, view.width() - 80, 6):
        for y in range(20, view.height() - 20, 6):
            pointer = view.to_pointer(QPointF(x, y))
            if view.handle_under(pointer) == part:
                hit = view.scene.pick(x * ratio, y * ratio, handles=False)
                seen.append((hit is None or hit.ref[0] != "bodies", x, y))
    for free in (True, False):
        x, y = next((x, y) for each, x, y in seen if each is free)
        bench.move(x, y)
        assert (view.scene.handles.hovered == part) is free


def test_functions_are_written_in_the_colours_of_the_look(bench):
    bench.example("four_bar")
    panel = bench.window.functions
    for look in ("dark", "light"):
        bench.window.settings.look = look
        bench.wait(lambda: panel._rows["jacobian"].foreground(0).color() == panel.palette().text().color())
