"""Short words for the facts that the data queries are asked about."""

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
    return Books(api)


@pytest.fixture
def bank(books):
    return books.account()


@pytest.fixture
def ask(api):
    """Asks a data query and gives its answer."""

    def query_data(query, **parameters):
        answer = api.post(f"data/{query}", parameters)
        assert answer.status_code == 200, answer.content
        return answer.json()

    return query_data


@pytest.fixture
def on(monkeypatch):
    """Makes it another day for the API."""

    def moved(day):
        noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
        monkeypatch.setattr("companies.api.viewsets.timezone.now", lambda: noon)

    return moved


@pytest.fixture(scope="module")
def furnished(django_db_setup, django_db_blocker, tmp_path_factory):
    """Makes a demonstration company for all tests of a module that only look; each test's own transaction lies within
    the one that made it."""

    @contextlib.contextmanager
    def make(**options):
        folder = {"location": str(tmp_path_factory.mktemp("demo"))}
        files = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": folder}
        storages = {**settings.STORAGES, "default": files}
        with django_db_blocker.unblock(), override_settings(STORAGES=storages), transaction.atomic():
            yield create_demo_company(**options)
            transaction.set_rollback(True)

    return make
