"""Data endpoints, by subject: read the request, call one query, answer."""
