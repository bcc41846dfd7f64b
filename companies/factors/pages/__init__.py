"""Pages of second factors: setting them up, and proving them."""
