"""Butcher tableaux of explicit Runge–Kutta methods: coefficients, error estimators, continuous extensions.

The embedded pairs are those of SciPy's solvers: Bogacki and Shampine 3(2), Dormand and Prince 5(4) with Shampine's
extension, and 8(5,3) of Hairer, Nørsett and Wanner (Solving ODE I, II.5, II.10), whose extension is brought into the
same polynomial form as the others here; importing SciPy for the numbers takes longer than most runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.later import dataclass

Row = tuple[float, ...]


class EmbeddedPair(NamedTuple):
    """Pair of Runge–Kutta methods with its error estimates (`E_low`: the second one) and its continuous extension:
    polynomials P, or rows D with additional stages `A_extra` at `C_extra`."""

    error_order: int
    A: tuple[Row, ...]
    B: Row
    C: Row
    E: Row
    E_low: Row = ()
    P: tuple[Row, ...] = ()
    A_extra: tuple[Row, ...] = ()
    C_extra: Row = ()
    D: tuple[Row, ...] = ()


# fmt: off
BOGACKI_SHAMPINE = EmbeddedPair(
    2,
    A=(
        (),
        (0.5,),
        (0.0, 0.75),
    ),
    B=(0.2222222222222222, 0.3333333333333333, 0.4444444444444444),
    C=(0.0, 0.5, 0.75),
    E=(0.06944444444444445, -0.08333333333333333, -0.1111111111111111, 0.125),
    P=(
        (1.0, -1.3333333333333333, 0.5555555555555556),
        (0.0, 1.0, -0.6666666666666666),
        (0.0, 1.3333333333333333, -0.8888888888888888),
        (0.0, -1.0, 1.0),
    ),
)
DORMAND_PRINCE = EmbeddedPair(
    4,
    A=(
        (),
        (0.2,),
        (0.075, 0.225),
        (0.9777777777777777, -3.7333333333333334, 3.5555555555555554),
        (2.9525986892242035, -11.595793324188385, 9.822892851699436, -0.2908093278463649),
        (2.8462752525252526, -10.757575757575758, 8.906422717743473, 0.2784090909090909, -0.2735313036020583),
    ),
    B=(0.09114583333333333, 0.0, 0.44923629829290207, 0.6510416666666666, -0.322376179245283, 0.13095238095238096),
    C=(0.0, 0.2, 0.3, 0.8, 0.8888888888888888, 1.0),
    E=(-0.0012326388888888888, 0.0, 0.0042527702905061394, -0.03697916666666667, 0.05086379716981132,
       -0.0419047619047619, 0.025),
    P=(
        (1.0, -2.8535800653862835, 3.0717434641059005, -1.1270175653862835),
        (0.0, 0.0, 0.0, 0.0),
        (0.0, 4.023133379230305, -6.249321565289, 2.675424484351598),
        (0.0, -3.7324019615885042, 10.068970589843675, -5.685526961588504),
        (0.0, 2.5548038301849423, -6.399112377351017, 3.5219323679207912),
        (0.0, -1.3744241142186024, 3.272657752246729, -1.7672812570757455),
        (0.0, 1.3824689317781436, -3.764937863556287, 2.382468931778144),
    ),
)
HAIRER = EmbeddedPair(
    7,
    A=(
        (),
        (0.05260015195876773,),
        (0.0197250569845379, 0.0591751709536137),
        (0.02958758547680685, 0.0, 0.08876275643042054),
        (0.2413651341592667, 0.0, -0.8845494793282861, 0.924834003261792),
        (0.037037037037037035, 0.0, 0.0, 0.17082860872947386, 0.12546768756682242),
        (0.037109375, 0.0, 0.0, 0.17025221101954405, 0.06021653898045596, -0.017578125),
        (0.03709200011850479, 0.0, 0.0, 0.17038392571223998, 0.10726203044637328, -0.015319437748624402,
         0.008273789163814023),
        (0.6241109587160757, 0.0, 0.0, -3.3608926294469414, -0.868219346841726, 27.59209969944671,
         20.154067550477894, -43.48988418106996),
        (0.47766253643826434, 0.0, 0.0, -2.4881146199716677, -0.590290826836843, 21.230051448181193,
         15.279233632882423, -33.28821096898486, -0.020331201708508627),
        (-0.9371424300859873, 0.0, 0.0, 5.186372428844064, 1.0914373489967295, -8.149787010746927,
         -18.52006565999696, 22.739487099350505, 2.4936055526796523, -3.0467644718982196),
        (2.273310147516538, 0.0, 0.0, -10.53449546673725, -2.0008720582248625, -17.9589318631188,
         27.94888452941996, -2.8589982771350235, -8.87285693353063, 12.360567175794303, 0.6433927460157636),
    ),
    B=(0.054293734116568765, 0.0, 0.0, 0.0, 0.0, 4.450312892752409, 1.8915178993145003, -5.801203960010585,
       0.3111643669578199, -0.1521609496625161, 0.20136540080403034, 0.04471061572777259),
    C=(0.0, 0.05260015195876773, 0.0789002279381516, 0.1183503419072274, 0.2816496580927726, 0.3333333333333333,
       0.25, 0.3076923076923077, 0.6512820512820513, 0.6, 0.8571428571428571, 1.0),
    E=(0.01312004499419488, 0.0, 0.0, 0.0, 0.0, -1.2251564463762044, -0.4957589496572502, 1.6643771824549864,
       -0.35032884874997366, 0.3341791187130175, 0.08192320648511571, -0.022355307863886294, 0.0),
    E_low=(-0.18980075407240762, 0.0, 0.0, 0.0, 0.0, 4.450312892752409, 1.8915178993145003, -5.801203960010585,
           -0.4226823213237919, -0.1521609496625161, 0.20136540080403034, 0.02265179219836082, 0.0),
    A_extra=(
        (0.056167502283047954, 0.0, 0.0, 0.0, 0.0, 0.0, 0.25350021021662483, -0.2462390374708025,
         -0.12419142326381637, 0.15329179827876568, 0.00820105229563469, 0.007567897660545699, -0.008298),
        (0.03183464816350214, 0.0, 0.0, 0.0, 0.0, 0.028300909672366776, 0.053541988307438566, -0.05492374857139099,
         0.0, 0.0, -0.00010834732869724932, 0.0003825710908356584, -0.00034046500868740456, 0.1413124436746325),
        (-0.42889630158379194, 0.0, 0.0, 0.0, 0.0, -4.697621415361164, 7.683421196062599, 4.06898981839711,
         0.3567271874552811, 0.0, 0.0, 0.0, -0.0013990241651590145, 2.9475147891527724, -9.15095847217987),
    ),
    C_extra=(0.1, 0.2, 0.7777777777777778),
    D=(
        (-8.428938276109013, 0.0, 0.0, 0.0, 0.0, 0.5667149535193777, -3.0689499459498917, 2.38466765651207,
         2.117034582445028, -0.871391583777973, 2.2404374302607883, 0.6315787787694688, -0.08899033645133331,
         18.148505520854727, -9.194632392478356, -4.436036387594894),
        (10.427508642579134, 0.0, 0.0, 0.0, 0.0, 242.28349177525817, 165.20045171727028, -374.5467547226902,
         -22.113666853125306, 7.733432668472264, -30.674084731089398, -9.332130526430229, 15.697238121770845,
         -31.139403219565178, -9.35292435884448, 35.81684148639408),
        (19.985053242002433, 0.0, 0.0, 0.0, 0.0, -387.0373087493518, -189.17813819516758, 527.8081592054236,
         -11.57390253995963, 6.8812326946963, -1.0006050966910838, 0.7777137798053443, -2.778205752353508,
         -60.19669523126412, 84.32040550667716, 11.99229113618279),
        (-25.69393346270375, 0.0, 0.0, 0.0, 0.0, -154.18974869023643, -231.5293791760455, 357.6391179106141,
         93.40532418362432, -37.45832313645163, 104.0996495089623, 29.8402934266605, -43.53345659001114,
         96.32455395918828, -39.17726167561544, -149.72683625798564),
    ),
)
# fmt: on


Array = NDArray[np.float64]


@dataclass(frozen=True)
class Tableau:
    """Tableau with s stages for a step and S ≥ s stages in all, the additional ones for values within the step.

    A (S, S), c (S,) : stage i is f(t + c_i h, y + h Σ A_ij k_j)
    b (S,) : y_new = y + h Σ b_i k_i; with `last_is_new`, stage s − 1 is f at the new point
    e, e_low (S,) : error estimate; the second weighs the first down where both are known (Hairer II.10.1)
    P (S, m) : y(t + θ h) = y + h Σ_i k_i Σ_j P_ij θ^(j+1)
    error_order : the step is ∝ error^(−1/(error_order + 1))
    """

    A: Array
    b: Array
    c: Array
    e: Array
    e_low: Array
    P: Array
    steps: int
    error_order: int


@cache
def build_tableau(method: str) -> Tableau:
    """Return the tableau of a Runge–Kutta method by name."""
    if method == "rk4":
        A = np.zeros((4, 4))
        A[1, 0] = A[2, 1] = 0.5
        A[3, 2] = 1.0
        return _build_fixed_step_tableau(A, [1 / 6, 1 / 3, 1 / 3, 1 / 6], [0.0, 0.5, 0.5, 1.0])
    if method in ("euler", "semi_implicit_euler"):
        return _build_fixed_step_tableau(np.zeros((1, 1)), [1.0], [0.0])
    if method == "rk853":
        return _build_order_8_tableau(HAIRER)
    pair = {"rk32": BOGACKI_SHAMPINE, "rk54": DORMAND_PRINCE}[method]
    s = len(pair.B) + 1  # the last stage is the first of the next step
    A = np.zeros((s, s))
    _fill_lower_triangle(A, (*pair.A, pair.B))
    none = np.zeros(s)
    return Tableau(
        A,
        np.append(pair.B, 0.0),
        np.append(pair.C, 1.0),
        np.array(pair.E),
        none,
        np.array(pair.P),
        s,
        pair.error_order,
    )


def _fill_lower_triangle(A: Array, rows: Sequence[Sequence[float]]) -> None:
    """Write rows into the lower triangle of A."""
    for target, row in zip(A, rows, strict=False):
        target[: len(row)] = row


def _build_fixed_step_tableau(A: Array, b: list[float], c: list[float]) -> Tableau:
    none = np.zeros(len(b))
    return Tableau(A, np.array(b), np.array(c), none, none, np.zeros((len(b), 1)), len(b), len(b))


def _build_order_8_tableau(pair: EmbeddedPair) -> Tableau:
    """Build the tableau of order 8: 13 stages for a step, 3 more for values within it."""
    stages, extra = 13, 3
    A = np.zeros((stages + extra, stages + extra))
    _fill_lower_triangle(A, (*pair.A, pair.B, *pair.A_extra))
    b, e, e_low = (np.zeros(stages + extra) for _ in range(3))
    b[:12] = pair.B
    e[:stages], e_low[:stages] = pair.E, pair.E_low
    c = np.concatenate([pair.C, [1.0], pair.C_extra])
    return Tableau(A, b, c, e, e_low, _dense_output_polynomials(b, np.array(pair.D)), stages, pair.error_order)


def _dense_output_polynomials(b: Array, D: Array) -> Array:
    """Expand the nested form y + θ(F₀ + (1 − θ)(F₁ + θ(F₂ + (1 − θ)(F₃ + …)))) into powers of θ, for each stage.

    F₀ = Δy, F₁ = h f₀ − Δy, F₂ = 2 Δy − h (f₀ + f₁), F₃… = h D k with f₁ = k₁₂ (Hairer II.6, contd8).
    """
    S = len(b)
    first, new = np.eye(S)[0], np.eye(S)[12]
    F = [b, first - b, 2.0 * b - first - new, *D]
    total = np.zeros((S, len(F) + 1))
    for k in range(len(F) - 1, -1, -1):
        total[:, 0] += F[k]
        shifted = np.roll(total, 1, axis=1)  # times θ; the highest power is still empty
        total = shifted if k % 2 == 0 else total - shifted
    return np.ascontiguousarray(total[:, 1:])
