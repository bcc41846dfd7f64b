"""How banks' files are read: bytes in, plain statements out. No database."""
