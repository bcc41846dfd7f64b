"""The pages of rules and of the inbox."""
