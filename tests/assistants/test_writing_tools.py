"""Writing tools over HTTP: nothing by the first call, what it said by the second, and only if nothing has changed."""

import pytest
from jsonschema import Draft202012Validator

from companies.models import AuditEntry
from tests.assistants.conftest import Assistant
from tests.assistants.sample_company import SampleCompany, format_day
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db

WRITING_TOOLS = ("categorize", "create_rule", "link_transfer", "plan_payment", "settle_planned")


@pytest.fixture
def books(api):
    return SampleCompany(api)


def change_subject(books, name):
    """Something that the tool's act is about becomes another."""
    if name == "create_rule":
        books.create_row("categorization_rules", books.build_tool_arguments()["create_rule"])
    elif name == "plan_payment":
        books.create_row("planned_transactions", books.build_tool_arguments()["plan_payment"])
    else:
        row = books.outgoing if name == "link_transfer" else books.rent
        assert books.api.put(f"transactions/{row}", {"notes": "seen"}).status_code == 200


def test_tool_table_lists_every_writing_tool(assistant):
    tools = assistant.get_result("tools/list")["tools"]
    assert {tool["name"] for tool in tools if not tool["annotations"]["readOnlyHint"]} == set(WRITING_TOOLS)


def test_writing_tool_changes_nothing_until_confirmed(books, acme, assistant):
    for name in WRITING_TOOLS:
        with undo_changes():
            arguments, before = books.build_tool_arguments()[name], books.read_state()
            entries = AuditEntry.objects.filter(company_id=acme.id).count()
            first = assistant.call_tool(name, **arguments)
            assert (first["done"], books.read_state()) == (False, before), name
            assert AuditEntry.objects.filter(company_id=acme.id).count() == entries, name
            second = assistant.call_tool(name, **arguments, confirm=first["digest"])
            assert (second["done"], second["digest"]) == (True, first["digest"]), name
            assert books.read_state() != before, name
            assert AuditEntry.objects.filter(company_id=acme.id).count() > entries, name


def test_tool_returns_the_endpoint_answer(books, assistant):
    tools = {tool["name"]: tool for tool in assistant.get_result("tools/list")["tools"]}
    for name in WRITING_TOOLS:
        with undo_changes():
            arguments = books.build_tool_arguments()[name]
            result = assistant.call_tool(name, **arguments)
            Draft202012Validator(tools[name]["inputSchema"]).validate(arguments)
            Draft202012Validator(tools[name]["outputSchema"]).validate(result)
            paths = {
                "categorize": "transactions/categorize",
                "create_rule": "categorization_rules",
                "link_transfer": "transactions/link_transfer",
                "plan_payment": "planned_transactions",
                "settle_planned": f"planned_transactions/{books.plan}/settle",
            }
            expected = books.api.post(paths[name], arguments).json()
            passing = {"id", "createdTime", "lastUpdatedTime"}
            assert {k: v for k, v in result["answer"].items() if k not in passing} == {
                k: v for k, v in expected.items() if k not in passing
            }, name


def test_first_call_of_categorize_previews_changes(books, assistant, acme, make_api):
    other = books.create_row("categories", {"name": "Rent", "plTypes": ["ga"]})
    books.api.post("transactions/categorize", {"selection": {"mode": "ids", "ids": [books.rent]}, "categoryId": other})
    arguments = books.build_tool_arguments()["categorize"]
    first = assistant.call_tool("categorize", **arguments)
    rent, fee = ({"categoryName": "Office", "amountValue": amount} for amount in ("-950.00", "-12.50"))
    changes = {row["transactionId"]: (row["fromTo"], row["before"], row["after"]) for row in first["changes"]}
    assert changes == {
        books.rent: ("Landlord", [rent | {"categoryName": "Rent"}], [rent]),
        books.fee: ("Bank fee", [], [fee]),
    }
    assert "changes" not in assistant.call_tool("categorize", **arguments, confirm=first["digest"])
    blind = Assistant(make_api(acme, "transactions:write").key)
    assert "changes" not in blind.call_tool("categorize", **arguments)


def test_confirmation_is_rejected_after_a_change(books, assistant):
    for name in WRITING_TOOLS:
        with undo_changes():
            arguments = books.build_tool_arguments()[name]
            digest = assistant.call_tool(name, **arguments)["digest"]
            change_subject(books, name)
            before = books.read_state()
            answer = assistant.get_tool_error(name, **arguments, confirm=digest)
            assert (answer["status"], answer["code"]) == (409, "digest_differs"), name
            assert books.read_state() == before, name


