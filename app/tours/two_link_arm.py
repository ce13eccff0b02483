"""Tour: a two-link arm and its equations of motion, from a table of Denavit–Hartenberg parameters."""

from __future__ import annotations

from app.tours.tour import MOVED, Step, StepProgress, Tour


def _has_arm(progress: StepProgress) -> bool:
    return sum(joint.info.nv > 0 for joint in progress.current_model.joints) > 1


TOUR = Tour(
    "two_link_arm",
    "A two-link arm and its equations",
    "From a table of Denavit–Hartenberg parameters to M, C and G, step by step.",
    (
        Step(
            "An arm with two joints",
            "Choose Add ▸ DH chain… and give it two rows with link lengths, or open the example Two-link planar arm "
            "(File ▸ Open example).",
            _has_arm,
            "Each row of the table is a joint and a link.",
        ),
        Step(
            "Move it",
            "Rest the pointer on a link and drag the ring that appears, or move a slider at the right.",
            lambda seen: seen.moved > MOVED,
            "One drag is one undo step.",
        ),
        Step(
            "Its Jacobian",
            "Choose Jacobian among the functions on the left and run it. Then move the arm: the card is updated.",
            lambda seen: "jacobian" in seen.asked,
            "Where its determinant is zero the arm is singular: stretched, or folded back.",
        ),
        Step(
            "Its equations of motion",
            "Run Euler–Lagrange dynamics in symbols. Every entry is checked numerically before it is shown.",
            lambda seen: "symbolic_dynamics" in seen.asked,
            "Right-click a card to copy it as LaTeX or Python.",
        ),
        Step(
            "How they are derived",
            "Run Derivation step by step; then Tools ▸ Derivation ▸ Derivation replay shows each step in the scene.",
            lambda seen: "derivation" in seen.asked or seen.bench.panels.is_derivation_open,
            "The same works for every arm you open.",
        ),
    ),
)
