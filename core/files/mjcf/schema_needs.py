"""Checks for content that MuJoCo rejects although this reader ignores it: incomplete elements, elements that may occur
only once, and values of the wrong type.

https://mujoco.readthedocs.io/en/stable/XMLreference.html
"""

from __future__ import annotations

from collections.abc import Iterator

from core.files.mjcf.mjcf_types import find_type
from core.files.mjcf.mjcf_words import VOCABULARY
from core.files.xml_source import Tag, XmlReader, local_name

_TARGETS = ("joint", "jointinparent", "tendon", "site", "slidersite", "body")
_SIDES = ("fileback", "filedown", "filefront", "fileleft", "fileright", "fileup")
COMPLETE: dict[str, tuple[tuple[str, ...], ...]] = {
    **dict.fromkeys(
        (
            *("general", "motor", "position", "velocity", "intvelocity", "orientation", "pid", "damper", "cylinder"),
            *("muscle", "dcmotor"),
        ),
        tuple((target,) for target in _TARGETS),
    ),
    "adhesion": (("body", "ctrlrange"),),
    "damper": tuple((target, "ctrlrange") for target in _TARGETS),
    "hfield": (("size", "file"), ("size", "nrow", "ncol")),
    "texture": (("file",), ("builtin", "width", "height"), *((side,) for side in _SIDES)),
    "mesh": (("file",), ("vertex",), ("builtin",)),
    "material": (("name",),),
    "numeric": (("name", "data"), ("name", "size")),
    "text": (("name", "data"),),
}
"""By element, sets of attributes of which one is required; attributes from default classes count, and default classes
themselves need none."""
ONCE = {"option": ("flag",), "compiler": ("lengthrange",)}
"""Children that an element may have only once."""


def check_required_content(reader: XmlReader, root: Tag) -> None:
    """Report incomplete elements, elements that occur too often, and values of the wrong type."""
    inherited = _default_attributes(root)
    noted: set[tuple[str, ...]] = set()
    for tag, inside in _known_elements(root):
        element = local_name(tag)
        if "default" not in inside:
            _check_required_attributes(reader, tag, element, inherited.get(element, frozenset()), noted)
        _check_types(reader, tag, element, noted)
        _check_single_children(reader, tag, element)
    _check_classes(reader, root)


def parent_name(tag: Tag) -> str:
    """Return the name of the element around an element, "" for the root."""
    parent = tag.getparent()
    return "" if parent is None else local_name(parent)


def _known_elements(root: Tag) -> Iterator[tuple[Tag, tuple[str, ...]]]:
    """Yield the elements that MuJoCo knows, each with the names of its enclosing elements."""
    waiting: list[tuple[Tag, tuple[str, ...]]] = [(root, ())]
    while waiting:
        tag, inside = waiting.pop()
        if local_name(tag) not in ("custom", "extension", "include", ""):
            yield tag, inside
        elif local_name(tag) == "custom":
            yield from ((child, ("custom",)) for child in tag)
            continue
        waiting += [(child, (*inside, local_name(tag))) for child in reversed(tag)]


def _default_attributes(root: Tag) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for tag, inside in _known_elements(root):
        if "default" in inside:
            element = local_name(tag)
            found[element] = found.get(element, frozenset()) | {*tag.attrib}
    return found


def _check_required_attributes(
    reader: XmlReader, tag: Tag, element: str, inherited: frozenset[str], reported: set[tuple[str, ...]]
) -> None:
    choices = COMPLETE.get(element)
    if choices is None or parent_name(tag) not in ("actuator", "asset", "custom"):
        return
    given = {word for word, value in tag.attrib.items() if value.strip()} | inherited
    if any(given >= {*choice} for choice in choices) or ("complete", element) in reported:
        return
    reported.add(("complete", element))
    left = [[word for word in choice if word not in given] for choice in choices]
    lacking = list(dict.fromkeys(" and ".join(f"'{word}'" for word in words) for words in left))
    first = min(left, key=len)[0]
    text = f"<{element}> is incomplete: it needs {', or '.join(lacking)}. MuJoCo refuses that."
    reader.add_finding(tag, "warning", text, f'Add {first}="…".', field=first)


def _check_types(reader: XmlReader, tag: Tag, element: str, reported: set[tuple[str, ...]]) -> None:
    parent = parent_name(tag)
    for word, value in tag.attrib.items():
        wanted = find_type(parent, element, word)
        if wanted is None or word not in VOCABULARY.find_rule(parent, element).attributes:
            continue
        problem, remedy = wanted.find_problem(value)
        if problem and (element, word, problem) not in reported:
            reported.add((element, word, problem))
            text = f"'{word}' of <{element}> {problem}; MuJoCo refuses that."
            reader.add_finding(tag, "warning", text, remedy, field=word)


def _check_single_children(reader: XmlReader, tag: Tag, element: str) -> None:
    seen: set[str] = set()
    for child in tag:
        name = local_name(child)
        if name in seen and (name in ONCE.get(element, ()) or (element == "default" and name != "default")):
            text = f"<{element}> has <{name}> twice; MuJoCo refuses that."
            reader.add_finding(child, "warning", text, "Merge them into one element with the attributes of both.")
        seen.add(name)


def _check_classes(reader: XmlReader, root: Tag) -> None:
    seen: set[str] = set()
    for tag in root.iter():
        if local_name(tag) == "default" and (name := tag.get("class", "")):
            if name in seen:
                text = f"The default class '{name}' is defined twice; MuJoCo refuses that."
                reader.add_finding(tag, "warning", text, "Rename one of them, or merge the two.", field="class")
            seen.add(name)
