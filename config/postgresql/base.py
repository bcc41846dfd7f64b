"""Django's PostgreSQL backend with a cheaper check of persistent connections."""

import select

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    def is_usable(self) -> bool:
        """Return whether the connection works, without a query unless the server has sent something.

        A server that ends a connection sends a message or closes it. A query would cost each request a round trip.
        """
        if self.connection.closed:
            return False
        poll = select.poll()
        poll.register(self.connection, select.POLLIN)
        return not poll.poll(0) or super().is_usable()
