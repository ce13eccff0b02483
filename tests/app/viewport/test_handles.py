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
