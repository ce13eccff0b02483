"""Parameter identification of machines from measurements: data, base parameters, fits of runs, excitation."""
