"""Schemas shared by the arguments and answers of several tools."""

from assistants.schema_builders import (
    COUNT,
    DAY,
    FLAG,
    ID,
    NUMBER,
    OBJECT,
    TEXT,
    add_schema_description,
    allow_null,
    build_array,
    build_enum,
    build_id_map_schema,
    build_object,
)

WINDOW_FIELDS = {"startDate": DAY, "endDate": DAY}
OVERDUE = build_object("count value", count=COUNT, value=NUMBER)
ACCOUNT_TYPES = build_array(build_enum("bank", "cash", "creditCard", "loan", "transit", "other"))
BALANCE = build_object("value", accountId=TEXT, accountName=TEXT, value=NUMBER, valuePreviousPeriod=NUMBER,
    valueChange=NUMBER)  # fmt: skip
CATEGORY = build_object("id name plTypes", id=TEXT, name=TEXT, plTypes=build_array(TEXT), system=FLAG, used=COUNT)
COUNTERPARTY = build_object("id", id=ID, type=TEXT)
SELECTION = build_object(
    "mode",
    mode=build_enum("ids", "filter", "all"),
    ids=build_array(ID),
    filter=add_schema_description(OBJECT, "filters of search_transactions"),
    excludedIds=build_array(ID),
    confirm=add_schema_description(FLAG, "must be true for mode all"),
)
TEXT_RULE = build_object(
    "operator value", operator=build_enum("contains", "equals", "startsWith", "wholeWord"), value=TEXT
)
CONDITIONS = build_object(
    fromTo=TEXT_RULE,
    description=TEXT_RULE,
    text=add_schema_description(TEXT_RULE, "fromTo or description"),
    accountIds=build_array(ID),
    direction=build_enum("in", "out"),
    minAmount=add_schema_description(TEXT, "unsigned"),
    maxAmount=add_schema_description(TEXT, "unsigned"),
    currency=TEXT,
    counterpartyId=ID,
)
RECURRENCE = build_object(
    "frequency",
    frequency=build_enum("day", "week", "month", "year"),
    interval=COUNT,
    lastDayOfMonth=FLAG,
    end=build_object("type", type=build_enum("never", "date", "count"), date=DAY, count=COUNT),
)
DATE_RULE = {
    **build_object("type", type=TEXT, startDate=DAY, endDate=DAY, invoiceDate=DAY),
    "description": "type: transactionDate (default), invoiceDate, servicePeriod, month, …",
}
TRANSACTION = build_object(
    "id accountId date amountValue amountCurrency",
    id=TEXT,
    accountId=TEXT,
    date=DAY,
    fromTo=TEXT,
    description=TEXT,
    amountValue=TEXT,
    amountCurrency=TEXT,
    pending=FLAG,
    categorizations=build_id_map_schema(build_object("categoryId", categoryId=TEXT, plSplit=OBJECT)),
)
CATEGORIZATION = build_object(categoryName=TEXT, amountValue=TEXT)
TRANSACTION_CHANGE = build_object(
    "transactionId before after",
    transactionId=TEXT,
    date=DAY,
    fromTo=TEXT,
    amountValue=TEXT,
    amountCurrency=TEXT,
    before=build_array(CATEGORIZATION),
    after=build_array(CATEGORIZATION),
)
PLANNED_TRANSACTION = build_object("id name startDate amountValue amountCurrency", id=TEXT, name=TEXT, startDate=DAY,
    amountValue=TEXT, amountCurrency=TEXT, accountId=allow_null(TEXT), transferAccountId=allow_null(TEXT),
    categoryId=allow_null(TEXT))  # fmt: skip
DUE_OCCURRENCE = build_object(
    "plannedTransactionId originalDate state",
    plannedTransactionId=TEXT,
    originalDate=DAY,
    date=DAY,
    name=TEXT,
    amountValue=TEXT,
    amountCurrency=TEXT,
    settledAmountValue=TEXT,
    openAmountValue=TEXT,
    state=build_enum("open", "partlyPaid", "paid", "overdue", "writtenOff", "skipped"),
)
LIMIT_FIELD = add_schema_description(COUNT, "default 20")
PAGE_FIELDS = {"limit": LIMIT_FIELD, "cursor": add_schema_description(TEXT, "nextCursor of the previous page")}
SEARCH_FIELDS = {
    **WINDOW_FIELDS,
    "q": add_schema_description(TEXT, "in fromTo, description and notes"),
    "accountId": build_array(ID),
    "direction": build_enum("in", "out"),
    "minAmount": add_schema_description(TEXT, "signed: -50 is below -10"),
    "maxAmount": add_schema_description(TEXT, "signed"),
    "currency": TEXT,
    "sort": build_enum("-date", "date", "-amount", "amount"),
    **PAGE_FIELDS,
}
FORECAST_FIELDS = {
    "endDate": DAY,
    "startDate": DAY,
    "cutoverDate": add_schema_description(DAY, "last day of actual amounts (default: today)"),
    "interval": build_enum("day", "week", "month"),
    "accountIds": build_array(ID),
    "byAccount": FLAG,
    "scenarioId": ID,
}
