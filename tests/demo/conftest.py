"""The demo company for all tests of a module that only read."""

from tests.analytics.conftest import make_demo_company

__all__ = ["make_demo_company"]
