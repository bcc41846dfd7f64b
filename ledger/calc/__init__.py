"""The arithmetic of what happened: plain values in, plain values out; no database, no clock."""
