"""The rules of a company: their list in order, the form of one with its preview, and applying them."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.errors import Missing
from companies.models import Currency, id_from
from companies.pages.amounts import number
from companies.pages.settings.activity import names as actors
from companies.pages.typed import Typed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.models import CategorizationRule, CategorizationRun, Transaction
from ledger.purposes.pages.categorizing import parsed, with_kept
from ledger.rules import applying, learning, ruling, shapes
from ledger.rules.applying import Preview
from ledger.rules.learning import learned
from ledger.rules.pages.rule_form import FIELDS, OPERATORS, TYPED, body_of, like_transaction, values_of, words_of
from ledger.rules.rulebook import ready, rulebook
from ledger.transactions.pages.counterparties import suggested
from ledger.transactions.pages.words import RULES, in_choices, names_for

OPEN = {"mode": "filter", "filter": {"open": "true", "pending": "false"}}
MOST_SHOWN = 10  # of a preview
READ, WRITE = Permission.TRANSACTIONS_READ, Permission.TRANSACTIONS_WRITE


@company_page(reads=READ)
def rules(visit: Visit) -> HttpResponse:
    """All of them in their order, and what applying them to what is open would change."""
    names = names_for(visit)
    rows = list(CategorizationRule.objects.of(visit.company.id).with_accounts(visit.company.id).in_order())
    book = rulebook(visit.company)
    run = id_from(visit.request.GET.get("run", ""))
    found = CategorizationRun.objects.of(visit.company.id).filter(id=run).first() if run else None
    return visit.show(
        "ledger/rules/rules.html",
        tab="inbox",
        rules=[
            {"row": row, "words": words_of(row, names), "first": place == 0, "last": place == len(rows) - 1}
            for place, row in enumerate(rows)
        ],
        waiting=applying.preview(company=visit.company, rules=book, selection=OPEN) if book else None,
        run=found,
        writes=visit.may(WRITE),
    )


@company_page(reads=WRITE, writes=WRITE)
def new(visit: Visit) -> HttpResponse:
    """A new rule, filled in from a transaction where the address names one."""
    if visit.sent:
        return sent(visit, None)
    about = id_from(visit.request.GET.get("transaction", ""))
    row = Transaction.objects.of(visit.company.id).filter(id=about).first() if about and visit.may(READ) else None
    if row is None:
        return show_form(visit, Typed(values=values_of(None)))
    found = learned(visit.company, row)
    if found is None:
        return show_form(visit, Typed(values=like_transaction(visit, row)), several=row.categorized_value != 0)
    values = values_of(found.rule)
    if found.rule.given_counterparty and visit.may(Permission.COUNTERPARTIES_READ):
        values["given"] = found.rule.given_counterparty.name
    return show_form(visit, Typed(values=values), preview=found.preview, against=against(visit, found.against))


def against(visit: Visit, examples: list[tuple[UUID, UUID]]) -> list[dict[str, Any]]:
    """What a rule would match and somebody has categorized otherwise."""
    names, rows = names_for(visit), Transaction.objects.of(visit.company.id).in_bulk([row_id for row_id, _ in examples])
    return [
        {
            "row": rows[row_id],
            "title": rows[row_id].from_to or rows[row_id].description,
            "category": names.category(each),
        }
        for row_id, each in examples
    ]


@company_page(reads=WRITE, writes=WRITE)
def edit(visit: Visit, rule_id: UUID) -> HttpResponse:
    """One rule, changed as PUT does."""
    rule = rule_of(visit, rule_id)
    if visit.sent:
        return sent(visit, rule)
    return show_form(visit, Typed(values=values_of(rule)), rule=rule)


def rule_of(visit: Visit, rule_id: UUID) -> CategorizationRule:
    rows = CategorizationRule.objects.of(visit.company.id).with_accounts(visit.company.id)
    rule = rows.filter(id=rule_id).first()
    if rule is None:
        raise Http404
    return rule


def sent(visit: Visit, rule: CategorizationRule | None) -> HttpResponse:
    """Keeps what was typed, or shows what it would do."""
    posted = visit.request.POST
    form = Typed(values=typed_values(posted), fields=FIELDS)
    preview = None
    with visit.sending(form):
        values = parsed(shapes.RuleShape, body_of(visit, form.values, rule))
        if "preview" in posted:
            tried = ruling.tried(company=visit.company, stamp=visit.stamp, values=values)
            preview = applying.preview(company=visit.company, rules=ready([tried], stored=False))
            return show_form(visit, form, rule=rule, preview=preview)
        if rule is None and "transaction" in visit.request.GET and "anyway" not in posted:
            made = learning.tried(visit.company, ruling.tried(company=visit.company, stamp=visit.stamp, values=values))
            if made.against:  # it was offered for one transaction: what it does to others is asked first
                return show_form(visit, form, preview=made.preview, against=against(visit, made.against))
        if rule is None:
            ruling.add(company=visit.company, stamp=visit.stamp, values=values)
            return visit.done(_("{name} was added.").format(name=values["name"]), "rules")
        ruling.change(company=visit.company, stamp=visit.stamp, rule_id=rule.id, values=lambda _: values)
        return visit.done(_("{name} was changed.").format(name=values["name"]), "rules")
    if visit.outdated and rule:
        rule = rule_of(visit, rule.id)
        form.errors = {"row": changed_by(visit, rule)}
    return show_form(visit, form, rule=rule)


def changed_by(visit: Visit, rule: CategorizationRule) -> str:
    """Who changed a rule while its form stood open, and what it says now."""
    actor = rule.last_updated_user_id or ""
    words = words_of(rule, names_for(visit))
    said = _("{who} has changed the rule meanwhile. It says now: “{name}”, {conditions} → {category}. {then}")
    return capfirst(
        said.format(
            who=actors(visit, {actor} - {""}).get(actor, _("the service")),
            name=rule.name,
            conditions=words["conditions"],
            category=words["category"] or _("none"),
            then=_("Nothing was overwritten: look at it, then decide again."),
        )
    )


def typed_values(posted: Any) -> dict[str, Any]:
    values: dict[str, Any] = {name: posted.get(name, "").strip() for name in TYPED}
    return values | {"accounts": posted.getlist("accounts"), "enabled": "enabled" in posted}


@company_page(writes=WRITE)
def move(visit: Visit, rule_id: UUID) -> HttpResponse:
    """Puts a rule one place up or down."""
    with visit.sending():
        ids = list(CategorizationRule.objects.of(visit.company.id).in_order().values_list("id", flat=True))
        if rule_id not in ids:
            raise Missing
        place = ids.index(rule_id)
        other = place + (1 if visit.request.POST.get("to") == "down" else -1)
        if 0 <= other < len(ids):
            ids[place], ids[other] = ids[other], ids[place]
            ruling.arrange(company=visit.company, stamp=visit.stamp, ids=ids)
        return visit.to("rules")
    return visit.to("rules")


@company_page(writes=WRITE)
def delete(visit: Visit, rule_id: UUID) -> HttpResponse:
    """Deletes one; what it assigned stays."""
    with visit.sending():
        ruling.delete(company=visit.company, stamp=visit.stamp, rule_id=rule_id)
        return visit.done(_("The rule was deleted; what it assigned stays."), "rules")
    return visit.to("rules")


@company_page(writes=WRITE)
def apply(visit: Visit) -> HttpResponse:
    """POST categorization_rules/apply, of what is open; the page behind it can take it back."""
    with visit.sending():
        done = applying.apply(company=visit.company, stamp=visit.stamp, selection=OPEN)
        count = done.affected
        said = ngettext(
            "{count} transaction categorized by rules.", "{count} transactions categorized by rules.", count
        )
        response = visit.done(said.format(count=number(count)), "rules")
        if done.affected:
            response["Location"] += f"?run={done.run_id}"
        return response
    return visit.to("rules")


@company_page(writes=WRITE)
def undo(visit: Visit, run_id: UUID) -> HttpResponse:
    """DELETE categorization_runs/{id}."""
    with visit.sending():
        done = applying.take_back(company=visit.company, stamp=visit.stamp, run_id=run_id)
        said = ngettext("{count} transaction taken back.", "{count} transactions taken back.", done.affected)
        return visit.done(with_kept(said, done), "rules")
    return visit.to("rules")


def show_form(
    visit: Visit, form: Typed, *, rule: CategorizationRule | None = None, preview: Preview | None = None, **more: Any
) -> HttpResponse:
    """``more`` for the template: ``against`` is what speaks against the rule, ``several`` that its transaction is for
    several things."""
    names = names_for(visit)
    return visit.show(
        "ledger/rules/rule_form.html",
        status=200 if form.valid else 400,
        tab="inbox",
        form=form,
        rule=rule,
        seen=visit.seen(rule) if rule else "",
        operators=in_choices(OPERATORS),
        accounts=names.account_choices(),
        category_lines=names.lines(),
        currencies=Currency.values,
        date_rules=in_choices(RULES),
        counterparties=suggested(visit),
        preview=preview,
        sample=sample_of(visit, preview) if preview and visit.may(READ) else [],
        **more,
    )


def sample_of(visit: Visit, preview: Preview) -> list[Mapping[str, Any]]:
    """Some of what would change."""
    ids = [each["transaction_id"] for each in preview.sample[:MOST_SHOWN]]
    rows = Transaction.objects.of(visit.company.id).in_bulk(ids)
    return [{"row": rows[each], "title": rows[each].from_to or rows[each].description} for each in ids]
