"""Interface of all kinds of signals; each kind is one class in this folder."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from core.model.declared_numbers import quantity_value
from core.model.formula.nodes import Name, Node
from core.model.signal_elements import BlockKind, Signal
from core.model.signal_laws import BlockLaw, value_node


class SignalBlock(BlockKind):
    """Kind of signal with its formulas."""

    @classmethod
    @abstractmethod
    def law(cls, signal: Signal, model: Any) -> BlockLaw:
        """Return the formulas of a signal of an expanded model. Raises ModelError."""

    @classmethod
    def number(cls, signal: Signal, name: str) -> Node:
        """Return the value of a number that the kind declares."""
        quantity = next(each for each in cls.numbers if each.name == name)
        return value_node(quantity_value(quantity, signal.settings))


def input_node(signal: Signal) -> Node:
    """Return the input of a block."""
    return value_node(signal.input)


def own_state(signal: Signal, suffix: str) -> Name:
    """Return a state or value of the signal itself."""
    return Name(f"{signal.name}.{suffix}")
