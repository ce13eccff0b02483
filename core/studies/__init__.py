"""Studies: many runs or poses of a machine whose numbers vary."""
