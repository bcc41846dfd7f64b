"""What the arguments and answers of several tools are made of."""

from assistants.schemas import AMOUNT, ANY, COUNT, DAY, FLAG, ID, NUMBER, TEXT, many, one_of, or_null, shaped, told

WINDOW = {"startDate": DAY, "endDate": DAY}
OWED = shaped("count value", count=COUNT, value=NUMBER)
PARTY = shaped("id", id=ID, type=TEXT)
SELECTION = shaped(
    "mode",
    mode=one_of("ids", "filter", "all"),
    ids=many(ID),
    filter=told(ANY, "as search_transactions takes it"),
    excludedIds=many(ID),
    confirm=told(FLAG, "must be true where all are meant"),
)
TEXT_RULE = shaped("operator value", operator=one_of("contains", "equals", "startsWith", "wholeWord"), value=TEXT)
CONDITIONS = shaped(
    fromTo=TEXT_RULE,
    description=TEXT_RULE,
    text=told(TEXT_RULE, "either of the two"),
    accountIds=many(ID),
    direction=one_of("in", "out"),
    minAmount=told(TEXT, "without sign"),
    maxAmount=told(TEXT, "without sign"),
    currency=TEXT,
    counterpartyId=ID,
)
RECURRENCE = shaped(
    "frequency",
    frequency=one_of("day", "week", "month", "year"),
    interval=COUNT,
    lastDayOfMonth=FLAG,
    end=shaped("type", type=one_of("never", "date", "count"), date=DAY, count=COUNT),
)
PERIOD = {
    **shaped("type", type=TEXT, startDate=DAY, endDate=DAY, invoiceDate=DAY),
    "description": "type: transactionDate (default), invoiceDate, servicePeriod, month, quarter, year, …",
}
TRANSACTION = shaped(
    "id accountId date amountValue amountCurrency",
    id=ID,
    accountId=ID,
    date=DAY,
    fromTo=or_null(TEXT),
    description=or_null(TEXT),
    amountValue=AMOUNT,
    amountCurrency=TEXT,
    pending=FLAG,
    categorizations=told(ANY, "by id; categoryId, plSplit, counterparty, …"),
)
PLANNED = shaped("id name startDate amountValue amountCurrency", id=ID, name=TEXT, startDate=DAY, amountValue=AMOUNT,
    amountCurrency=TEXT, accountId=or_null(ID), categoryId=or_null(ID), overrides=ANY)  # fmt: skip
EXPECTED = shaped(
    "plannedTransactionId originalDate date name amountValue state",
    plannedTransactionId=ID,
    originalDate=DAY,
    date=DAY,
    name=TEXT,
    amountValue=AMOUNT,
    amountCurrency=TEXT,
    transactionId=or_null(ID),
    openAmountValue=TEXT,
    state=one_of("overdue", "due", "settled", "skipped"),
)
PAGE = {"limit": COUNT, "cursor": told(TEXT, "nextCursor of the page before")}
FOUND_BY = {
    **WINDOW,
    "q": told(TEXT, "in fromTo, description and notes"),
    "accountId": many(ID),
    "direction": one_of("in", "out"),
    "minAmount": told(TEXT, "with its sign: -50 is below -10"),
    "maxAmount": told(TEXT, "with its sign"),
    "currency": TEXT,
    "sort": one_of("-date", "date", "-amount", "amount"),
    **PAGE,
}
AHEAD = {
    "endDate": DAY,
    "startDate": DAY,
    "cutoverDate": told(DAY, "last day of actual figures; default today"),
    "interval": one_of("day", "week", "month"),
    "accountIds": many(ID),
    "byAccount": FLAG,
}
