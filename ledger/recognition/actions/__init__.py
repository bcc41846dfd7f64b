"""Actions of recognition: write postings, periods and totals."""
