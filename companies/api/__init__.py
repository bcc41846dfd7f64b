"""Shared by all API endpoints: viewsets, serializers, errors, pagination, idempotency, limits."""
