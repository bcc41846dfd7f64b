"""Recognition: service periods of categorizations, postings by month, and totals."""
