"""The kernel of Kinetostat, without Qt and VTK: documents, mechanics, machine code, analyses."""
