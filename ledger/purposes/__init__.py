"""What movements were for: categories, counterparties, splitting and categorizing."""
