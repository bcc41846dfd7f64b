"""Tests of receivables, payables and aging."""
