"""A closed panel hears nothing more from outside itself: one that never disconnects is named here."""

import functools
import gc
from collections import Counter

from app.background.signals import Signal
from app.panels import declared_panels
from app.window.window import Window
from core.files import load
from resources import EXAMPLES
from tests.app.conftest import settle


@functools.cache
def signals_of(kind):
    """The names of the signals that objects of a class have."""
    return tuple(name for base in kind.__mro__ for name, value in vars(base).items() if isinstance(value, Signal))


def listening(package):
    """How often functions of a package listen to objects outside it, by the names of signal and function."""
    gc.collect()
    found = Counter()
    for owner in gc.get_objects():
        for name in signals_of(type(owner)):
            listeners = None if type(owner).__module__.startswith(package) else vars(owner).get(name)
            for listener in listeners._slots if listeners is not None else ():
                slot = listener.slot()
                while isinstance(slot, functools.partial):
                    slot = slot.func
                if slot is not None and slot.__module__.startswith(package):
                    found[f"{type(owner).__name__}.{name}", f"{slot.__module__}.{slot.__qualname__}"] += 1
    return found


def test_closed_panels_listen_to_nothing_outside_themselves(qtbot, settings):
    before = listening("app.panels.")  # of windows of other tests
    window = Window(settings=settings, at_once=False)
    window.session.start_document(load(EXAMPLES / "four_bar.kst"))
    for place in declared_panels():
        assert window.docks.panels[place.id] is not None
    settle()
    assert len(listening("app.panels.") - before) > 10
    window.dispose()
    assert not listening("app.panels.") - before


class Clock:
    struck = Signal()


def test_one_that_never_disconnects_is_named():
    clock = Clock()
    clock.struck.connect(lambda: None)
    clock.struck.connect(functools.partial(listening, ""))
    assert not listening(__name__)  # the clock is inside
    kept, Clock.__module__ = Clock.__module__, "elsewhere"
    try:
        heard = {function.rpartition(".")[2] for signal, function in listening(kept) if signal == "Clock.struck"}
    finally:
        Clock.__module__ = kept
    assert heard == {"<lambda>", "listening"}
