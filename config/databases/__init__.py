"""Where the data lies: one PostgreSQL on disk, a server elsewhere, or a cluster of them."""
