"""Report pages and their files."""
