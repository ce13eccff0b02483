"""Options of functions that search: few of what they try, since tests that walk all functions ask whether they run and
whether all ways of asking say the same, not whether the best was found."""

FEW = {
    "inverse_kinematics": {"restarts": 2},
    "workspace": {"samples": 200},
    "excitation": {"starts": 1, "harmonics": 2, "rate": 4.0, "kinds": "damping"},
}
