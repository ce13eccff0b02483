"""The table of commands: `commands.table()` gathers the `COMMANDS` of the modules here."""
