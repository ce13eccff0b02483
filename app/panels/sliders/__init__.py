"""The panel of sliders: joints and parameters."""
