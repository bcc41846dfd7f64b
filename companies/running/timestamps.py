"""Times, read by the driver's C code: Django has a loader in Python, and every row has two times at least."""

from datetime import UTC
from typing import Any

from psycopg import adapters
from psycopg.pq import Format


class UtcLoader:
    """Makes the driver's own loader. It answers what Django's does, for Django's connections speak UTC."""

    format = Format.TEXT
    timezone = UTC  # Django puts its own loader in the place of one of another zone

    def __new__(cls, oid: int, context: Any = None) -> Any:
        return DRIVERS(oid, context)


TIMESTAMPTZ = adapters.types["timestamptz"].oid
DRIVERS: Any = adapters.get_loader(TIMESTAMPTZ, Format.TEXT)


def read_in_c(connection: Any, **_: Any) -> None:
    """Called with every new connection."""
    connection.connection.adapters.register_loader(TIMESTAMPTZ, UtcLoader)
