"""How tables of banks are read: plain values in, plain values out."""
