"""The arithmetic of what it means: recurring revenue and series over time, from plain values."""
