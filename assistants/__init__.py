"""Assistants: an MCP server whose tools are API endpoints."""
