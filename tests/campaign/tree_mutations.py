"""Ways to spoil what a file says while its syntax stays right: the trees of YAML, JSON and XML."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import yaml
from lxml import etree

from tests.campaign.mutations import NAMES, NUMBERS

DEEP = (3, 10, 40, 120, 1200)
"""Levels of brackets or elements put around something."""
MANY = (2, 5, 60)
"""How often something is repeated."""

Place = tuple[Any, Any]
"""A list or mapping, and the index or key in it."""


def yaml_spoiled(luck: random.Random, data: bytes) -> bytes:
    """A YAML text with something moved, repeated, renamed, removed, nested or replaced in its tree."""
    tree = yaml.load(data, Loader=yaml.BaseLoader)
    for _ in range(luck.choice((1, 1, 2, 4))):
        tree = spoiled_tree(luck, tree)
    flow = luck.choice((None, None, False))
    try:
        text = yaml.dump(tree, sort_keys=False, allow_unicode=True, default_flow_style=flow, Dumper=_Plain)
    except RecursionError:  # nested too deep for who writes it
        return data
    return text.encode("utf-8", "replace")


def json_spoiled(luck: random.Random, data: bytes) -> bytes:
    """The same for JSON."""
    tree = json.loads(data)
    for _ in range(luck.choice((1, 1, 2, 4))):
        tree = spoiled_tree(luck, tree)
    return json.dumps(tree).encode()


class _Plain(yaml.SafeDumper):
    """Writes texts without quotes wherever it can, and no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Plain.yaml_implicit_resolvers = {}


def places(tree: Any) -> list[Place]:
    """Everything in a tree."""
    found: list[Place] = []
    stack = [tree]
    while stack:
        node = stack.pop()
        items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, value in items:
            found.append((node, key))
            if isinstance(value, dict | list):
                stack.append(value)
    return found


def spoiled_tree(luck: random.Random, tree: Any) -> Any:
    """The tree, changed in one place."""
    found = places(tree)
    if not found:
        return tree
    return luck.choice(CHANGES)(luck, tree, found, luck.choice(found))


def _remove(luck: random.Random, tree: Any, found: list[Place], place: Place) -> Any:
    node, key = place
    del node[key]
    return tree


def _replace(luck: random.Random, tree: Any, found: list[Place], place: Place) -> Any:
    node, key = place
    node[key] = luck.choice((*NUMBERS, *NAMES, [], {}))
    return tree


def _borrow(luck: random.Random, tree: Any, found: list[Place], place: Place) -> Any:
    """Another value of the file, at best of the same key: references in circles, formulas of themselves."""
    node, key = place
    alike = [other for other, other_key in found if other_key == key and other is not node and key in (other or ())]
    other, at = (luck.choice(alike), key) if alike and luck.random() < 0.7 else luck.choice(found)
    node[key] = copy.deepcopy(other[at])
    return tree


def _name_for_value(luck: random.Random, tree: Any, found: list[Place], place: Place) -> Any:
    """The name of something as a value."""
    keys = [key for _, key in found if isinstance(key, str)]
    node, key = place
    node[key] = luck.choice(keys) if keys else ""
    return tree


def _rename(luck: random.Random, tree: Any, found: list[Place], place: Place) -> Any:
    """Another key in the same place of the order."""
    node, key = place
    if isinstance(node, dict):
        keys = [k for _, k in found if isinstance(k, str)]
        new = luck.choice((*NAMES, *keys))
        items = [(new if k == key else k, value) for k, value in node.items()]
        node.clear()
        node.update(items)
    return tree


def _nest(luck: random.Random, tree: Any, found: list[Place], place: Place) -> Any:
    node, key = place
    for _ in range(luck.choice(DEEP[:4])):
        node[key] = [node[key]] if luck.random() < 0.5 else {str(key): node[key]}
    return tree


def _repeat(luck: random.Random, tree: Any, found: list[Place], place: Place) -> Any:
    node, key = place
    for number in range(luck.choice(MANY)):
        if isinstance(node, dict):
            node[f"{key}{number}"] = copy.deepcopy(node[key])
        else:
            node.append(copy.deepcopy(node[key]))
    return tree


