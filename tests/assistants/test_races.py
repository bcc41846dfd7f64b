"""Two confirmations of one digest at the same moment: exactly one of them does it."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from tests.assistants.books import Books
from tests.assistants.conftest import Assistant

pytestmark = pytest.mark.django_db(transaction=True)

CALLERS = 4


@pytest.mark.parametrize("name", ["plan_payment", "categorize", "settle_planned"])
def test_of_confirmations_at_once_exactly_one_does_it(name, api):
    books = Books(api)
    arguments = books.writing()[name]
    digest = Assistant(api.key).call(name, **arguments)["digest"]
    together = Barrier(CALLERS)

    def confirm(_):
        try:
            caller = Assistant(api.key)
            together.wait(30)
            return caller.result("tools/call", {"name": name, "arguments": arguments | {"confirm": digest}})
        finally:
            connection.close()

    with ThreadPoolExecutor(CALLERS) as pool:
        answers = list(pool.map(confirm, range(CALLERS)))
    done = [each["structuredContent"]["done"] for each in answers if not each["isError"]]
    refused = [each["content"][0]["text"] for each in answers if each["isError"]]
    assert done == [True]
    assert len(refused) == CALLERS - 1
    assert all('"digest_differs"' in each for each in refused)
    before = books.state()
    assert Assistant(api.key).refusal(name, **arguments, confirm=digest)["code"] == "digest_differs"
    assert books.state() == before
