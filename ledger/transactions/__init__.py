"""Movements on accounts: booked, listed, linked as transfers."""
