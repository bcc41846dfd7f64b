"""The texts that people read, and ``locale/…/django.po`` with their translations: a translation is a file.

A text is what stands in ``{% translate %}``, ``{% blocktranslate %}`` or ``_("…")`` of a template, in ``gettext`` and
its kin in Python, and the first line of what a refusal says of itself. Where English has one word for two things,
``{% translate "Open" context "verb" %}`` and ``pgettext`` say which.
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

from companies.errors import Refusal

PACKAGES = ("companies", "ledger", "planning", "analytics", "notifications", "oauth", "webhooks")
KEYWORDS: dict[str, Any] = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "Unreadable": None,  # what is said in calc is translated by who tells it to people
    "NotATable": None,
    "FileFault": (2,),
    "TableLimit": None,
    "SeveralTables": None,
    "NoResult": None,
    "BadArchive": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
}
Text = str | tuple[str, ...]  # the second with its plural
Said = tuple[str | None, Text]  # in which sense, where one text has several, and the text


def catalog_file(language: str) -> Path:
    return Path(settings.LOCALE_PATHS[0]) / language / "LC_MESSAGES" / "django.po"


def texts() -> dict[Said, set[str]]:
    """Every text, with the files that say it."""
    found: dict[Said, set[str]] = {}
    for name, said in (*of_templates(), *of_modules(), *of_refusals()):
        found.setdefault(said, set()).add(name)
    return found


def of_templates() -> Iterator[tuple[str, Said]]:
    root = settings.ROOT / "templates"
    for path in sorted(root.rglob("*.html")):
        # All but the texts becomes X: no Python any more, but as good as JavaScript.
        code = templatize(path.read_text(encoding="utf-8"), origin=str(path))
        yield from extracted("javascript", path, code)


def of_modules() -> Iterator[tuple[str, Said]]:
    for package in PACKAGES:
        for path in sorted((settings.ROOT / package).rglob("*.py")):
            yield from extracted("python", path, path.read_text(encoding="utf-8"))


def extracted(language: str, path: Path, code: str) -> Iterator[tuple[str, Said]]:
    for _line, text, _comments, sense in extract(language, BytesIO(code.encode()), keywords=KEYWORDS):
        yield str(path.relative_to(settings.ROOT)), (sense, text)


def of_refusals() -> Iterator[tuple[str, Said]]:
    for package in PACKAGES:  # some are reached by a name in the settings only
        for module in walk_packages(import_module(package).__path__, f"{package}."):
            if ".migrations" not in module.name:
                import_module(module.name)
    kinds: list[type[Refusal]] = [Refusal]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
        if kind.__module__.partition(".")[0] in PACKAGES:
            yield f"{kind.__module__.replace('.', '/')}.py", (None, kind.sentence())


def read(language: str) -> Catalog:
    with catalog_file(language).open("rb") as file:
        return read_po(file, locale=language)


def updated(catalog: Catalog, found: dict[Said, set[str]]) -> Catalog:
    """With every text that there is and no other; the new ones lack their translation."""
    fresh = Catalog(locale=catalog.locale, charset="utf-8", fuzzy=False)
    for (sense, text), places in found.items():
        known = catalog.get(text if isinstance(text, str) else text[0], sense)
        string = known.string if known is not None and known.id == text else None
        fresh.add(text, string, [(place, 0) for place in sorted(places)], context=sense)
    return fresh


def written(catalog: Catalog) -> bytes:
    """As it is kept: sorted, without the times and the numbers of lines that would change with everything."""
    file = BytesIO()
    write_po(file, catalog, width=120, sort_output=True, ignore_obsolete=True, omit_header=True, include_lineno=False)
    header = f'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n"Language: {catalog.locale}\\n"\n'
    return f'{header}"Plural-Forms: {catalog.plural_forms}\\n"\n\n'.encode() + file.getvalue()


def compiled(catalog: Catalog) -> bytes:
    """What Django reads; the same at any time."""
    catalog.creation_date = datetime(1970, 1, 1, tzinfo=UTC)
    file = BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


def lacking(catalog: Catalog) -> list[Text]:
    """The texts that have no translation, or not in each of their plurals."""
    return [
        tuple(message.id) if isinstance(message.id, list) else message.id
        for message in catalog
        if message.id and not all(message.string if isinstance(message.string, tuple) else (message.string,))
    ]
