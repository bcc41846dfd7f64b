"""Pages: export of receivables and payables, and import with a review."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from planning.models import PlannedTransaction
from tests.page_text import get_page_text

pytestmark = pytest.mark.django_db

CONTENT = "Invoice number,Customer,Invoice date,Amount\nR-1,Globex,03/04/2025,10.00\nR-2,Globex,04/04/2025,20.00\n"


def upload(owner, acme, content=CONTENT, kind="receivables", **fields):
    file = SimpleUploadedFile("open.csv", content.encode(), content_type="text/csv")
    return owner.post(f"/app/companies/{acme.id}/{kind}/import", {"file": file} | fields)


def test_list_is_downloaded_with_the_status_of_the_page(owner, acme, ledger):
    ledger.create_invoice("70.00", name="Open one", days=3)
    paid = ledger.create_invoice("10.00", name="Paid one")
    ledger.pay_invoice(paid, "10.00", -1)
    page = owner.get(f"/app/companies/{acme.id}/receivables?state=paid").content.decode()
    assert f"/app/companies/{acme.id}/receivables.csv?state=paid" in page
    text = owner.get(f"/app/companies/{acme.id}/receivables.csv?state=paid").getvalue().decode()
    assert ("Paid one" in text, "Open one" in text) == (True, False)
    assert "Open one" in owner.get(f"/app/companies/{acme.id}/receivables.csv").getvalue().decode()


def test_upload_is_reviewed_asked_and_imported_once(owner, acme):
    answer = upload(owner, acme)
    assert answer.status_code == 303
    review = answer["Location"]
    shown = owner.get(review)
    assert "Day and month of the dates are ambiguous" in get_page_text(shown)
    assert 'name="dateOrder"' in shown.content.decode()
    shown = owner.get(f"{review}&dateOrder=dayFirst")
    assert "Globex R-1" in get_page_text(shown)
    assert not PlannedTransaction.objects.exists()
    sent = {"name": "open.csv", "dateOrder": "dayFirst"}
    done = owner.post(review.partition("?")[0], sent, follow=True)
    assert "2 invoices imported." in get_page_text(done)
    assert [str(row.invoice_date) for row in PlannedTransaction.objects.order_by("id")] == ["2025-04-03", "2025-04-04"]
    again = owner.post(review.partition("?")[0], sent, follow=True)
    assert "has expired" in get_page_text(again)
    assert PlannedTransaction.objects.count() == 2


def test_review_lists_wrong_rows_and_offers_to_leave_out_duplicates(owner, acme):
    wrong = CONTENT.replace("10.00", "ten").replace("03/04", "13/04")
    assert "Line 2: “ten” is not an amount" in get_page_text(owner.get(upload(owner, acme, wrong)["Location"]))
    right = CONTENT.replace("03/04", "13/04")
    for expected in (2, 2):
        review = upload(owner, acme, right)["Location"]
        owner.post(review.partition("?")[0], {"name": "open.csv"})
        assert PlannedTransaction.objects.count() == expected
    shown = owner.get(review)
    assert 'name="duplicates"' in shown.content.decode()
    more = right + "R-3,Globex,13/04/2025,5.00\n"
    review = upload(owner, acme, more)["Location"]
    owner.post(review.partition("?")[0], {"name": "open.csv", "duplicates": "skip"})
    assert PlannedTransaction.objects.count() == 3


def test_unusable_upload_is_explained_on_the_form(owner, acme):
    answer = upload(owner, acme, "a,b\n1,2\n", kind="payables")
    assert answer.status_code == 400
    assert "No column found for" in get_page_text(answer)
    assert owner.post(f"/app/companies/{acme.id}/payables/import", {}).status_code == 400


def test_upload_of_another_person_is_not_found(owner, acme, sign_in_browser, carol, globex):
    review = upload(owner, acme)["Location"].partition("?")[0]
    other = sign_in_browser(carol, globex).client
    assert other.get(review).status_code == 404
    path = review.replace(str(acme.id), str(globex.id))
    assert other.get(path).status_code in (302, 303)


def import_open_invoices(owner, acme, kind="receivables"):
    """Import a file on the pages; return the page that shows the result, and its path."""
    content = CONTENT.replace("03/04", "13/04")
    review = upload(owner, acme, content, kind=kind)["Location"]
    done = owner.post(review.partition("?")[0], {"name": "open.csv"}, follow=True)
    return done, done.redirect_chain[-1][0]


@pytest.mark.parametrize("kind", ["receivables", "payables"])
def test_import_is_undone_on_its_result_page(owner, acme, kind):
    done, path = import_open_invoices(owner, acme, kind)
    text = get_page_text(done)
    assert "2 invoices imported on" in text
    assert "This deletes 2 invoices." in text
    assert "Globex R-1" in text
    imports = f"/app/companies/{acme.id}/invoice-imports"
    assert imports in owner.get(f"/app/companies/{acme.id}/{kind}/import").content.decode()
    assert path in owner.get(imports).content.decode()
    undone = get_page_text(owner.post(f"{path}/undo", follow=True))
    assert "2 invoices deleted. 1 counterparty deleted." in undone
    assert "Undo import" not in undone
    assert not PlannedTransaction.objects.exists()
    again = owner.post(f"{path}/undo", follow=True)
    assert "already undone" in get_page_text(again)


def test_result_page_names_the_invoices_that_are_to_be_unsettled_first(owner, acme, api, ledger):
    _done, path = import_open_invoices(owner, acme)
    first, _second = api.get("receivables").json()
    ledger.pay_invoice({"id": first["id"], "startDate": first["date"]}, "4.00", -1)
    shown = owner.get(path)
    assert "1 invoice is settled or written off. Unsettle it first." in get_page_text(shown)
    assert f"/planned/{first['id']}" in shown.content.decode()
    assert f"{path}/undo" not in shown.content.decode()
    refused = owner.post(f"{path}/undo", follow=True)
    assert "Unsettle them first" in get_page_text(refused)
    assert PlannedTransaction.objects.count() == 2


def test_readers_see_the_import_without_undo(owner, acme, sign_in_browser, bob):
    _done, path = import_open_invoices(owner, acme)
    viewer = sign_in_browser(bob, acme).client
    assert f"{path}/undo" not in viewer.get(path).content.decode()
    assert viewer.post(f"{path}/undo").status_code == 403


def test_columns_that_are_not_read_are_named(owner, acme):
    content = (
        "Invoice number,Customer,Project,Invoice date,Amount,Note,Empty\n"
        "R-1,Globex,Website,13/04/2025,10.00,Call first,\n"
    )
    review = upload(owner, acme, content)["Location"]
    assert "Not used: Project, Note" in get_page_text(owner.get(review))
    assert "Empty" not in get_page_text(owner.get(review))
    done = owner.post(review.partition("?")[0], {"name": "open.csv"}, follow=True)
    assert "1 invoice imported. Not used: Project, Note." in get_page_text(done)


def test_import_that_reads_all_columns_names_none(owner, acme):
    review = upload(owner, acme, CONTENT.replace("03/04", "13/04"))["Location"]
    assert "Not used" not in get_page_text(owner.get(review))
