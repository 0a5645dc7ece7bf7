"""The terminal: races under way, their endings, tables and numbers, as people see them."""
