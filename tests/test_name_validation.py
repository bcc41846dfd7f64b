"""Names: trimmed, not empty, on one line, through every door that takes one."""

import sys
import unicodedata

import pytest
from django.core.management import CommandError, call_command

from companies.models import ApiKey, User
from companies.names import NAME_PATTERN, VISIBLE_PATTERN
from ledger.models import Counterparty, Product
from oauth.models import Application
from tests.ledger.conftest import get_error_codes

pytestmark = pytest.mark.django_db
INVALID_NAMES = {
    "": "blank",
    "   ": "blank",
    "\u2003\n": "blank",
    "\u200b": "blank",
    "\ufeff \u00ad": "blank",
    "\u3164": "blank",
    "\u2800 \u034f": "blank",
    "\u115f\uffa0\U000e0041": "blank",
    "\u202egnp.exe": "invalid_characters",
    "\u2066x": "invalid_characters",
    "Ac\nme": "invalid_characters",
    "Ac\tme": "invalid_characters",
    "Ac\0me": "invalid_characters",
    "Ac\x1b[31mme": "invalid_characters",
    "Ac\x85me": "invalid_characters",
    "Ac\u2028me": "invalid_characters",
}
VALID_NAMES = {
    " Acme ": "Acme",
    "\nAcme\t": "Acme",
    "Ac me": "Ac me",
    "Ünïcode 🏦 “x”": "Ünïcode 🏦 “x”",
    "אבג": "אבג",
    "⠁⠃⠉": "⠁⠃⠉",
    "한글\u3164": "한글\u3164",
    "👩\u200d💻": "👩\u200d💻",
}
RESOURCES = {  # address → body, without the name
    "account_groups": {},
    "accounts": {"type": "bank"},
    "categories": {"plTypes": ["cogs"]},
    "counterparties": {"type": "vendor"},
    "product_groups": {},
    "products": {},
    "planned_transactions": {"accountId": None, "startDate": "2026-01-31", "amountValue": "-10.00",
                             "amountCurrency": "EUR"},
    "api_keys": {"permissions": ["accounts:read"]},
}  # fmt: skip


@pytest.fixture
def owner(sign_in_browser, alice, acme):
    """Alice's session: keys are made by people."""
    return sign_in_browser(alice, acme)


@pytest.mark.parametrize("path", RESOURCES)
def test_every_resource_trims_and_validates_its_name(path, owner):
    for wrong, code in INVALID_NAMES.items():
        assert get_error_codes(owner.post(path, RESOURCES[path] | {"name": wrong})) == {"#/name": code}, wrong
    for given, remaining in VALID_NAMES.items():
        made = owner.post(path, RESOURCES[path] | {"name": given})
        assert (made.status_code, made.json()["name"]) == (201, remaining), made.content
    if path == "api_keys":
        return
    one = f"{path}/{made.json()['id']}"
    for wrong, code in INVALID_NAMES.items():
        assert get_error_codes(owner.put(one, {"name": wrong})) == {"#/name": code}, wrong
    assert owner.put(one, {"name": " New "}).json()["name"] == "New"


def test_company_name_is_trimmed_and_validated(owner, api):
    for wrong, code in INVALID_NAMES.items():
        assert get_error_codes(owner.post("/companies", {"name": wrong})) == {"#/name": code}, wrong
        assert get_error_codes(api.put("", {"name": wrong})) == {"#/name": code}, wrong
    assert owner.post("/companies", {"name": " Initech "}).json()["name"] == "Initech"
    assert api.put("", {"name": " Acme 2 "}).json()["name"] == "Acme 2"


def test_occurrence_name_is_trimmed_and_validated(api):
    made = api.post("planned_transactions", RESOURCES["planned_transactions"] | {"name": "Rent"}).json()
    path = f"planned_transactions/{made['id']}"
    for wrong, code in INVALID_NAMES.items():
        assert get_error_codes(api.put(f"{path}/overrides/2026-01-31", {"name": wrong})) == {"#/name": code}
        body = {"overrides": {"2026-01-31": {"name": wrong}}}
        assert get_error_codes(api.put(path, body)) == {"#/overrides/2026-01-31/name": code}
    changed = api.put(f"{path}/overrides/2026-01-31", {"name": " Rent + heating "}).json()
    assert changed["overrides"]["2026-01-31"]["name"] == "Rent + heating"


# ---------------------------------------------------------------------------------------------- imports of events


def build_event(**values):
    body = {"subscriptionExternalId": "s", "effectiveDate": "2026-01-01", "amountValue": "5.00"}
    return body | {"amountCurrency": "EUR", "customerName": "Bar"} | values


@pytest.mark.parametrize("field", ["customerName", "productName"])
def test_event_import_names_are_trimmed_and_validated(field, api, acme):
    for wrong, code in INVALID_NAMES.items():
        refused = api.post("subscription_events/import", {"events": [build_event(), build_event(**{field: wrong})]})
        assert get_error_codes(refused) == {f"#/events/1/{field}": code}, wrong
    names = {f"s-{place}": name for place, name in enumerate([" Acme ", "Acme", "\nAcme\t", "Zen"])}
    rows = [build_event(subscriptionExternalId=each, **{field: name}) for each, name in names.items()]
    assert api.post("subscription_events/import", {"events": rows}).json()["count"] == 4
    rows_of_field = {"customerName": Counterparty, "productName": Product}[field].objects.for_company(acme.id)
    assert sorted(rows_of_field.values_list("name", flat=True)) == ["Acme", "Zen"]
    more = build_event(subscriptionExternalId="later", **{field: " Zen "})
    assert api.post("subscription_events/import", {"events": [more]}).json()["count"] == 1
    assert rows_of_field.filter(name="Zen").count() == 1


