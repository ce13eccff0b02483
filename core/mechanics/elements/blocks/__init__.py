"""Kinds of signals: their facts for documents, forms, files and help, and their formulas."""

from __future__ import annotations

from typing import cast

from core.kinds import Kinds
from core.mechanics.elements.blocks.signal_block import SignalBlock
from core.model.signal_elements import BLOCK_KINDS

BASE = SignalBlock
"""Class from which the kinds of this folder derive."""
BLOCKS = cast("Kinds[SignalBlock]", BLOCK_KINDS)
"""All kinds of signals, with their formulas."""
