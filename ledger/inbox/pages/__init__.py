"""Pages of the inbox: the list, its groups, and accepting suggestions at once."""
