"""Copying a company of 100,000 transactions as a sandbox, and deleting it.

Run with ``make bench`` or ``python -m tests.bench.sandbox``. Times are seconds of whole requests.
"""
