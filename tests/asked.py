"""Which statements of a request would ask every machine of a cluster: those that touch a table of companies and do not
say whose rows they mean.

A statement is read as PostgreSQL reads it. A table is tied to a company where its company column equals a value, one of
several, or the company column of a table that is tied, in a condition that holds for every row. A subquery may be tied
by the query around it where it stands in its condition, and nowhere else: so does Citus see it.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from django.apps import apps
from django.core.handlers.base import BaseHandler
from django.db import connection
from pglast import ast, parse_sql
from pglast.enums import A_Expr_Kind, BoolExprType, SubLinkType

from companies.models import CompanyOwned
from companies.models.tenancy import COMPANIES

GIVEN = "a value"
VALUES = (ast.ParamRef, ast.A_Const)
PLACEHOLDER = re.compile(r"%(?:s|\(\w+\)s|%)")
EQUAL = {A_Expr_Kind.AEXPR_OP, A_Expr_Kind.AEXPR_IN, A_Expr_Kind.AEXPR_OP_ANY}
IN_CONDITIONS = {SubLinkType.EXISTS_SUBLINK, SubLinkType.ANY_SUBLINK}


@cache
def columns() -> dict[str, str]:
    """The tables of companies, and the column of each that says whose a row is."""
    owned = {
        model._meta.db_table: "company_id"
        for model in apps.get_models()
        if model._meta.db_table != COMPANIES and starts_with_company(model)
    }
    return owned | {COMPANIES: "id"}


def starts_with_company(model: Any) -> bool:
    key = getattr(model._meta.pk, "field_names", (model._meta.pk.attname,))
    return issubclass(model, CompanyOwned) or key[0] in ("company_id", "company")


class Query:
    """One SELECT, UPDATE or DELETE, and its tables; ``outer`` is the query that may tie them too."""

    def __init__(self, reading: "Reading", outer: "Query | None"):
        self.reading, self.outer = reading, outer
        self.names: dict[str, str | None] = {}  # what a table is called here → the table; None for what is no table

    def node(self, column: Any) -> Any:
        """What stands for a column in the reading, or None where the expression is none."""
        if not isinstance(column, ast.ColumnRef) or not all(isinstance(each, ast.String) for each in column.fields):
            return None
        *qualified, name = [each.sval for each in column.fields]
        query: Query | None = self
        while query is not None:
            called = qualified[-1] if qualified else query.only(name)
            if called in query.names:
                return query, called, name
            query = query.outer
        return None

    def only(self, column: str) -> str | None:
        """Whose column it is that has no table before it."""
        names = [name for name, table in self.names.items() if table is None or columns()[table] == column]
        tables = [name for name in names if self.names[name]]
        found = tables or names
        return found[0] if len(found) == 1 else None

    def tie(self, condition: Any) -> None:
        """What a condition that holds for every row ties."""
        if isinstance(condition, ast.BoolExpr) and condition.boolop == BoolExprType.AND_EXPR:
            for each in condition.args:
                self.tie(each)
        elif isinstance(condition, ast.BoolExpr) and condition.boolop == BoolExprType.NOT_EXPR:
            self.tie_subquery(condition.args[0])
        elif isinstance(condition, ast.A_Expr) and condition.kind in EQUAL and condition.name[-1].sval == "=":
            self.equal(condition.lexpr, condition.rexpr)
            self.reading.subqueries(condition, None)
        elif not self.tie_subquery(condition):
            self.reading.subqueries(condition, None)

    def tie_subquery(self, condition: Any) -> bool:
        if not isinstance(condition, ast.SubLink) or condition.subLinkType not in IN_CONDITIONS:
            self.reading.subqueries(condition, None)
            return False
        self.reading.read(condition.subselect, self)
        return True

    def equal(self, left: Any, right: Any) -> None:
        for one, other in ((left, right), (right, left)):
            node = self.node(one)
            if node and is_value(other):
                self.reading.unite(node, GIVEN)
            elif node and (partner := self.node(other)):
                self.reading.unite(node, partner)


def is_value(expression: Any) -> bool:
    if isinstance(expression, ast.TypeCast):
        return is_value(expression.arg)
    if isinstance(expression, ast.A_ArrayExpr):
        return all(map(is_value, expression.elements or ()))
    if isinstance(expression, tuple):
        return all(map(is_value, expression))
    return isinstance(expression, VALUES)


class Reading:
    """A statement on its way to being understood."""

    def __init__(self) -> None:
        self.same: dict[Any, Any] = {}
        self.queries: list[Query] = []
        self.named: set[str] = set()  # WITH

    def unite(self, one: Any, other: Any) -> None:
        self.same[self.root(one)] = self.root(other)

    def root(self, node: Any) -> Any:
        while node in self.same and self.same[node] != node:
            node = self.same[node]
        return node

    def untied(self) -> set[str]:
        given = self.root(GIVEN)
        return {
            table
            for query in self.queries
            for name, table in query.names.items()
            if table and self.root((query, name, columns()[table])) != given
        }

    def read(self, statement: Any, outer: Query | None) -> None:
        for each in getattr(getattr(statement, "withClause", None), "ctes", None) or ():
            self.named.add(each.ctename)
            self.read(each.ctequery, None)
        if isinstance(statement, ast.InsertStmt):  # each row goes to its company; those of a query have to be found
            self.read(statement.selectStmt, None)
        elif isinstance(statement, ast.SelectStmt) and statement.larg:
            self.read(statement.larg, outer)
            self.read(statement.rarg, outer)
        elif isinstance(statement, ast.SelectStmt | ast.UpdateStmt | ast.DeleteStmt):
            self.query(statement, outer)

    def query(self, statement: Any, outer: Query | None) -> None:
        query = Query(self, outer)
        self.queries.append(query)
        sources = list(getattr(statement, "fromClause", None) or getattr(statement, "usingClause", None) or ())
        if not isinstance(statement, ast.SelectStmt):
            sources.append(statement.relation)
        joins = [join for source in sources for join in self.source(query, source)]
        for join in joins:
            query.tie(join.quals)
            self.using(query, join)
        query.tie(statement.whereClause)
        for part in ("targetList", "groupClause", "havingClause", "sortClause", "valuesLists", "limitCount"):
            self.subqueries(getattr(statement, part, None), None)

    def source(self, query: Query, source: Any) -> Iterator[Any]:
        """Notes a table, or what stands for one; yields the joins."""
        if isinstance(source, ast.JoinExpr):
            yield from self.source(query, source.larg)
            yield from self.source(query, source.rarg)
            yield source
        elif isinstance(source, ast.RangeVar):
            called = source.alias.aliasname if source.alias else source.relname
            known = source.relname in columns() and source.relname not in self.named
            query.names[called] = source.relname if known else None
        elif isinstance(source, ast.RangeSubselect):
            query.names[source.alias.aliasname if source.alias else ""] = None
            self.read(source.subquery, query if source.lateral else None)
        else:
            self.subqueries(source, None)

    def using(self, query: Query, join: Any) -> None:
        if "company_id" in {each.sval for each in join.usingClause or ()}:
            sides = [(query, name, "company_id") for name, table in query.names.items() if table != COMPANIES]
            for side in sides[1:]:
                self.unite(sides[0], side)

    def subqueries(self, part: Any, outer: Query | None) -> None:
        """Reads every query that stands somewhere in a part of a statement."""
        if isinstance(part, ast.SelectStmt):
            self.read(part, outer)
        elif isinstance(part, tuple):
            for each in part:
                self.subqueries(each, outer)
        elif isinstance(part, ast.Node):
            for name in part:
                self.subqueries(getattr(part, name), outer)


@cache
def everybody(statement: str) -> frozenset[str]:
    """The tables of companies of which a statement asks every machine, as it is given to the driver."""
    numbers = iter(range(1, statement.count("%") + 1))
    text = PLACEHOLDER.sub(lambda found: "%" if found[0] == "%%" else f"${next(numbers)}", statement)
    reading = Reading()
    for each in parse_sql(text):
        reading.read(each.stmt, None)
    return frozenset(reading.untied())


Found = tuple[str, str, tuple[str, ...], str]  # method, address, tables, statement


@dataclass
class Watched:
    """What requests asked the database: how many statements, and those that go to every machine."""

    statements: int = 0
    of_all: list[Found] = field(default_factory=list)
    by_staff: list[Found] = field(default_factory=list)

    @contextmanager
    def during(self, request: Any) -> Iterator[None]:
        def look(execute: Any, statement: Any, *rest: Any) -> Any:
            text = statement if isinstance(statement, str) else statement.as_string()
            self.statements += 1
            if tables := everybody(text):
                found = (request.method, address_of(request), tuple(sorted(tables)), text)
                (self.by_staff if request.path.startswith("/admin/") else self.of_all).append(found)
            return execute(statement, *rest)

        with connection.execute_wrapper(look):
            yield


def watch(monkeypatch: Any) -> Watched:
    """Looks at every statement of every request, to the end of the test."""
    watched = Watched()
    answered = BaseHandler.get_response

    def get_response(handler: Any, request: Any) -> Any:
        with watched.during(request):
            answer = answered(handler, request)
        if answer.streaming and not answer.is_async:
            answer.streaming_content = streamed(answer.streaming_content, watched, request)
        return answer

    monkeypatch.setattr(BaseHandler, "get_response", get_response)
    return watched


def streamed(content: Any, watched: Watched, request: Any) -> Iterator[Any]:
    parts = iter(content)
    while True:
        with watched.during(request):
            part = next(parts, None)
        if part is None:
            return
        yield part


def address_of(request: Any) -> str:
    """With {} for what differs."""
    match = request.resolver_match
    return "/" + re.sub(r"<[^>]+>", "{}", match.route) if match else request.path
