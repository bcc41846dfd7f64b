"""File storage: local directory or S3, and images."""
