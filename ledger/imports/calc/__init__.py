"""Pure calculations of imports: detect columns, parse rows, match entries with transactions."""
