"""Vocabularies of XML formats: known elements and attributes, required ones, and a check for unknown ones.

A vocabulary is declared as text, a rule a line: `name = attributes > children`. Of an attribute `*x` says that it must
be given, `@other` that those of another rule (and its children) belong here too, `-x` or `-@other` that they do not. A
rule `parent/child` holds for an element in that parent only. `?` as a child says that anything may be inside. Indented
lines continue a rule; names in capitals are of groups, not of elements.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from core.errors import suggest_names
from core.files.xml_source import Tag, XmlReader, has_namespace, local_name
from core.later import dataclass
from core.model.validation.findings import Severity

ALIKE = 0.65
"""Similarity ratio above which a word is taken for a misspelling."""
MOST_NAMED = 8


class ElementRule(NamedTuple):
    """Allowed attributes and children of an element; elements marked `unread` may contain anything, which is
    ignored."""

    attributes: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    unread: bool = False


class UnknownWord(NamedTuple):
    """Word in a file that is not in its vocabulary.

    element, word : the word `word` in <element>; attribute : it is an attribute, else an element
    meant : words of the vocabulary that are spelt like it; homes : elements in which this element may be
    """

    tag: Tag
    element: str
    word: str
    attribute: bool
    meant: tuple[str, ...]
    homes: tuple[str, ...]


@dataclass(frozen=True)
class Vocabulary:
    """Words of an XML format; `declared` holds its rules as text."""

    declared: str

    @cached_property
    def rules(self) -> Mapping[str, ElementRule]:
        """Return the rules by element name or `parent/child`."""
        found: dict[str, ElementRule] = {}
        for line in re.sub(r"\n\s+", " ", self.declared.strip()).splitlines():
            name, _, rest = line.partition("=")
            before, _, after = rest.partition(">")
            rule = _parse_rule(before.split(), after.split(), found)
            found.update(dict.fromkeys(name.split(), rule))
        return found

    def find_rule(self, parent: str, name: str) -> ElementRule:
        """Return the rule of an element in a parent."""
        return self.rules.get(f"{parent}/{name}") or self.rules.get(name) or ElementRule(unread=True)

    @cached_property
    def parents_by_element(self) -> Mapping[str, tuple[str, ...]]:
        """Return, for each element, the elements that may contain it."""
        found: dict[str, list[str]] = {}
        for name, rule in self.rules.items():
            for child in () if name.isupper() else rule.children:
                found.setdefault(child, []).append(name.rpartition("/")[2])
        return {child: tuple(dict.fromkeys(names)) for child, names in found.items()}

    def unknown_words(self, root: Tag) -> Iterator[UnknownWord]:
        """Yield the words of a file that are not in the vocabulary, in the order of the file."""
        for tag, rule in self._elements_with_rule(root):
            element = local_name(tag)
            for word in tag.attrib:
                if word not in rule.attributes and ":" not in word and "{" not in word:
                    yield UnknownWord(tag, element, word, True, _similar_words(word, rule.attributes), ())
            for child in tag:
                name = local_name(child)
                if not name or (name in rule.children and not has_namespace(child)):
                    continue
                homes = () if has_namespace(child) else self.parents_by_element.get(name, ())
                yield UnknownWord(
                    child, element, _name_as_written(child), False, _similar_words(name, rule.children), homes
                )

    def missing_attributes(self, root: Tag) -> Iterator[tuple[Tag, str]]:
        """Yield elements that lack a required attribute, with its name."""
        for tag, rule in self._elements_with_rule(root):
            for word in rule.required:
                if not (tag.get(word) or "").strip():
                    yield tag, word

    def elements_with_text(self, root: Tag) -> Iterator[Tag]:
        """Yield elements with text inside, which these formats do not allow."""
        for tag, _ in self._elements_with_rule(root):
            if (tag.text or "").strip() or any((child.tail or "").strip() for child in tag):
                yield tag

    def _elements_with_rule(self, root: Tag) -> Iterator[tuple[Tag, ElementRule]]:
        """Yield the elements of a file that have a rule, with the rule."""
        waiting = [(root, self.find_rule("", local_name(root)))]
        while waiting:
            tag, rule = waiting.pop()
            if rule.unread:
                continue
            yield tag, rule
            name = local_name(tag)
            inner = [child for child in tag if local_name(child) in rule.children and not has_namespace(child)]
            waiting += [(child, self.find_rule(name, local_name(child))) for child in reversed(inner)]


def report_unknown_words(
    reader: XmlReader,
    vocabulary: Vocabulary,
    root: Tag,
    severity: Callable[[UnknownWord], Severity],
    harmless_note: str = "",
) -> None:
    """Report each unknown word of a file once, with its line and the word that was probably meant.

    severity : of a word; hints about elements become one finding, `harmless_note` with their names
    """
    counts: dict[tuple[str, str, bool], list[UnknownWord]] = {}
    for each in vocabulary.unknown_words(root):
        counts.setdefault((each.element, each.word, each.attribute), []).append(each)
    quiet: list[list[UnknownWord]] = []
    for found in counts.values():
        if severity(found[0]) == "hint":
            quiet.append(found)
        else:
            first = found[0]
            text, remedy = _unknown_message(first, len(found), vocabulary)
            reader.add_finding(first.tag, severity(first), text, remedy, field=first.word)
    if quiet:
        names = [_quote_unknown_word(found[0]) + _format_count(len(found)) for found in quiet[:MOST_NAMED]]
        more = f" and {len(quiet) - MOST_NAMED} more" if len(quiet) > MOST_NAMED else ""
        reader.add_finding(quiet[0][0].tag, "hint", harmless_note.format(", ".join(names) + more))


def report_missing_attributes(
    reader: XmlReader, vocabulary: Vocabulary, root: Tag, consequences: Mapping[str, str]
) -> None:
    """Report each kind of missing required attribute once.

    consequences : what the reader does, by "element attribute"; "" for what it refuses, or notes, itself
    """
    counts: dict[tuple[str, str], list[Tag]] = {}
    for tag, word in vocabulary.missing_attributes(root):
        counts.setdefault((local_name(tag), word), []).append(tag)
    for (element, word), tags in counts.items():
        does = consequences.get(f"{element} {word}", "it must be given")
        if does:
            text = f"<{element}> has no '{word}'{_format_count(len(tags))}: {does}."
            reader.add_finding(tags[0], "warning", text, f'Add {word}="…".', field=word)


def report_elements_with_text(reader: XmlReader, vocabulary: Vocabulary, root: Tag) -> None:
    """Report elements that contain text."""
    tags = list(vocabulary.elements_with_text(root))
    if tags:
        text = f"Text inside <{local_name(tags[0])}> is not read{_format_count(len(tags))}."
        reader.add_finding(tags[0], "warning", text, "Give values as attributes.")


def _unknown_message(first: UnknownWord, count: int, vocabulary: Vocabulary) -> tuple[str, str]:
    rule = vocabulary.find_rule("", first.element)
    if first.attribute:
        remedy = suggest_names(first.word, first.meant or rule.attributes)
        return f"<{first.element}> has no attribute '{first.word}'; it is left out{_format_count(count)}.", remedy
    if first.homes and not first.meant:
        remedy = f"It belongs in <{'>, <'.join(first.homes[:4])}>."
        return f"<{first.word}> is left out{_format_count(count)}: it does not belong in <{first.element}>.", remedy
    remedy = suggest_names(first.word, first.meant or rule.children)
    if ":" in first.word and not first.meant:
        remedy = "Name the file .xacro, so that it is expanded." if first.word.startswith("xacro:") else ""
    return f"<{first.word}> in <{first.element}> is not known; it is left out{_format_count(count)}.", remedy


def _quote_unknown_word(unknown: UnknownWord) -> str:
    return f"'{unknown.word}' of <{unknown.element}>" if unknown.attribute else f"<{unknown.word}>"


def _format_count(count: int) -> str:
    return f" ({count} times)" if count > 1 else ""


def _name_as_written(tag: Tag) -> str:
    """Return the name of an element as written in the file."""
    return f"{tag.prefix}:{local_name(tag)}" if tag.prefix else str(tag.tag).rpartition("}")[2]


def _similar_words(word: str, vocabulary: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a vocabulary with a spelling similar to a given word."""
    same = tuple(each for each in vocabulary if each.casefold() == word.casefold())
    return same or tuple(difflib.get_close_matches(word, vocabulary, 3, ALIKE))


def _parse_rule(words: list[str], children: list[str], known_rules: Mapping[str, ElementRule]) -> ElementRule:
    attributes: dict[str, Any] = {}
    required: dict[str, Any] = {}
    inner: dict[str, Any] = {}
    for word in words:
        if word.startswith("@"):
            other = known_rules[word[1:]]
            attributes |= dict.fromkeys(other.attributes)
            required |= dict.fromkeys(other.required)
            inner |= dict.fromkeys(other.children)
        elif word.startswith("-"):
            for gone in known_rules[word[2:]].attributes if word[1] == "@" else (word[1:],):
                attributes.pop(gone, None)
                required.pop(gone, None)
        else:
            attributes[word.lstrip("*")] = None
            required |= {word[1:]: None} if word.startswith("*") else {}
    inner |= dict.fromkeys(children)
    unread = inner.pop("?", "") is None
    return ElementRule(tuple(attributes), tuple(required), tuple(inner), unread)
