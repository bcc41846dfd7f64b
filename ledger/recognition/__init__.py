"""What facts become: the dates of parts, postings by month, totals."""
