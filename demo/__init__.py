"""The demo company: a story in data files, stored by the same actions that customers call."""
