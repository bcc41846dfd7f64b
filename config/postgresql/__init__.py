"""Database backend: Django's PostgreSQL backend with a cheaper check of persistent connections."""
