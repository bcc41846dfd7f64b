"""Actions on imports: upload, import, undo."""
