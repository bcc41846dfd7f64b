"""Companies, members and permissions, and what every app shares: API, pages, authentication, audit log."""
