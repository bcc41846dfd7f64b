"""Reads database errors: violated constraints, lost races, lost cluster workers.

On a Citus cluster the coordinator passes on a worker's message without the constraint name as a field,
and with a shard number in the text. For COPY and multi-row INSERT even the error class is lost: all are
internal errors.
"""

import re

import psycopg
from django.apps import apps
from django.db import Error
from django.db.models import BaseConstraint

VIOLATION_PATTERN = re.compile(r'violates (?:foreign key|unique|check|exclusion|not-null) constraint(?: "([^"]+)")?')
SHARD_SUFFIX = re.compile(r"_\d+$")
# SQL states serialization_failure, deadlock_detected, lock_not_available (lock_timeout)
RACE_SQL_STATES = ("40001", "40P01", "55P03")
RACE_MESSAGES = ("could not serialize access", "deadlock detected", "involved in a distributed deadlock")
# libpq's messages for a lost connection, of the coordinator to a worker.
LOST_CONNECTION_MESSAGES = (
    "server closed the connection unexpectedly",
    "could not receive data from server",
    "no connection to the",
)
INTERNAL_ERROR_SQL_STATE = "XX000"  # internal_error


def find_driver_error(error: Exception) -> psycopg.Error | None:
    """Return the psycopg error of an exception: COPY raises it directly, otherwise it is the cause of Django's
    error.
    """
    driver_error = error.__cause__ if isinstance(error, Error) else error
    return driver_error if isinstance(driver_error, psycopg.Error) else None


def get_constraint_name(error: psycopg.Error) -> str | None:
    """Return the name of the violated constraint, "" if it has none; None for any other error."""
    if error.diag.constraint_name:
        return error.diag.constraint_name
    match = VIOLATION_PATTERN.search(error.diag.message_primary or "")
    if match and (isinstance(error, psycopg.IntegrityError) or error.sqlstate == INTERNAL_ERROR_SQL_STATE):
        return match[1] or ""
    return "" if isinstance(error, psycopg.IntegrityError) else None


def is_race_error(error: psycopg.Error) -> bool:
    """Return whether the error is a serialization failure, deadlock or lock timeout."""
    message = error.diag.message_primary or ""
    return error.sqlstate in RACE_SQL_STATES or (
        error.sqlstate == INTERNAL_ERROR_SQL_STATE and any(race in message for race in RACE_MESSAGES)
    )


def is_lost_worker_error(error: psycopg.Error) -> bool:
    """Return whether a cluster worker disconnected during the query; otherwise it is an OperationalError."""
    message = error.diag.message_primary or ""
    return error.sqlstate == INTERNAL_ERROR_SQL_STATE and any(lost in message for lost in LOST_CONNECTION_MESSAGES)


def is_constraint_named(name: str, wanted: str) -> bool:
    """Whether a constraint has the wanted name, with or without a shard number."""
    return wanted in (name, SHARD_SUFFIX.sub("", name))


def find_constraint(name: str) -> BaseConstraint | None:
    """Return the model constraint with this name, with or without a shard number; None for foreign keys."""
    names = {name, SHARD_SUFFIX.sub("", name)}
    all_constraints = (each for model in apps.get_models() for each in model._meta.constraints)
    return next((each for each in all_constraints if each.name in names), None)
