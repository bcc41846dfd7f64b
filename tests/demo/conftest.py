"""The demo company for all tests of a module that only look."""

from tests.analytics.conftest import furnished

__all__ = ["furnished"]
