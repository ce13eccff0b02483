"""Tolerances shared by several modules."""

SOLVED_GAP = 1e-11
"""Constraint residual (m, rad) below which a position counts as closed."""
ACCEPTED_GAP = 1e-8
"""Constraint residual (m, rad) that is accepted if no further step reduces it."""
CLOSED_GAP = 1e-12
"""Constraint residual (m, rad) below which a simulation does not correct its positions further."""
OPEN_GAP = 1e-7
"""Constraint residual (m, rad) above which a constraint is reported as open; smaller residuals are invisible."""
INDEPENDENT_ROW = 1e-10
"""Component of a row orthogonal to the other rows, as a fraction of the largest row (both squared), above which the row
counts as independent."""
SINGULAR_SINE = 1e-3
"""Component of a row orthogonal to the rows before it, as a fraction of the row (or sine of an analytic loop closure),
below which a pose counts as close to singular; dividing by it would only amplify rounding error."""
BYPASS_STEP = 5e-3
"""Distance (rad or m) to the neighbouring poses between which a motion is interpolated where it cannot be evaluated."""
RANK_TOLERANCE = 1e-9
"""Fraction of the largest singular value below which a singular value counts as zero (`core.numerics.rank`)."""
REGULAR_FRACTION = 1e-5
"""Fraction of the largest singular value above which no tolerance may treat a singular value as zero."""
NEGLIGIBLE_PIVOT = 1e-14
"""Fraction of the diagonal entry, or of the largest eigenvalue, below which a pivot or eigenvalue of a mass matrix
counts as zero."""
AT_REST_SPEED = 1e-9
"""Speed, rad/s or m/s, below which a joint counts as at rest and has static friction."""
DEAD_FRACTION = 1e-10
"""Inverse inertia along a row with loops closed, relative to that of the open tree, below which loops alone determine
its motion."""
TOUCH_TOLERANCE = 1e-9
"""Distance (rad or m) to a limit within which a coordinate is at the limit."""
