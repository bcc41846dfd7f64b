"""The scenario of the demo company as plain values: customers, payments, expenses and loans. No database here."""
