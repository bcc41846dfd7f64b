"""Django's migrate, which stops if the database lacks migrations that this version no longer has."""

from typing import Any

from django.core.management.commands import migrate

from config.databases.setup import check_migration_history


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        check_migration_history()
        super().handle(*args, **options)
