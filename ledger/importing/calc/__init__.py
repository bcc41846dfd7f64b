"""Detect and read tables of banks: plain values in, plain values out."""
