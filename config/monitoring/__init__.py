"""Monitoring: health checks, metrics, logs."""
