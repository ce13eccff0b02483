"""Tolerances that several files share, each with what it bounds."""

OPEN_GAP = 1e-7
"""Residual of a constraint (m, rad) above which it counts as open: nobody sees less."""
INDEPENDENT_ROW = 1e-10
"""Part of the largest row's square: a row counts as independent of others while the square of what remains of it beside
them is larger."""
RANK_TOLERANCE = 1e-9
"""Part of the largest singular value below which others count as zero."""
