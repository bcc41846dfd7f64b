"""The demo company: generated with a seed, and stored by the same actions that customers call."""
