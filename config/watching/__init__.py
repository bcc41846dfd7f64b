"""Monitoring: logging, metrics, health checks."""
