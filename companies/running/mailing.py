"""Mail that holds up no answer, and that no answer tells of.

There is no queue in this product: a few threads of the worker send what it was given. They are waited for when the
worker leaves, so that a restart loses no mail.
"""

import logging
import re
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from time import sleep

from django.core.mail import EmailMessage
from django.utils.translation import gettext as _

from companies.emails import deliverable
from companies.running.counters import MAILS, MAILS_WAITING

# Seconds before a mail is sent: by then the answer has gone, and its time tells nobody whether there was one to send.
PAUSE = 0.5
STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # Unicode's categories
# What makes a mail program see an address in a name, or ends it, once its characters are written in their plain form.
LINKS = re.compile(r":?//|(?<=\w)[.@:](?=\w)|[“”]")
IDEOGRAPHIC_STOPS = str.maketrans("\u3002\uff61", "..")  # which browsers read as dots, and NFKC does not
OFFICE = ThreadPoolExecutor(max_workers=2, thread_name_prefix="mail")  # a slow mail server takes no more threads

log = logging.getLogger("mail")


def send_later(*, to: list[str], subject: str, message: str) -> None:
    """Sends a mail after the answer; call once the change is committed. One to nobody costs the same."""
    hand_over(EmailMessage(subject=one_line(subject), body=message, to=[deliverable(address) for address in to]))


def one_line(text: str) -> str:
    """The text without line breaks and characters that steer a terminal or turn a line's direction: in a subject they
    would lose the mail, in its body they would write lines of their own."""
    return " ".join("".join(" " if unicodedata.category(each) in STEERING else each for each in text).split())


def quoted(name: str) -> str:
    """What somebody calls themselves or their company, inside quotes, on one line, and leading nowhere."""
    plain = unicodedata.normalize("NFKC", name).translate(IDEOGRAPHIC_STOPS)  # ﹒ and ． are dots, ＠ is @
    return _("“{name}”").format(name=one_line(LINKS.sub(" ", plain)))


def hand_over(letter: EmailMessage) -> None:
    MAILS_WAITING.inc()
    OFFICE.submit(send_in_a_while, letter)


def send_in_a_while(letter: EmailMessage) -> None:
    sleep(PAUSE)
    try:
        send(letter)
    finally:
        MAILS_WAITING.dec()


def send(letter: EmailMessage) -> None:
    """Nobody waits for this: what went wrong is in the log, without the addresses that the error's text would have."""
    try:
        letter.send()
        MAILS.labels(outcome="sent").inc()
    except Exception as error:  # noqa: BLE001 - a thread has no caller to tell
        MAILS.labels(outcome="failed").inc()
        log.warning("A mail could not be sent: %s", type(error).__name__)
