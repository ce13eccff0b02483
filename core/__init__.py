"""The kernel of Kinetostat, independent of Qt and VTK: documents, mechanics, machine code, analyses."""
