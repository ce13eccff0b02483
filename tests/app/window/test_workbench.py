"""The window has all that the workbench and the stage promise. (Its classes derive from Qt's, which mypy sees as
anything: what they lack it would not find.)"""

import inspect
import typing

import pytest

import app.viewport.stage as stage
import app.workbench as workbench
from app.panels import declared_panels

PROTOCOLS = [
    each for module in (workbench, stage) for each in vars(module).values() if getattr(each, "_is_protocol", False)
]


def members(protocol):
    """What a protocol promises: attributes, properties, methods."""
    own = {name: member for name, member in vars(protocol).items() if not name.startswith("_")}
    return {**dict.fromkeys(protocol.__annotations__), **own}


def protocol_of(member):
    """The protocol that a property gives, if it gives one."""
    given = member.fget.__annotations__.get("return", "") if isinstance(member, property) else ""
    return next((each for each in PROTOCOLS if each.__name__ == given.partition("[")[0]), None)


def unfit(thing, protocol, met):
    """Members of a protocol that a thing lacks, or that are called in another way there."""
    if protocol in met:
        return []
    met.add(protocol)
    wrong = []
    for name, member in members(protocol).items():
        place = f"{protocol.__name__}.{name}"
        if not hasattr(thing, name):
            wrong.append(place)
        elif inspect.isfunction(member):
            names = [each for each in inspect.signature(member).parameters if each != "self"]
            try:
                inspect.signature(getattr(thing, name)).bind(*names)
            except TypeError as error:
                wrong.append(f"{place}: {error}")
            except ValueError:
                continue  # Qt's own, of which Python knows no signature
        elif (inner := protocol_of(member)) is not None:
            wrong += unfit(getattr(thing, name), inner, met)
    return wrong


def test_the_window_is_a_workbench(bench):
    met = set()
    assert unfit(bench.window, workbench.Workbench, met) == []
    assert {each for each in PROTOCOLS if each is not stage.RealTimePulling and each is not typing.Protocol} <= met
    assert unfit(bench.window.interactive, stage.RealTimePulling, met) == []


def test_what_is_lacking_is_found():
    class Half:
        def take(self, run):
            pass

    found = unfit(Half(), workbench.RunListService, set())
    assert "RunListService.load" in found
    assert any(each.startswith("RunListService.take:") for each in found)


@pytest.mark.parametrize("panel", declared_panels(), ids=lambda panel: panel.id)
def test_a_panel_stands_in_its_own_folder(panel):
    assert panel.make.found().__module__ == f"app.panels.{panel.id}.panel"


def test_no_two_panels_stand_in_the_same_place():
    assert len({panel.order for panel in declared_panels()}) == len(declared_panels())
