"""Pages of the import of subscription events: upload, questions, review, result and undo."""

import csv
import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from ledger.models import SubscriptionEvent
from tests.page_text import get_page_text

pytestmark = pytest.mark.django_db
CONTENT = "Customer,Product,Date,Amount,Note\nGlobex,Pro,03/04/2025,10.00,x\nInitech,Pro,04/04/2025,20.00,y\n"
CHOSEN = {"name": "events.csv", "dateOrder": "dayFirst", "interval": "month"}


def upload(owner, acme, content=CONTENT):
    file = SimpleUploadedFile("events.csv", content.encode(), content_type="text/csv")
    return owner.post(f"/app/companies/{acme.id}/recurring-revenue/events/import", {"file": file})


def import_events(owner, acme):
    review = upload(owner, acme)["Location"]
    done = owner.post(review.partition("?")[0], CHOSEN, follow=True)
    return done, done.redirect_chain[-1][0]


def test_upload_is_asked_reviewed_and_imported_once(owner, acme):
    answer = upload(owner, acme)
    assert answer.status_code == 303
    review = answer["Location"]
    page = owner.get(review)
    html = page.content.decode()
    assert ('name="dateOrder"' in html, 'name="interval"' in html, 'name="quantity"' in html) == (True, True, False)
    assert "Day and month of the dates are ambiguous" in get_page_text(page)
    assert "Note not imported" in get_page_text(page)
    shown = get_page_text(owner.get(f"{review}&dateOrder=dayFirst&interval=month"))
    assert "New events 2" in shown
    assert "Apr 3, 2025" in shown or "3 Apr" in shown
    assert not SubscriptionEvent.objects.exists()
    done = owner.post(review.partition("?")[0], CHOSEN, follow=True)
    assert "2 events imported." in get_page_text(done)
    assert SubscriptionEvent.objects.count() == 2
    again = owner.post(review.partition("?")[0], CHOSEN, follow=True)
    assert "has expired" in get_page_text(again)
    assert SubscriptionEvent.objects.count() == 2


def test_column_without_a_known_heading_is_chosen(owner, acme):
    review = upload(owner, acme, CONTENT.replace("Customer", "Who"))["Location"]
    html = owner.get(review).content.decode()
    assert 'name="customerColumn"' in html
    shown = get_page_text(owner.get(f"{review}&dateOrder=dayFirst&interval=month&customerColumn=Who"))
    assert "New events 2" in shown


def test_wrong_rows_are_listed_with_their_lines(owner, acme):
    review = upload(owner, acme, CONTENT.replace("10.00", "ten").replace("03/04", "13/04"))["Location"]
    answer = owner.get(f"{review}&interval=month")
    assert answer.status_code == 400
    assert "Line 2: “ten” is not an amount" in get_page_text(answer)
    assert "Import 2 events" not in get_page_text(answer)


def test_events_in_closed_months_are_one_message_with_a_link(owner, acme, api):
    account = api.post("accounts", {"name": "Main", "type": "bank"}).json()["id"]
    api.post("transactions", {"accountId": account, "date": "2024-01-15", "amountValue": "-1.00"})
    assert api.post("closings", {"month": "2024-03", "acknowledge": True}).status_code == 201
    rows = [f"Customer {month},Pro,2024-0{month}-20,5" for month in range(1, 6)]
    content = "\n".join(["Customer,Product,Date,MRR", *rows])
    refused = owner.get(upload(owner, acme, content)["Location"])
    assert refused.status_code == 400
    message = "3 new events are in closed months: January 2024 to March 2024. Reopen them, or leave out the events."
    assert f"{message} Closed months" in get_page_text(refused)
    assert f'<a href="/app/companies/{acme.id}/closings">Closed months</a>' in refused.content.decode()
    assert "Line 2" not in get_page_text(refused)
    one = get_page_text(owner.get(upload(owner, acme, "\n".join([content.split("\n")[0], rows[2]]))["Location"]))
    assert "1 new event is in a closed month: March 2024. Reopen it, or leave out the event." in one


def test_unusable_upload_is_explained_on_the_form(owner, acme):
    assert "No columns found" in get_page_text(upload(owner, acme, "nothing"))
    assert owner.post(f"/app/companies/{acme.id}/recurring-revenue/events/import", {}).status_code == 400


def test_csv_of_events_has_intervals_states_and_names_as_they_are(owner, acme):
    content = 'Customer,Product,Date,ARR\n007,5 %,2025-04-03,1200.00\n"=1+1",+1,2025-04-02,600.00\n'
    upload_path = upload(owner, acme, content)["Location"].partition("?")[0]
    owner.post(upload_path, {"name": "events.csv"})
    SubscriptionEvent.objects.filter(effective_date="2025-04-02").update(retracted_time=timezone.now())
    events = f"/app/companies/{acme.id}/recurring-revenue/events"
    rows = list(csv.reader(io.StringIO(owner.get(f"{events}?table=events").content.decode())))
    assert rows == [
        ["From", "Customer", "Product", "Price", "Currency", "Billing interval", "Status"],
        ["2025-04-03", "007", "5 %", "1200.00", "EUR", "per year", ""],
        ["2025-04-02", "'=1+1", "'+1", "600.00", "EUR", "per year", "retracted"],
    ]


def test_import_is_undone_on_its_result_page(owner, acme):
    done, path = import_events(owner, acme)
    text = get_page_text(done)
    assert "2 events imported on" in text
    assert "This retracts 2 events." in text
    assert "Globex" in text
    imports = f"/app/companies/{acme.id}/recurring-revenue/events/imports"
    assert path in owner.get(imports).content.decode()
    undone = get_page_text(owner.post(f"{path}/undo", follow=True))
    assert "2 events retracted. 2 subscriptions deleted. 2 customers deleted. 1 product deleted." in undone
    assert "Undo import" not in undone
    assert "already undone" in get_page_text(owner.post(f"{path}/undo", follow=True))


def test_readers_see_an_import_without_undo(owner, acme, sign_in_browser, bob, carol, globex):
    _done, path = import_events(owner, acme)
    viewer = sign_in_browser(bob, acme).client
    assert f"{path}/undo" not in viewer.get(path).content.decode()
    assert viewer.post(f"{path}/undo").status_code == 403
    other = sign_in_browser(carol, globex).client
    assert other.get(path).status_code == 404
    assert other.get(path.replace(str(acme.id), str(globex.id))).status_code == 404
