"""The user's preferences: settings, theme, icons, display units, folders."""
