"""Files that the scenario behind the examples uploads."""

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="  # one pixel
SUBSCRIPTION_EVENTS = "Customer,Product,Date,MRR,Currency\nInitech,Team,2025-12-01,49.00,EUR\n"
OPEN_INVOICES = "Invoice number,Counterparty,Invoice date,Amount\n2025-119,Globex,2025-12-16,595.00\n"
RECEIPT = "date,description,amount\n2025-12-31,December hosting,-119.00\n"
STATEMENT = """:20:2026-01
:25:DE89370400440532013000
:28C:1/1
:60F:C260101EUR25652,00
:61:2601100110D119,00NTRFNONREF//B-7041
:86:177?00TRANSFER?20EREF+NIMBUS-1042?21SVWZ+January hosting?32Nimbus
:62F:C260114EUR25533,00
-
"""
