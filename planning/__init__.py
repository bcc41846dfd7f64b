"""Planning: planned transactions, plan, forecast."""
