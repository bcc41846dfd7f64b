"""Rows of planning."""

from planning.models.invoice_files import InvoiceFile
from planning.models.invoice_imports import INVOICE_KINDS, InvoiceImport, InvoiceKind
from planning.models.plan_items import PlanItem
from planning.models.planned_transactions import (
    DATE_RULE_CHOICES,
    MAX_INTERVAL,
    MONTHLY_FREQUENCIES,
    OVERRIDE_COLUMNS,
    Frequency,
    PlannedOverride,
    PlannedSource,
    PlannedTransaction,
    SettledBy,
    WeekendShift,
    attach_overrides,
    build_patch,
)
from planning.models.scenarios import Scenario
from planning.models.settlements import MAX_REASON_LENGTH, Settlement

__all__ = [
    "DATE_RULE_CHOICES",
    "INVOICE_KINDS",
    "MAX_INTERVAL",
    "MAX_REASON_LENGTH",
    "MONTHLY_FREQUENCIES",
    "OVERRIDE_COLUMNS",
    "Frequency",
    "InvoiceFile",
    "InvoiceImport",
    "InvoiceKind",
    "PlanItem",
    "PlannedOverride",
    "PlannedSource",
    "PlannedTransaction",
    "Scenario",
    "SettledBy",
    "Settlement",
    "WeekendShift",
    "attach_overrides",
    "build_patch",
]
