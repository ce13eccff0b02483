"""The loop of steps that all methods share: state of a step, events, compilation."""
