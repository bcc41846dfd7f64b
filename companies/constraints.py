"""Which constraint the database refused something by.

Where companies lie on many machines, the coordinator passes on what a worker said: its words, but not the constraint's
name as a field of its own, and the number of the shard behind it in the text. Of what it copies, which is COPY and
several rows in one INSERT, it tells not even the kind of error: all are internal ones.
"""

import re

import psycopg
from django.apps import apps
from django.db import Error
from django.db.models import BaseConstraint

VIOLATED = re.compile(r'violates (?:foreign key|unique|check|exclusion|not-null) constraint(?: "([^"]+)")?')
SHARD = re.compile(r"_\d+$")
# serialization_failure, deadlock_detected, lock_not_available (lock_timeout): PostgreSQL, appendix A
LOST_RACES = ("40001", "40P01", "55P03")
RACES_IN_WORDS = ("could not serialize access", "deadlock detected", "involved in a distributed deadlock")
# What libpq says of a connection that ends in the middle: of the coordinator's to a worker, as it is.
LOST_IN_WORDS = (
    "server closed the connection unexpectedly",
    "could not receive data from server",
    "no connection to the",
)
PASSED_ON = "XX000"  # internal_error


def of_driver(error: Exception) -> psycopg.Error | None:
    """The driver's own error, which COPY raises as it is and all else as the cause of Django's."""
    told = error.__cause__ if isinstance(error, Error) else error
    return told if isinstance(told, psycopg.Error) else None


def violated(told: psycopg.Error) -> str | None:
    """The name of the constraint as the database knows it, "" where it has none; None for any other trouble."""
    if told.diag.constraint_name:
        return told.diag.constraint_name
    words = VIOLATED.search(told.diag.message_primary or "")
    if words and (isinstance(told, psycopg.IntegrityError) or told.sqlstate == PASSED_ON):
        return words[1] or ""
    return "" if isinstance(told, psycopg.IntegrityError) else None


def lost_a_race(told: psycopg.Error) -> bool:
    words = told.diag.message_primary or ""
    return told.sqlstate in LOST_RACES or (told.sqlstate == PASSED_ON and any(race in words for race in RACES_IN_WORDS))


def lost_a_machine(told: psycopg.Error) -> bool:
    """Whether a worker of a cluster went away while it was asked; before that it is an OperationalError, as is our own
    server's going."""
    words = told.diag.message_primary or ""
    return told.sqlstate == PASSED_ON and any(lost in words for lost in LOST_IN_WORDS)


def named(name: str) -> BaseConstraint | None:
    """The model's constraint of that name, with or without a shard's number; None for a reference between tables."""
    names = {name, SHARD.sub("", name)}
    every = (each for model in apps.get_models() for each in model._meta.constraints)
    return next((each for each in every if each.name in names), None)
