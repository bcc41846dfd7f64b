"""Pages of imports: map columns, check, import."""
