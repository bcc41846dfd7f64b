"""Session store: Django's database store, with user, device and times as columns so that users can list
their sessions.
"""

from datetime import UTC, datetime
from typing import Any, cast

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore

from companies.models import Session


class SessionStore(DatabaseStore):
    @classmethod
    def get_model_class(cls) -> Any:
        return Session

    def create_model_instance(self, data: Any) -> Session:
        """Build the row; the extra columns are copied from the session's data."""
        row: Any = super().create_model_instance(data)
        row.user_id = data.get(SESSION_KEY)
        row.device, row.address = data.get("device", ""), data.get("address", "")
        for name in ("started_time", "auth_time", "seen_time"):
            moment = data.get(name)
            setattr(row, name, None if moment is None else datetime.fromtimestamp(moment, tz=UTC))
        return cast("Session", row)
