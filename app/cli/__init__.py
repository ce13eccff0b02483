"""The command line: `kinetostat <command>`, without a window, and without a scene unless a picture is asked for."""
