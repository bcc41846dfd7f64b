"""Labels of navigation, form fields and table headings use the terms of docs/glossary.md, in English and German."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.conf import settings

from config import catalogs

ROOT = Path(settings.ROOT)
APPS = ("companies", "ledger", "planning", "analytics", "notifications", "oauth", "webhooks", "demo")
LABEL_ELEMENTS = re.compile(r"<(nav|label|legend|th|dt)\b[^>]*>(.*?)</\1>", re.DOTALL)
TRANSLATED = re.compile(
    r"{%\s*translate \"(?P<plain>[^\"]+)\"(?: context \"(?P<context>[^\"]+)\")?"
    r"|{%\s*blocktranslate[^%]*%}(?P<block>.*?){%\s*endblocktranslate",
    re.DOTALL,
)
# Labels in which a word of the glossary means something else.
OTHER_MEANING = {
    "balance": {"{account} is out of balance"},
    "file": {
        "Account, if the file has no number",
        "Corrected file",
        "File",
        "Files (to choose)",
        "Import a file",
    },  # of a bank
}
# German labels that say the term in another form, such as a verb for a noun.
OTHER_FORM = {
    "Match automatically": {"Zuordnung"},
    "Match automatically when a transaction with this exact amount is booked within 5 days": {"Buchung", "Zuordnung"},
    "Members without MFA must set it up before they can use the company; their connected apps are paused.": {
        "Unternehmen"
    },
    "Settles": {"ausgleichen"},
}


@dataclass(frozen=True)
class Term:
    """A row of the glossary; `avoid` has the words not to use for it."""

    english: str
    german: list[str]  # the term, and its abbreviation
    avoid: list[str]
    avoid_german: list[str]


@dataclass(frozen=True, order=True)
class Label:
    english: str
    german: str  # empty for staff, who read English
    context: str = ""  # tells equal English texts apart

    @property
    def name(self) -> str:
        return f"{self.english} ({self.context})" if self.context else self.english


def split_words(cell: str) -> list[str]:
    return [word.strip() for word in cell.split(",") if word.strip()]


def read_terms() -> list[Term]:
    terms = []
    for line in (ROOT / "docs" / "glossary.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or cells[0] == "Term" or cells[0].startswith("---"):
            continue
        english, german, _, avoid = cells
        before, _, after = avoid.partition(";")
        german_forms = re.findall(r"[^()]+", german)
        terms.append(Term(re.sub(r" \(.*\)", "", english), german_forms, split_words(before), split_words(after)))
    return terms


TERMS = read_terms()


def list_label_texts() -> Iterator[tuple[str, str | None]]:
    """Yield English text and context of labels: in templates by element, in Python by the argument `label`."""
    for path in (ROOT / "templates").rglob("*.html"):
        for _, content in LABEL_ELEMENTS.findall(path.read_text()):
            for text in TRANSLATED.finditer(content):
                yield text["plain"] or " ".join(text["block"].split()), text["context"]
    for app in APPS:
        for path in (ROOT / app).rglob("*.py"):
            words = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.keyword))
            for part in (part for word in words if word.arg == "label" for part in ast.walk(word.value)):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value, None


@cache
def read_labels() -> list[Label]:
    catalog = catalogs.read_catalog("de")
    labels = []
    for text, context in set(list_label_texts()):
        message = catalog.get(text, context)
        labels.append(Label(text, str(message.string) if message else "", context or ""))
    return sorted(labels)


def contains(text: str, words: str) -> bool:
    """Whether the words stand in the text, in the singular or plural."""
    plural = re.sub(r"y$", "(?:y|ies)", re.escape(words))
    return re.search(rf"(?<![\w-]){plural}(?:s|es)?(?![\w-])", text, re.IGNORECASE) is not None


def contains_german(text: str, words: str) -> bool:
    """Whether the words stand in the text, inflected or as a part of a compound."""
    stems = [re.escape(word[: max(3, len(word) - 2)]) for word in remove_umlauts(words).split()]
    return re.search(r"\w*\W+(?:\w+\W+){0,2}?".join(stems), remove_umlauts(text), re.IGNORECASE) is not None


def remove_umlauts(text: str) -> str:
    return text.translate(str.maketrans("äöüÄÖÜ", "aouAOU"))


def find_named_terms(label: Label) -> list[Term]:
    """The glossary's terms that a label names; the longest where one contains another."""
    text = re.sub(r"{+[^}]*}+", "…", label.english)
    results = [term for term in TERMS if contains(text, term.english)]
    return [
        term
        for term in results
        if label.name not in OTHER_MEANING.get(term.english, set())
        and not any(term is not other and contains(other.english, term.english) for other in results)
    ]


def test_glossary_and_labels_are_read():
    assert len(TERMS) > 70
    assert len(read_labels()) > 200
    assert {"Accounts", "Opening balance", "Encoding", "Base currency"} <= {label.english for label in read_labels()}


def test_labels_use_no_other_word_for_a_term():
    words = [(word, label) for term in TERMS for label in read_labels() for word in term.avoid]
    assert [(word, label.english) for word, label in words if contains(label.english, word)] == []
    german_words = [(word, label) for term in TERMS for label in read_labels() for word in term.avoid_german]
    assert [(word, label.german) for word, label in german_words if contains(label.german, word)] == []


def test_german_labels_use_the_german_terms():
    others = []
    for label in read_labels():
        for term in find_named_terms(label) if label.german else ():
            uses_term = any(contains_german(label.german, form.strip()) for form in term.german)
            if not uses_term and term.german[0].strip() not in OTHER_FORM.get(label.name, set()):
                others.append((term.german, label.german))
    assert others == []
