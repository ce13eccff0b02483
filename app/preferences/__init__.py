"""How a person wants the program: settings, theme, icons, display units, folders."""
