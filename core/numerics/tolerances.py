"""Tolerances that several files share, each with what it bounds."""

SOLVED_GAP = 1e-11
"""Residual of a constraint (m, rad) below which a position counts as closed."""
ACCEPTED_GAP = 1e-8
"""Residual (m, rad) that is still accepted when no further step helps."""
CLOSED_GAP = 1e-12
"""Residual (m, rad) at which a run, which begins next to closing, is brought no nearer."""
OPEN_GAP = 1e-7
"""Residual of a constraint (m, rad) above which it counts as open: nobody sees less."""
INDEPENDENT_ROW = 1e-10
"""Part of the largest row's square: a row counts as independent of others while the square of what remains of it beside
them is larger."""
SINGULAR_SINE = 1e-3
"""Part of a row that those before it leave (or sine of a closed form) below which a pose counts as next to one where
they depend on each other: what is divided by it there is rounding."""
BYPASS_STEP = 5e-3
"""Distance (rad or m) to the poses before and behind from which a regular motion is taken where it cannot be
evaluated."""
RANK_TOLERANCE = 1e-9
"""Part of the largest singular value below which others count as zero (`core.numerics.rank`)."""
REGULAR_FRACTION = 1e-5
"""Part of the largest singular value above which none counts as zero, whatever it is asked for."""
NEGLIGIBLE_PIVOT = 1e-14
"""Part of its own diagonal entry, or of the largest eigenvalue, below which a pivot or an eigenvalue of a mass matrix
counts as zero."""
