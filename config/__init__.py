"""Configuration: settings, URLs, databases, servers, monitoring."""
