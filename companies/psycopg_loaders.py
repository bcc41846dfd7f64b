"""Timestamps read by psycopg's C loader: Django's is in Python, and every row has at least two timestamps."""

from datetime import UTC
from typing import Any

from psycopg import adapters
from psycopg.pq import Format


class UtcLoader:
    """Creates the driver's own loader. The result is the same as Django's, since its connections use UTC."""

    format = Format.TEXT
    timezone = UTC  # Django replaces a loader of another time zone

    def __new__(cls, oid: int, context: Any = None) -> Any:
        return DRIVER_LOADER(oid, context)


TIMESTAMPTZ_OID = adapters.types["timestamptz"].oid
DRIVER_LOADER: Any = adapters.get_loader(TIMESTAMPTZ_OID, Format.TEXT)


def register_utc_loader(connection: Any, **_: Any) -> None:
    """Register the loader; called for every new connection."""
    connection.connection.adapters.register_loader(TIMESTAMPTZ_OID, UtcLoader)
