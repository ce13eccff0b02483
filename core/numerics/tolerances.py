"""Tolerances shared by several modules."""

SOLVED_GAP = 1e-11
"""Constraint residual (m, rad) below which a position counts as closed."""
ACCEPTED_GAP = 1e-8
"""Constraint residual (m, rad) that is still accepted when no further step reduces it."""
CLOSED_GAP = 1e-12
"""Constraint residual (m, rad) below which a simulation does not correct its positions further."""
OPEN_GAP = 1e-7
"""Constraint residual (m, rad) above which a constraint is reported as open; smaller ones are invisible."""
INDEPENDENT_ROW = 1e-10
"""Fraction of the largest row's square that must remain of a row, orthogonal to the others, for it to count as
independent."""
SINGULAR_SINE = 1e-3
"""Fraction of a row orthogonal to the rows before it (or sine of an analytic loop closure) below which a pose counts as
close to singular; dividing by it would only amplify rounding error."""
BYPASS_STEP = 5e-3
"""Distance (rad or m) to the neighbouring poses from which a motion is interpolated where it cannot be evaluated."""
RANK_TOLERANCE = 1e-9
"""Fraction of the largest singular value below which others count as zero (`core.numerics.rank`)."""
REGULAR_FRACTION = 1e-5
"""Fraction of the largest singular value above which no tolerance may count one as zero."""
NEGLIGIBLE_PIVOT = 1e-14
"""Fraction of its own diagonal entry, or of the largest eigenvalue, below which a pivot or eigenvalue of a mass matrix
counts as zero."""
