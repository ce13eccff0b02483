"""How a person wants the program: settings, theme, icons, units of display, folders."""
