"""Results that reach beyond the picture."""

import dataclasses

import numpy as np

from core.functions import call


def test_what_lies_beside_the_picture_makes_the_view_step_back(bench):
    bench.example("stanford")
    context = bench.window.functions.context()
    ranges = (("joint1", 0.0, 1.0, 2), ("d3", 3.0, 6.0, 2))
    result = call("show_robot", context, ranges=ranges)
    scene = bench.view.scene

    def seen(point):
        x, y = scene.project(point)
        return 0 <= x <= scene.size[0] and 0 <= y <= scene.size[1]

    tips = [context.mech.frame(np.array(q), "tool")[:3, 3] for q in result.q]
    assert not all(map(seen, tips))
    bench.session.produced.emit(dataclasses.replace(result, live=True))  # one that follows a drag leaves it alone
    bench.draw()
    assert not all(map(seen, tips))
    bench.session.produced.emit(result)
    bench.wait(lambda: all(map(seen, tips)))
