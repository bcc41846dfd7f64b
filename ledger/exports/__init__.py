"""Exports: tables for spreadsheets, journals for plain-text accounting."""
