"""Parsers of bank files: CAMT, MT940, OFX, QIF. No database."""
