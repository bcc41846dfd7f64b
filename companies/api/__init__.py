"""The edge that every app's endpoints share: company and permission, shapes, errors, paging, retries, limits."""
