"""Signals: who is told, how much, in which order, and until when."""

import gc

import pytest

from app.background.signals import Signal


class Clock:
    struck = Signal(int, str)


class Hearer:
    def __init__(self):
        self.heard = []

    def hear(self, hour, tone):
        self.heard.append((hour, tone))

    def hear_hour(self, hour):
        self.heard.append(hour)


def test_listeners_are_told_in_the_order_in_which_they_came_as_much_as_they_take():
    clock, told = Clock(), []
    clock.struck.connect(lambda *given: told.append(given))
    clock.struck.connect(lambda hour: told.append(hour))
    clock.struck.connect(lambda: told.append("struck"))
    clock.struck.connect(told.append)
    hearer = Hearer()
    clock.struck.connect(hearer.hear)
    clock.struck.connect(hearer.hear_hour)
    clock.struck.emit(3, "dong")
    assert told == [(3, "dong"), 3, "struck", 3]
    assert hearer.heard == [(3, "dong"), 3]


def test_each_object_has_listeners_of_its_own():
    one, other, told = Clock(), Clock(), []
    one.struck.connect(lambda hour: told.append(hour))
    other.struck.emit(1, "ding")
    assert told == []
    assert len(other.struck) == 0
    assert one.struck is one.struck
    assert Clock.struck.kinds == (int, str)


def test_who_has_gone_hears_nothing_and_is_not_held():
    clock, hearer = Clock(), Hearer()
    clock.struck.connect(hearer.hear)
    clock.struck.connect(hearer.hear_hour)
    clock.struck.disconnect(hearer.hear)
    clock.struck.disconnect(hearer.hear)
    clock.struck.emit(1, "ding")
    assert hearer.heard == [1]
    del hearer
    gc.collect()
    clock.struck.emit(2, "ding")
    assert len(clock.struck) == 0


def test_who_leaves_while_others_are_told_is_not_told_any_more():
    clock, hearer = Clock(), Hearer()
    clock.struck.connect(lambda: clock.struck.disconnect(hearer.hear))
    clock.struck.connect(lambda: clock.struck.connect(hearer.hear_hour))
    clock.struck.connect(hearer.hear)
    clock.struck.emit(1, "ding")
    assert hearer.heard == []
    clock.struck.disconnect(hearer.hear_hour)


def test_what_goes_wrong_is_told_to_who_emits():
    clock, told = Clock(), []

    def fail():
        raise ValueError("the spring broke")

    clock.struck.connect(fail)
    clock.struck.connect(told.append)
    with pytest.raises(ValueError, match="the spring broke"):
        clock.struck.emit(1, "ding")
    assert told == []
