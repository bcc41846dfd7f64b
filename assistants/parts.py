"""What the arguments and answers of several tools are made of."""

from assistants.schemas import (
    ANY,
    COUNT,
    DAY,
    FLAG,
    ID,
    NUMBER,
    TEXT,
    by_id,
    many,
    one_of,
    or_null,
    shaped,
    told,
)

WINDOW = {"startDate": DAY, "endDate": DAY}
OWED = shaped("count value", count=COUNT, value=NUMBER)
ACCOUNT_TYPES = many(one_of("bank", "cash", "creditCard", "loan", "transit", "other"))
BALANCE = shaped("value", accountId=TEXT, accountName=TEXT, value=NUMBER, valuePreviousPeriod=NUMBER,
    valueChange=NUMBER)  # fmt: skip
CATEGORY = shaped("id name plTypes", id=TEXT, name=TEXT, plTypes=many(TEXT), system=FLAG, used=COUNT)
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
    "description": "type: transactionDate (default), invoiceDate, servicePeriod, month, …",
}
TRANSACTION = shaped(
    "id accountId date amountValue amountCurrency",
    id=TEXT,
    accountId=TEXT,
    date=DAY,
    fromTo=TEXT,
    description=TEXT,
    amountValue=TEXT,
    amountCurrency=TEXT,
    pending=FLAG,
    categorizations=by_id(shaped("categoryId", categoryId=TEXT, plSplit=ANY)),
)
PART = shaped(categoryName=TEXT, amountValue=TEXT)
CHANGE = shaped(
    "transactionId before after",
    transactionId=TEXT,
    date=DAY,
    fromTo=TEXT,
    amountValue=TEXT,
    amountCurrency=TEXT,
    before=many(PART),
    after=many(PART),
)
PLANNED = shaped("id name startDate amountValue amountCurrency", id=TEXT, name=TEXT, startDate=DAY, amountValue=TEXT,
    amountCurrency=TEXT, accountId=or_null(TEXT), categoryId=or_null(TEXT))  # fmt: skip
EXPECTED = shaped(
    "plannedTransactionId originalDate state",
    plannedTransactionId=TEXT,
    originalDate=DAY,
    date=DAY,
    name=TEXT,
    amountValue=TEXT,
    amountCurrency=TEXT,
    transactionId=TEXT,
    openAmountValue=TEXT,
    state=one_of("overdue", "due", "settled", "skipped"),
)
LIMIT = told(COUNT, "default 20")
PAGE = {"limit": LIMIT, "cursor": told(TEXT, "nextCursor of the page before")}
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
