"""What others read our books with: tables for spreadsheets, journals for plain-text accounting."""
