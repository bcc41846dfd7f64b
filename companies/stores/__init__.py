"""Bytes on their way into file storages, and out."""
