"""Actions on transactions, transfers and saved views, and their bulk undo."""
