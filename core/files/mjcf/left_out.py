"""Findings about unsupported content of an MJCF file: how many elements of each kind, and the effect on the motion.

A finding's `field` is the word here, so that who compares motions knows which differences it explains.
"""

from __future__ import annotations

from collections import Counter

from core.files.xml_source import Reader, Tag, local_name
from core.model.validation.findings import Severity

_WORDS: dict[str, tuple[Severity, str, str]] = {
    "contacts": (
        "warning",
        "{n} geoms can collide with others; contacts are not computed, so bodies pass through one another.",
        "Use limits, or forces with formulas, where motion must be stopped.",
    ),
    "pairs": ("hint", "{n} entries that select or exclude contacts are left out.", ""),
    "actuators": (
        "warning",
        "{n} actuators are left out: their joints are neither driven nor held.",
        "Add drivers, or forces with formulas.",
    ),
    "keyframes": (
        "warning",
        "{n} keyframes are left out: the machine starts at the reference values of its joints.",
        "Store poses in the program instead.",
    ),
    "cones": (
        "warning",
        "{n} ball joints lose their angle limit: they can turn farther.",
        "Add a force with a formula.",
    ),
    "soft stops": (
        "warning",
        "{n} joints have stops with softness parameters (solref, solimp, margin), which are left out: the stiffness "
        "is derived from the inertia that meets the stop.",
        "Give their stiffness and damping, or make them rigid.",
    ),
    "one-sided motors": (
        "warning",
        "{n} joints have motor force bounds that differ by direction (actuatorfrcrange); the larger one is used.",
        "",
    ),
    "tendon limits": (
        "warning",
        "{n} tendons lose their limits or dry friction: their length is unbounded, and they slide without friction.",
        "Add forces with formulas.",
    ),
    "tendons": ("hint", "{n} tendons without spring, damper or mass are left out.", ""),
    "plugins": ("warning", "{n} plugins are left out, together with the forces they compute.", ""),
    "flexes": (
        "warning",
        "{n} deformable bodies are left out, with their mass and forces.",
        "Use rigid bodies instead.",
    ),
    "sensors": ("hint", "{n} sensors are left out.", "Add sensors here."),
    "notes": ("hint", "{n} entries of <custom> are left out.", ""),
}


class LeftOut:
    """Counts of unsupported elements by kind, each reported once with its first location."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.counts: Counter[str] = Counter()
        self.first: dict[str, Tag] = {}

    def add(self, word: str, tag: Tag, number: int = 1) -> None:
        """Count elements of a kind."""
        if number:
            self.counts[word] += number
            self.first.setdefault(word, tag)

    def add_sections(self, root: Tag) -> None:
        """Count the elements of sections that are not read."""
        words = {"contact": "pairs", "sensor": "sensors", "keyframe": "keyframes", "deformable": "flexes"}
        words |= {"custom": "notes", "extension": "plugins"}
        for section in root:
            if (word := words.get(local_name(section))) is not None:
                self.add(word, section, sum(1 for child in section if local_name(child)))

    def report(self) -> None:
        """Report the findings."""
        for word, number in self.counts.items():
            severity, text, remedy = _WORDS[word]
            self.reader.note(self.first[word], severity, text.format(n=number), remedy, field=word)
