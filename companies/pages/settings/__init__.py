"""Settings pages of a company."""
