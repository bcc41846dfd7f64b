"""Brings the catalogs of translations up to the texts of the product."""

from typing import Any

from django.core.management.base import BaseCommand

from companies.locales import LANGUAGES
from config import translating


class Command(BaseCommand):
    help = "Adds new texts to locale/…/django.po, takes away what is no longer said, and compiles it for the pages."

    def handle(self, *args: Any, **options: Any) -> None:
        found = translating.texts()
        for language in LANGUAGES:
            catalog = translating.updated(translating.read(language), found)
            path = translating.catalog_file(language)
            path.write_bytes(translating.written(catalog))
            path.with_suffix(".mo").write_bytes(translating.compiled(catalog))
            lacking = translating.lacking(catalog)
            self.stdout.write(f"{language}: {len(found)} texts, {len(lacking)} without their translation.")
