"""Command that updates the translation catalogs from the source texts."""

from typing import Any

from django.core.management.base import BaseCommand

from companies.locales import LANGUAGES
from config import catalogs


class Command(BaseCommand):
    help = "Update locale/…/django.po with new texts, remove unused ones and compile it."

    def handle(self, *args: Any, **options: Any) -> None:
        texts_by_key = catalogs.collect_texts()
        for language in LANGUAGES:
            catalog = catalogs.merge_catalog(catalogs.read_catalog(language), texts_by_key)
            path = catalogs.get_catalog_path(language)
            path.write_bytes(catalogs.serialize_catalog(catalog))
            path.with_suffix(".mo").write_bytes(catalogs.compile_catalog(catalog))
            untranslated = catalogs.find_untranslated(catalog)
            self.stdout.write(f"{language}: {len(texts_by_key)} texts, {len(untranslated)} untranslated.")
