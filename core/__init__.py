"""The kernel of Kinetostat: documents, mechanics, machine code, analyses. Knows neither Qt nor VTK."""
