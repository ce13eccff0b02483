"""Step loop shared by all methods: step state, event location, contact changes, stops."""
