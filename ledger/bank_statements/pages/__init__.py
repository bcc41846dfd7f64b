"""Pages to import bank files: upload, then check and import."""
