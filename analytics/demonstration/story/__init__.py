"""What happens in the demonstration, as plain facts: customers, payments, costs, loans. No database here."""
