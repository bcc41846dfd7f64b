"""Charts and tables of reports: sections are built from query results."""
