"""Monthly reports: the commentary on a month, and links that show a report without sign-in."""
