"""Grammar compression: recurring sequences of symbols in a sequence.

A pair of letters that stand beside each other often is replaced by a new letter, again and again (Larsson and Moffat,
Off-line dictionary-based compression, Proc. IEEE 88, 2000): of all pairs that between which most passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Piece(NamedTuple):
    """Symbol of the compressed sequence, and the position of its first element in the original one."""

    letter: int
    first: int


class Grammar:
    """Grammar of symbols, each of which is an original one or stands for a pair.

    weights : of the letters that are given; passing : what passes between neighbours in the word, one fewer
    least : times that a pair must recur; largest : of the sum of the weights of what a letter stands for
    """

    def __init__(
        self, word: Sequence[int], weights: Sequence[int], passing: NDArray[np.int64], least: int, largest: int
    ) -> None:
        self.least, self.largest = least, largest
        self.weights, self.lengths = list(weights), [1] * len(weights)
        self.parts: dict[int, tuple[int, int]] = {}
        """Symbol → pair that it stands for."""
        self._word, self._passing = np.array(word, dtype=np.int64), passing
        while self._replace_best_pair():
            pass

    def _replace_best_pair(self) -> bool:
        """Replace the best recurring pair by a new symbol; returns False if there is none."""
        word, new = self._word, len(self.weights)
        weights = np.array(self.weights)
        fit = weights[word[:-1]] + weights[word[1:]] <= self.largest
        pairs, which, counts = np.unique((word[:-1] * new + word[1:])[fit], return_inverse=True, return_counts=True)
        if not len(counts) or counts.max() < self.least:
            return False
        gains = np.where(counts < self.least, -1.0, np.bincount(which, self._passing[fit]))
        first, second = divmod(int(pairs[np.argmax(gains)]), new)
        at = np.flatnonzero((word[:-1] == first) & (word[1:] == second))
        if first == second:  # of a run of equal letters every other pair
            begins = np.flatnonzero(np.diff(at, prepend=-2) != 1)
            at = at[(np.arange(len(at)) - np.repeat(begins, np.diff([*begins, len(at)]))) % 2 == 0]
        word[at] = new
        self._word, self._passing = np.delete(word, at + 1), np.delete(self._passing, at)
        self.weights.append(int(weights[first] + weights[second]))
        self.lengths.append(self.lengths[first] + self.lengths[second])
        self.parts[new] = first, second
        return True

    def pieces(self) -> list[Piece]:
        """Return the compressed sequence."""
        letters = self._word.tolist()
        firsts = np.cumsum([0, *(self.lengths[letter] for letter in letters)]).tolist()
        return [Piece(*each) for each in zip(letters, firsts, strict=False)]

    def halves(self, piece: Piece) -> tuple[Piece, Piece]:
        """Split a piece into the pair that its symbol stands for."""
        one, other = self.parts[piece.letter]
        return Piece(one, piece.first), Piece(other, piece.first + self.lengths[one])
