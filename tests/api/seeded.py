"""A company with a row of everything, made once for all tests of a module: to make one for each would take longer than
what they ask. Each test's own transaction lies within the one that made it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import transaction
from django.test import override_settings

from companies.callers import api_keys
from companies.models import Stamp
from companies.permissions import ALL, Role
from tests import factories
from tests.api.bodies import rows_of
from tests.conftest import Api


@dataclass
class Seeded:
    """The company's caller, the name of each list → the id of a row in it, and where its files are."""

    api: Api
    rows: dict[str, str]
    storages: dict[str, Any]


@pytest.fixture(scope="module")
def seeded(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: Any) -> Iterator[Seeded]:
    location = str(tmp_path_factory.mktemp("seeded"))
    files = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": location}}
    storages = {**django_settings.STORAGES, "default": files, "assets": files}
    with django_db_blocker.unblock(), override_settings(STORAGES=storages), transaction.atomic():
        company = factories.company(name="Acme")
        factories.member(company, "owner@acme.example", role=Role.OWNER)
        stamp = Stamp(time=datetime.now(tz=UTC))
        key = api_keys.mint(company=company, stamp=stamp, name="seeded", permissions=ALL, creator=None)
        api = Api(company, key=key.text)
        yield Seeded(api=api, rows=rows_of(api), storages=storages)
        transaction.set_rollback(True)


@pytest.fixture
def stocked(seeded: Seeded, quick_and_private: None, settings: Any) -> Seeded:
    """The same for one test, whose changes are undone: with a browser of its own."""
    settings.STORAGES = seeded.storages
    return Seeded(Api(seeded.api.company, key=seeded.api.key), dict(seeded.rows), seeded.storages)
