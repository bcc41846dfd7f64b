"""The OpenAPI document and the API reference."""
