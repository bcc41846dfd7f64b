"""Actions on companies, members, invitations, email addresses and logos."""
