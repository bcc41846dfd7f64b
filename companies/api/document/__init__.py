"""The OpenAPI document and the reference made of it."""
