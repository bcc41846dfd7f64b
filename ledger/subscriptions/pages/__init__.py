"""Forms of who subscribes to what; what they pay is shown by ``analytics.revenue``."""