def test_confirmation_works_once(books, assistant):
    for name in WRITING_TOOLS:
        with undo_changes():
            arguments = books.build_tool_arguments()[name]
            digest = assistant.call_tool(name, **arguments)["digest"]
            assistant.call_tool(name, **arguments, confirm=digest)
            before = books.read_state()
            assert assistant.get_tool_error(name, **arguments, confirm=digest)["code"] == "digest_differs"
            assert books.read_state() == before, name


def test_wrong_digest_is_rejected(books, assistant):
    before = books.read_state()
    for wrong in ["", "0" * 32, 7, ["x"], {"a": 1}, True, "ü"]:
        assert (
            assistant.get_tool_error("categorize", **books.build_tool_arguments()["categorize"], confirm=wrong)["code"]
            == "digest_differs"
        )
        assert books.read_state() == before, wrong


def test_digest_is_bound_to_arguments_tool_and_credential(books, acme, assistant, make_api):
    arguments = books.build_tool_arguments()["categorize"]
    digest = assistant.call_tool("categorize", **arguments)["digest"]
    other = arguments | {"selection": {"mode": "ids", "ids": [books.rent]}}
    assert assistant.get_tool_error("categorize", **other, confirm=digest)["code"] == "digest_differs"
    someone = Assistant(make_api(acme).key)
    assert someone.get_tool_error("categorize", **arguments, confirm=digest)["code"] == "digest_differs"
    answer = assistant.get_tool_error("plan_payment", **books.build_tool_arguments()["plan_payment"], confirm=digest)
    assert answer["code"] == "digest_differs"


def test_digest_does_not_depend_on_argument_order(books, assistant):
    arguments = books.build_tool_arguments()["categorize"]
    digest = assistant.call_tool("categorize", **arguments)["digest"]
    turned = dict(reversed(arguments.items()))
    assert assistant.call_tool("categorize", **turned, confirm=digest)["done"]


def test_confirmation_is_rejected_if_filter_matches_more_rows(books, assistant):
    arguments = {"selection": {"mode": "filter", "filter": {"q": "Landlord"}}, "categoryId": books.office}
    first = assistant.call_tool("categorize", **arguments)
    assert first["answer"]["affected"] == 1
    books.create_transaction(books.bank, -1, "-1.00", fromTo="Landlord")
    assert assistant.get_tool_error("categorize", **arguments, confirm=first["digest"])["code"] == "digest_differs"


def test_confirmation_ignores_unrelated_changes(books, assistant):
    arguments = books.build_tool_arguments()["categorize"]
    digest = assistant.call_tool("categorize", **arguments)["digest"]
    assert books.api.put(f"transactions/{books.sale}", {"notes": "seen"}).status_code == 200
    assert assistant.call_tool("categorize", **arguments, confirm=digest)["done"]


def test_invalid_arguments_are_rejected_by_first_call(books, assistant):
    before = books.read_state()
    for name, changes, status, code in [
        ("categorize", {"categoryId": "0190a5b4-7d5c-7000-8000-000000000000"}, 400, "validation_failed"),
        ("categorize", {"selection": {"mode": "all"}}, 400, "confirmation_required"),
        ("categorize", {"selection": "all"}, 400, "validation_failed"),
        ("categorize", {"selection": {"mode": "ids", "ids": 7}}, 400, "validation_failed"),
        ("categorize", {"selection": {"mode": "filter", "filter": {"no": "such"}}}, 400, "validation_failed"),
        ("create_rule", {"conditions": {}}, 400, "validation_failed"),
        ("create_rule", {"action": None}, 400, "validation_failed"),
        ("link_transfer", {"targetTransactionId": "nothing"}, 404, "not_found"),
        ("link_transfer", {"targetTransactionId": 7}, 400, "validation_failed"),
        ("plan_payment", {"amountValue": "much"}, 400, "validation_failed"),
        ("settle_planned", {"plannedTransactionId": "x/../y"}, 400, "invalid_argument"),
        ("settle_planned", {"plannedTransactionId": None}, 400, "invalid_argument"),
        ("settle_planned", {"date": format_day(-9)}, 400, "validation_failed"),
    ]:
        answer = assistant.get_tool_error(name, **(books.build_tool_arguments()[name] | changes))
        codes = {answer["code"], *(each["code"] for each in answer.get("errors", []))}
        assert answer["status"] == status, name
        assert code in codes, name
        assert books.read_state() == before, name


def test_writing_tool_does_not_find_rows_of_another_company(books, globex, globex_api, assistant):
    theirs = Assistant(globex_api.key)
    before = books.read_state()
    for name in WRITING_TOOLS:
        assert theirs.get_tool_error(name, **books.build_tool_arguments()[name])["status"] in (400, 404)
        answer = assistant.get_tool_error(name, **books.build_tool_arguments()[name], companyId=str(globex.id))
        assert (answer["status"], answer["code"]) == (404, "not_found"), name
        assert books.read_state() == before, name
