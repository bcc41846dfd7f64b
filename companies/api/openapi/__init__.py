"""The OpenAPI document: schema generation, components, error responses, examples."""
