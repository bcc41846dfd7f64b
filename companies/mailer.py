"""Sending of e-mails in background threads, so that neither response time nor content reveals whether one
was sent.

There is no queue: a few threads of the worker send the e-mails, and the worker waits for them when it
stops.
"""

import logging
import re
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from time import sleep

from django.core.mail import EmailMessage
from django.utils.translation import gettext as _

from companies.counters import EMAILS, EMAILS_WAITING
from companies.email_addresses import to_deliverable_email

# Delay before sending: the response has gone by then, so its time reveals nothing.
SEND_DELAY_SECONDS = 0.5
CONTROL_CATEGORIES = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # Unicode categories
# Characters by which an e-mail program detects a link in a name, or ends one, after NFKC normalization.
LINK_CHARACTERS = re.compile(r":?//|(?<=\w)[.@:](?=\w)|[“”]")
IDEOGRAPHIC_STOPS = str.maketrans("\u3002\uff61", "..")  # treated as dots by browsers, but not by NFKC
SENDER_POOL = ThreadPoolExecutor(max_workers=2, thread_name_prefix="mail")  # a slow mail server blocks no more threads

log = logging.getLogger("mail")


def send_email_later(*, to: list[str], subject: str, message: str) -> None:
    """Send an e-mail after the response; call it after the commit. An e-mail without recipients takes the same
    time.
    """
    submit_email(
        EmailMessage(subject=to_one_line(subject), body=message, to=[to_deliverable_email(address) for address in to])
    )


def to_one_line(text: str) -> str:
    """Return the text on one line, without control and direction characters, which could forge headers or lines."""
    return " ".join("".join(" " if unicodedata.category(each) in CONTROL_CATEGORIES else each for each in text).split())


def format_quoted_name(name: str) -> str:
    """Return a user-chosen name in quotes, on one line, with nothing that e-mail programs turn into a link."""
    plain = unicodedata.normalize("NFKC", name).translate(IDEOGRAPHIC_STOPS)  # ﹒ and ． are dots, ＠ is @
    return _("“{name}”").format(name=to_one_line(LINK_CHARACTERS.sub(" ", plain)))


def submit_email(letter: EmailMessage) -> None:
    """Submit an e-mail to the sender threads."""
    EMAILS_WAITING.inc()
    SENDER_POOL.submit(send_email_after_delay, letter)


def send_email_after_delay(letter: EmailMessage) -> None:
    """Send an e-mail after SEND_DELAY_SECONDS."""
    sleep(SEND_DELAY_SECONDS)
    try:
        send_email(letter)
    finally:
        EMAILS_WAITING.dec()


def send_email(letter: EmailMessage) -> None:
    """Send an e-mail; errors are logged by class alone, since their text may contain addresses."""
    try:
        letter.send()
        EMAILS.labels(outcome="sent").inc()
    except Exception as error:  # noqa: BLE001 - a thread has no caller to tell
        EMAILS.labels(outcome="failed").inc()
        log.warning("Could not send an email: %s", type(error).__name__)
