"""The arithmetic of what we expect: recurrences and plan items as functions of plain values."""
