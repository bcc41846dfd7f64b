"""Recurring revenue for people: its pages, what they ask for, and what they show."""
