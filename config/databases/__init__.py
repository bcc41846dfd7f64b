"""Databases: an embedded PostgreSQL, an external server or a Citus cluster."""
