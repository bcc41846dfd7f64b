"""A company to look around in, made up by a seeded generator and stored by the same acts that customers call."""
