"""Who starts a company, who belongs to it, and who is asked to."""
