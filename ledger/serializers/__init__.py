"""The shapes of the ledger on the wire."""
