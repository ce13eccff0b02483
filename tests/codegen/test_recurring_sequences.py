"""Sequences that recur in a word become letters."""

import numpy as np

from core.codegen.joined_rows import PairGrammar


def words(word, passing=None, least=3, largest=100):
    """The pieces, written out."""
    letters = sorted(set(word))
    passing = np.ones(len(word) - 1, dtype=np.int64) if passing is None else np.array(passing)
    grammar = PairGrammar([letters.index(x) for x in word], [1] * len(letters), passing, least, largest)
    return [word[piece.first : piece.first + grammar.lengths[piece.letter]] for piece in grammar.pieces()]


def test_what_recurs_becomes_a_piece():
    assert words("x" + 6 * "abcd" + "y", largest=4) == ["x", *["abcd"] * 6, "y"]


def test_a_word_is_cut_where_least_passes():
    passing = [1 if k % 4 == 1 else 5 for k in range(4 * 8 - 1)]
    assert words(8 * "abcd", passing, largest=4) == ["ab", *["cdab"] * 7, "cd"]


def test_what_recurs_too_seldom_stays():
    assert words("abab", least=3) == ["a", "b", "a", "b"]


def test_a_run_of_one_letter_is_cut_evenly():
    assert words(9 * "a", least=2, largest=4) == ["aaaa", "aaaa", "a"]


def test_halves_are_what_a_piece_was_made_of():
    grammar = PairGrammar([0, 1, 2] * 3, [1, 1, 1], np.array([9, 1, 1] * 3)[:8], 3, 3)
    one, other = grammar.split_pair(grammar.pieces()[0])
    assert (one.first, grammar.lengths[one.letter]) == (0, 2)
    assert (other.first, grammar.lengths[other.letter]) == (2, 1)
