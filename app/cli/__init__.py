"""The command line: `kinetostat <command>`. No window and no scene are loaded unless a picture is asked for."""
