"""The terminal: how races under way, their endings, tables and numbers are shown."""
