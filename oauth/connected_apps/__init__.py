"""Connected apps: the consents of a company, as API and settings show them."""
