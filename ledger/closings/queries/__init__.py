"""Reads of period close: closings, figures as they are now, checks before closing, and differences since."""
