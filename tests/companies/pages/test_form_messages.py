"""Messages of forms: plain sentences without words of the API, in German formal."""

import gettext
import re
from pathlib import Path

import django
import pytest
import rest_framework
from django.test import Client
from django.utils import translation

from companies.pages.form_messages import FORM_MESSAGES, to_form_message
from tests.ledger.conftest import get_page_text

pytestmark = pytest.mark.django_db
INFORMAL = re.compile(
    r"\b([Dd]u|[Dd]ein\w*|[Dd]ich|[Dd]ir|(Stelle sicher|Gib|Nutze|Benutze|Prüfe|Lade|Wähle|Versuche|Erwarte))\b"
)
API_WORDS = re.compile(r"\b[a-z]+[A-Z]\w+|decimal string|\bnull\b|YYYY|\binteger\b|\bstring\b|\bJSON\b|\barray\b")
FRAMEWORK_CATALOGS = (
    Path(rest_framework.__file__).parent / "locale/de/LC_MESSAGES/django.mo",
    Path(django.__file__).parent / "conf/locale/de/LC_MESSAGES/django.mo",
)


@pytest.mark.parametrize("path", FRAMEWORK_CATALOGS, ids=["rest_framework", "django"])
def test_german_messages_of_the_frameworks_are_formal(path):
    with path.open("rb") as file:
        texts = [text for text in gettext.GNUTranslations(file)._catalog if isinstance(text, str) and text]
    assert len(texts) > 50
    with translation.override("de"):
        assert [text for text in texts if INFORMAL.search(translation.gettext(text))] == []


@pytest.mark.parametrize("language", ["en", "de"])
def test_form_messages_replace_those_of_the_api_in_every_language(language):
    with translation.override(language):
        for api_message, message in FORM_MESSAGES:
            assert to_form_message(str(api_message)) == str(message)
            assert not API_WORDS.search(str(message)), message
        assert to_form_message("Choose a category.", "required") == "Choose a category."


def test_long_text_is_refused_in_formal_german(alice, acme):
    client = Client(headers={"accept-language": "de"})
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    address = f"/app/companies/{acme.id}/recurring-revenue/customers/new"
    answer = client.post(address, {"name": "Initech", "externalId": "x" * 300})
    assert answer.status_code == 400
    assert "darf höchstens 200 Zeichen enthalten." in get_page_text(answer)


LONG = "y" * 5000
FORMS = [
    ("transactions/new", ["accountId", "date", "amountValue", "amountCurrency", "fromTo", "description", "notes"]),
    ("transactions/{transaction}/edit", ["accountId", "date", "amountValue", "amountCurrency", "fromTo", "notes"]),
    ("accounts/new", ["name", "type", "accountNumber", "defaultCurrency", "expectedAnnualReturn", "order"]),
    ("accounts/groups/new", ["name", "order"]),
    ("planned/new", ["name", "accountId", "startDate", "amountValue", "amountCurrency", "interval", "frequency"]),
    ("planned/scenarios/new", ["name"]),
    ("planned/scenarios/{scenario}/changes/new/hire", ["name", "people", "amountValue", "oneOffValue", "startDate"]),
    ("planned/scenarios/{scenario}/changes/new/price", ["target", "percent", "from", "to"]),
    ("planned/scenarios/{scenario}/changes/new/lose", ["target", "from"]),
    ("planned/scenarios/{scenario}/changes/new/delay", ["target", "days", "from", "to"]),
    ("recurring-revenue/customers/new", ["name", "externalId"]),
    ("recurring-revenue/products/new", ["name", "order", "productGroupId", "externalIds"]),
    ("settings/categories/new", ["name", "plTypes", "order"]),
    ("settings/counterparties/new", ["type", "name", "externalId", "paymentTerms"]),
]
SINGLE_VALUES = {"-1", "0", "999999999999999"}  # also sent in one field of a form that is valid otherwise
VALUES = ["", "x", "-1", "999999999999999", "99999999999999999999", "1.234567", LONG, "2026-13-45", "0", "a\nb"]


def test_no_form_answers_in_words_of_the_api(owner, api, acme):
    bank = api.post("accounts", {"name": "Main", "type": "bank"}).json()["id"]
    row = {"accountId": bank, "date": "2026-03-10", "amountValue": "-10.00"}
    transaction = api.post("transactions", row).json()["id"]
    scenario = api.post("scenarios", {"name": "Bad year", "changes": []}).json()["id"]
    valid = {"name": "Engineer", "people": "9", "amountValue": "5.00", "amountCurrency": "EUR", "accountId": bank}
    valid |= {"startDate": "2027-01-01", "date": "2026-03-10"}
    for path, names in FORMS:
        address = f"/app/companies/{acme.id}/{path.format(transaction=transaction, scenario=scenario)}"
        assert owner.get(address).status_code == 200
        for value in VALUES:
            single = names if value in SINGLE_VALUES else []
            for form in (dict.fromkeys(names, value), *({**valid, name: value} for name in single)):
                answer = owner.post(address, form)
                assert answer.status_code in (200, 303, 400), (path, value, answer.status_code)
                for message in list_messages(answer):
                    assert not API_WORDS.search(message.replace(value or " ", "")), (path, value[:30], message)


def list_messages(answer):
    html = answer.content.decode()
    found = re.findall(r'class="(?:field-error|notice error)"[^>]*>(.*?)</p>', html, re.DOTALL)
    return [re.sub(r"<[^>]+>", "", each) for each in found]


def test_cost_that_is_too_large_is_refused_in_plain_words(owner, api, acme):
    scenario = api.post("scenarios", {"name": "Bad year", "changes": []}).json()["id"]
    address = f"/app/companies/{acme.id}/planned/scenarios/{scenario}/changes/new/hire"
    form = {"name": "Engineer", "people": "9", "amountValue": "999999999999999", "startDate": "2027-01-01"}
    answer = owner.post(address, form)
    assert answer.status_code == 400
    assert 'id="amountValue-error">Enter an amount with at most 15 digits' in answer.content.decode()
