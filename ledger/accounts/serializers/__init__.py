"""Serializers of accounts and account groups."""
