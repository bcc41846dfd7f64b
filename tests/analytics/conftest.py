"""Fixtures for data queries and reports: books, queries, the date, and a demo company."""

import contextlib
from datetime import UTC, datetime

import pytest
from django.conf import settings
from django.db import transaction
from django.test import override_settings

from demo.actions import create_demo_company
from tests.ledger.conftest import Books


@pytest.fixture
def books(api):
    """Acme's books over HTTP."""
    return Books(api)


@pytest.fixture
def query_data(api):
    """Run a data query; return its result."""

    def query(query, **parameters):
        response = api.post(f"data/{query}", parameters)
        assert response.status_code == 200, response.content
        return response.json()

    return query


@pytest.fixture
def set_today(monkeypatch):
    """Set the date that the API takes as today."""

    def set_today(day):
        noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
        monkeypatch.setattr("companies.api.viewsets.timezone.now", lambda: noon)

    return set_today


@pytest.fixture(scope="module")
def make_demo_company(django_db_setup, django_db_blocker, tmp_path_factory):
    """Create a demo company for all tests of a module that only read; rolled back at the end of the module."""

    @contextlib.contextmanager
    def make(**options):
        folder = {"location": str(tmp_path_factory.mktemp("demo"))}
        files = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": folder}
        storages = {**settings.STORAGES, "default": files}
        with django_db_blocker.unblock(), override_settings(STORAGES=storages), transaction.atomic():
            yield create_demo_company(**options)
            transaction.set_rollback(True)

    return make
