"""Translation catalogs: collects the texts of templates, Python and error classes into
``locale/…/django.po``.

Texts are in ``{% translate %}``, ``{% blocktranslate %}`` or ``_("…")`` of templates, in ``gettext`` and
its variants in Python, and in the first line of an error class's docstring. Ambiguous English texts use
a context: ``{% translate "Open" context "verb" %}``, ``pgettext``.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from io import BytesIO
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

from babel.messages import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.utils.translation.template import templatize

from companies.errors import DomainError

SOURCE_PACKAGES = ("companies", "ledger", "planning", "analytics", "notifications", "oauth", "webhooks", "demo")
KEYWORDS: dict[str, Any] = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "UnreadableValueError": None,  # messages of calc are translated where they are shown
    "RowFault": (5,),
    "add_fault": (3,),
    "UnreadableFileError": None,
    "MalformedTable": None,
    "FileFault": (2,),
    "TableLimit": None,
    "TooManyCells": None,
    "SeveralTables": None,
    "NoResult": None,
    "BadArchive": None,
    "LargeArchive": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
}
Text = str | tuple[str, ...]  # the second form has a plural
CatalogKey = tuple[str | None, Text]  # context (msgctxt) and text


def get_catalog_path(language: str) -> Path:
    """Return the path of a language's catalog."""
    return Path(settings.LOCALE_PATHS[0]) / language / "LC_MESSAGES" / "django.po"


def collect_texts() -> dict[CatalogKey, set[str]]:
    """Return every text with the files that contain it."""
    files_by_key: dict[CatalogKey, set[str]] = {}
    for name, key in (*extract_template_texts(), *extract_module_texts(), *extract_error_texts()):
        files_by_key.setdefault(key, set()).add(name)
    return files_by_key


def extract_template_texts() -> Iterator[tuple[str, CatalogKey]]:
    """Yield (file, text) of all templates."""
    root = settings.ROOT / "templates"
    for path in sorted(root.rglob("*.html")):
        # Everything but the texts becomes X: no valid Python, but parsed as JavaScript.
        code = templatize(path.read_text(encoding="utf-8"), origin=str(path))
        yield from extract_texts("javascript", path, code)


def extract_module_texts() -> Iterator[tuple[str, CatalogKey]]:
    """Yield (file, text) of all Python modules."""
    for package in SOURCE_PACKAGES:
        for path in sorted((settings.ROOT / package).rglob("*.py")):
            yield from extract_texts("python", path, path.read_text(encoding="utf-8"))


def extract_texts(language: str, path: Path, code: str) -> Iterator[tuple[str, CatalogKey]]:
    """Yield (file, text) of one source file."""
    for _, text, _, sense in extract(language, BytesIO(code.encode()), keywords=KEYWORDS):
        yield str(path.relative_to(settings.ROOT)), (sense, text)


def extract_error_texts() -> Iterator[tuple[str, CatalogKey]]:
    """Yield (file, text) of all error classes; all modules are imported to find them."""
    for package in SOURCE_PACKAGES:  # some modules are only loaded by settings
        for module in walk_packages(import_module(package).__path__, f"{package}."):
            if ".migrations" not in module.name:
                import_module(module.name)
    error_classes: list[type[DomainError]] = [DomainError]
    for error_class in error_classes:
        error_classes.extend(error_class.__subclasses__())
        if error_class.__module__.partition(".")[0] in SOURCE_PACKAGES:
            yield f"{error_class.__module__.replace('.', '/')}.py", (None, error_class.get_default_detail())


def read_catalog(language: str) -> Catalog:
    """Read a language's catalog."""
    with get_catalog_path(language).open("rb") as file:
        return read_po(file, locale=language)


def merge_catalog(catalog: Catalog, files_by_key: dict[CatalogKey, set[str]]) -> Catalog:
    """Return the catalog with exactly these texts; new ones have no translation."""
    new_catalog = Catalog(locale=catalog.locale, charset="utf-8", fuzzy=False)
    for (sense, text), places in files_by_key.items():
        message = catalog.get(text if isinstance(text, str) else text[0], sense)
        string = message.string if message is not None and message.id == text else None
        new_catalog.add(text, string, [(place, 0) for place in sorted(places)], context=sense)
    return new_catalog


def serialize_catalog(catalog: Catalog) -> bytes:
    """Serialize a catalog, sorted and without times and line numbers, which would change with every edit."""
    file = BytesIO()
    write_po(file, catalog, width=120, sort_output=True, ignore_obsolete=True, omit_header=True, include_lineno=False)
    header = f'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n"Language: {catalog.locale}\\n"\n'
    return f'{header}"Plural-Forms: {catalog.plural_forms}\\n"\n\n'.encode() + file.getvalue()


def compile_catalog(catalog: Catalog) -> bytes:
    """Compile a catalog to the .mo format; the result is reproducible."""
    catalog.creation_date = datetime(1970, 1, 1, tzinfo=UTC)
    file = BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


def find_untranslated(catalog: Catalog) -> list[Text]:
    """Return the texts without a translation, or with a missing plural."""
    return [
        tuple(message.id) if isinstance(message.id, list) else message.id
        for message in catalog
        if message.id and not all(message.string if isinstance(message.string, tuple) else (message.string,))
    ]