def test_missing_name_is_derived_from_the_id(api, acme):
    given = {"c\n1": "c 1", "  ": "Unnamed", " c-2 ": "c-2", "c-3": "c-3"}
    rows = [
        build_event(
            subscriptionExternalId=f"s{each}", customerName=None, customerExternalId=each, productExternalId=each
        )
        for each in given
    ]
    assert api.post("subscription_events/import", {"events": rows}).json()["count"] == 4
    for rows_of_model in (Counterparty.objects.for_company(acme.id), Product.objects.for_company(acme.id)):
        assert sorted(rows_of_model.values_list("name", flat=True)) == sorted(given.values())
    assert api.post("subscription_events/import", {"events": rows}).json()["count"] == 4
    assert Counterparty.objects.for_company(acme.id).count() == 4


# ---------------------------------------------------------------------------------------------- pages, staff, commands


@pytest.mark.parametrize("wrong", [" ", "Ac\nme", "Ac\x1bme"])
def test_pages_show_field_error_for_invalid_name(wrong, owner, acme):
    base = f"/app/companies/{acme.id}"
    account = owner.post("accounts", {"name": "Main", "type": "bank"}).json()["id"]
    forms = {
        "/app/companies/new": {"baseCurrency": "EUR", "domain": ""},
        f"{base}/settings": {"domain": "", "valuationCategory": "", "valuationLens": ""},
        f"{base}/accounts/new": {"type": "bank", "defaultCurrency": "EUR"},
        f"{base}/accounts/{account}/edit": {"type": "bank", "defaultCurrency": "EUR"},
        f"{base}/planned/new": {"startDate": "2026-01-31", "amountValue": "-10.00", "amountCurrency": "EUR"},
        f"{base}/settings/api-keys/new": {"preset": "read", "expiry": "never"},
    }
    for path, form in forms.items():
        answer = owner.client.post(path, form | {"name": wrong})
        assert answer.status_code == 400, path
        body = answer.content.decode()
        assert any(
            text in body
            for text in ("This field is required.", "field is required", "single line without control characters")
        ), path
    assert not ApiKey.objects.for_company(acme.id).filter(name=wrong).exists()


@pytest.fixture
def staff(client):
    client.force_login(User.objects.create_superuser("root@example.com", "x"),
                       backend="django.contrib.auth.backends.ModelBackend")  # fmt: skip
    return client


def test_admin_validates_app_and_user_names(staff, alice):
    app = {"name": "A\x1bpp", "client_type": "public", "redirect_uris": "https://app.example/cb",
           "allowed_scopes": ["svc:read"], "enabled": "on"}  # fmt: skip
    refused = staff.post("/admin/oauth/application/add/", app)
    assert refused.status_code == 200
    assert "Must be a single line without control characters." in refused.content.decode()
    staff.post("/admin/oauth/application/add/", app | {"name": " App "})
    assert Application.objects.get().name == "App"
    path = f"/admin/companies/user/{alice.pk}/change/"
    person = {"email": alice.email, "is_active": "on"}
    assert (
        "Must be a single line without control characters."
        in staff.post(path, person | {"name": "Al\x85ice"}).content.decode()
    )
    staff.post(path, person | {"name": " Alice "})
    alice.refresh_from_db()
    assert alice.name == "Alice"


@pytest.mark.parametrize("wrong", [" ", "Ac\nme", "x" * 201])
def test_commands_reject_invalid_name(wrong, acme):
    with pytest.raises(CommandError):
        call_command("create_company", name=wrong, currency="EUR", owner="o@example.com")
    with pytest.raises(CommandError):
        call_command("create_api_key", company=str(acme.id), name=wrong)
    with pytest.raises(CommandError):
        call_command("register_app", name=wrong, redirect_uris=["https://app.example/cb"])
    with pytest.raises(CommandError):
        call_command("demo", name=wrong, months=1, transactions=0)


# ---------------------------------------------------------------------------------------------- the rule of the house


def test_every_name_field_is_documented_with_its_pattern(client):
    """All that is read by NameField has its pattern."""
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    sent = {
        f"{kind}.{name}": schema.get("pattern")
        for kind, each in schemas.items()
        if (kind.endswith(("Request", "Update")) or kind.startswith("New"))
        and kind != "InvoicePartyRequest"  # as an invoice states it
        for name, schema in each.get("properties", {}).items()
        if name == "name" or name.endswith("Name")
    }
    assert len(sent) > 15
    assert {each for each, pattern in sent.items() if pattern != NAME_PATTERN} == set()


def test_invisible_characters_are_not_a_name():
    """All that Unicode calls a blank, a control or a format, but for the signs that are drawn around what follows."""
    drawn = {0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x600, 0x606)}
    ignorable = {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0x180B, 0x1810)}
    ignorable |= {0x2065, *range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9), *range(0xE0000, 0xE1000)}
    blank = {n for n in range(sys.maxunicode) if unicodedata.category(chr(n)) in ("Cf", "Zs", "Zl", "Zp")}
    wrong = [f"U+{n:04X}" for n in (blank - drawn) | ignorable if VISIBLE_PATTERN.search(chr(n))]
    assert wrong == []
    letters = [n for n in range(sys.maxunicode) if unicodedata.category(chr(n))[0] in "LNPS"]
    assert [f"U+{n:04X}" for n in letters if not VISIBLE_PATTERN.search(chr(n)) and n not in ignorable] == []
