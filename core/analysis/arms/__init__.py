"""Serial arms with closed-form inverse kinematics: the chain as joint axes, its family, names of its configurations."""
