"""One running service for all that is done to it."""

from collections.abc import Iterator

import pytest

from tests.faults.service import Service, start_service


@pytest.fixture(scope="package")
def service() -> Iterator[Service]:
    with start_service() as started_service:
        yield started_service