def _scalar(luck: random.Random, tree: Any, found: list[Place], place: Place) -> Any:
    """A number or word is a nasty one."""
    leaves = [(node, key) for node, key in found if not isinstance(node[key], dict | list)]
    if leaves:
        node, key = luck.choice(leaves)
        numeric = str(node[key])[:1] in "-+.0123456789"
        node[key] = luck.choice(NUMBERS if numeric and luck.random() < 0.9 else NAMES)
    return tree


CHANGES: tuple[Callable[..., Any], ...] = (
    _remove,
    _replace,
    _borrow,
    _borrow,
    _name_for_value,
    _rename,
    _nest,
    _repeat,
    _scalar,
    _scalar,
    _scalar,
)


# ------------------------------------------------------------------------------------------- XML


def xml_spoiled(luck: random.Random, data: bytes) -> bytes:
    """An XML text with elements moved, repeated, removed, renamed, nested, or with other attributes."""
    root = etree.fromstring(data, etree.XMLParser(remove_comments=True))
    for _ in range(luck.choice((1, 1, 2, 4))):
        nodes = list(root.iter(etree.Element))
        luck.choice(XML_CHANGES)(luck, nodes, luck.choice(nodes))
    return etree.tostring(root)


def _drop(luck: random.Random, nodes: list[Any], node: Any) -> None:
    if node.getparent() is not None:
        node.getparent().remove(node)


def _move(luck: random.Random, nodes: list[Any], node: Any) -> None:
    """Somewhere else, or there too."""
    target = luck.choice(nodes)
    node = node if luck.random() < 0.5 else copy.deepcopy(node)
    if (node.getparent() is None and node in nodes) or target in node.iter():
        return
    target.append(node)


def _again(luck: random.Random, nodes: list[Any], node: Any) -> None:
    if node.getparent() is not None and len(nodes) < 2000:
        for _ in range(luck.choice(MANY)):
            node.addnext(copy.deepcopy(node))


def _within(luck: random.Random, nodes: list[Any], node: Any) -> None:
    """In elements of its own kind, or of another one."""
    tag = luck.choice(nodes).tag if luck.random() < 0.5 else node.tag
    parent = node.getparent()
    if parent is None or len(nodes) > 2000:
        return
    at, outer = parent.index(node), None
    inner = node
    for _ in range(luck.choice(DEEP[:4])):
        outer = etree.Element(tag)
        outer.append(inner)
        inner = outer
    parent.insert(at, inner)


def _called(luck: random.Random, nodes: list[Any], node: Any) -> None:
    node.tag = luck.choice(nodes).tag


def _attribute(luck: random.Random, nodes: list[Any], node: Any) -> None:
    """An attribute has a nasty value, another one's value, another name, or is gone."""
    having = [each for each in nodes if each.attrib]
    if not having:
        return
    node = luck.choice(having)
    name = luck.choice(list(node.attrib))
    match luck.randrange(6):
        case 0:
            del node.attrib[name]
        case 1:
            node.set(name, _storable(luck.choice(NAMES)))
        case 2 | 3:
            words = node.get(name).split() or [""]
            words[luck.randrange(len(words))] = luck.choice(NUMBERS)
            node.set(name, _storable(" ".join(words)))
        case 4:
            alike = [each.get(name) for each in nodes if each.get(name) is not None]
            node.set(name, luck.choice(alike))
        case _:
            other = luck.choice(having)
            theirs = luck.choice(list(other.attrib))
            node.set(theirs, other.get(theirs))


def _storable(text: str) -> str:
    return "".join(c for c in text if c in "\t\n\r" or ord(c) >= 32)


XML_CHANGES: tuple[Callable[..., None], ...] = (
    _drop,
    _move,
    _move,
    _again,
    _within,
    _called,
    _attribute,
    _attribute,
    _attribute,
    _attribute,
    _attribute,
)
