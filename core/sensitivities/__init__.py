"""How runs change with parameters and with the state they begin in: `gradient`, `Run.derivatives`."""
