"""What the service tells of itself to who runs it."""
