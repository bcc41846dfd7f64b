from django.apps import AppConfig
from django.db.backends.signals import connection_created


class CompaniesConfig(AppConfig):
    name = "companies"
    verbose_name = "Companies"

    def ready(self) -> None:
        from companies.running.timestamps import read_in_c

        connection_created.connect(read_in_c)
