"""The panel of simulations: settings, runs."""
