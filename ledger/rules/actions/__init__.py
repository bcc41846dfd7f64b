"""Actions on rules: create, apply, assign automatically, undo a run."""
