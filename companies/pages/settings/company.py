"""A company's own facts: started, changed, and its logo."""

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from companies.locales import current
from companies.logos import own as logos
from companies.membership import founding
from companies.models import Company, Currency, SystemStatus, ValuationCategory, ValuationLens
from companies.pages.typed import Typed, typed
from companies.pages.visits import Visit, company_page, page_stamp, person, prove_again, sending, signed_in
from companies.permissions import Permission
from companies.serializers import CompanyShape, NewCompany
from companies.time_zones import list_regional_time_zones

TEXTS = ("name", "timeZone", "domain", "valuationCategory", "valuationLens")
FLAGS = ("plShowPlanningPercentageForPastMonths", "plShowAllCategories", "plRecognizeRevenueOnInvoice")
MANAGED = ("baseCurrency", "dataStartDate")  # those need company:manage; to others they are not even sent
DEMANDED = ("requireSecondFactor",)
CATEGORIES = {
    ValuationCategory.TRADITIONAL: gettext_lazy("Traditional B2B SaaS"),
    ValuationCategory.AI_ENHANCED: gettext_lazy("SaaS enhanced by AI"),
    ValuationCategory.AI_NATIVE: gettext_lazy("AI native"),
}
LENSES = {
    ValuationLens.FUNDRAISING: gettext_lazy("Fundraising"),
    ValuationLens.ACQUISITION: gettext_lazy("Acquisition"),
}
STATUSES = {
    SystemStatus.SANDBOX: gettext_lazy("sandbox"),
    SystemStatus.TRIAL: gettext_lazy("trial"),
    SystemStatus.FREE: gettext_lazy("free"),
    SystemStatus.PAID: gettext_lazy("paid"),
    SystemStatus.CANCELLED: gettext_lazy("cancelled"),
    SystemStatus.EXPIRED: gettext_lazy("expired"),
    SystemStatus.BETA: gettext_lazy("beta"),
}


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Starts a company; who starts it owns it."""
    form = Typed(values={"name": "", "baseCurrency": Currency.EUR.value, "domain": ""})
    if request.method == "POST":
        form = typed(NewCompany, request.POST, texts=("name", "baseCurrency", "domain"))
        if form.valid:
            stamp = page_stamp(request)
            with sending(request, form):
                company, _owner = founding.found_company(**form.data, owner=person(request), stamp=stamp)
                said = _("{company} is ready. Its trial lasts until {day}.")
                messages.success(request, said.format(company=company.name, day=day_after_trial(company)))
                return redirect("company", company_id=company.id)
    context = {"form": form, "currencies": Currency.values}
    return render(request, "companies/new.html", context, status=400 if form.errors else 200)


def day_after_trial(company: Company) -> str:
    last = (company.system_trial_until or timezone.now()) - timedelta(seconds=1)
    return current().long(last)


@company_page(reads=Permission.COMPANY_READ, writes=Permission.COMPANY_WRITE)
def edit(visit: Visit) -> HttpResponse:
    """The company's facts; what everyone's figures hang on needs company:manage."""
    manages = visit.may(Permission.COMPANY_MANAGE)
    if visit.request.method != "POST":
        return shown(visit, Typed(values=CompanyShape(visit.company).data))
    form = typed(
        CompanyShape,
        visit.request.POST,
        texts=(*TEXTS, *(MANAGED if manages else ())),
        flags=(*FLAGS, *(DEMANDED if manages else ())),
        partial=True,
    )
    if form.valid and manages and form.data["require_second_factor"] != visit.company.require_second_factor:
        asks = _("Change whether members need a second factor.")
        if asking := prove_again(visit.request, then=visit.request.path, asks=lambda: asks):
            return asking
    if form.valid:
        with visit.sending(form):
            founding.change_company(
                company=visit.company, stamp=visit.stamp, permissions=visit.access.permissions, values=form.data
            )
            return visit.done(_("The company was saved."), "company-settings")
    return shown(visit, form)


def shown(visit: Visit, form: Typed) -> HttpResponse:
    return visit.show(
        "settings/company.html",
        status=400 if form.errors else 200,
        section="company",
        form=form,
        seen=visit.seen(visit.company),
        currencies=Currency.values,
        time_zones=sorted({*list_regional_time_zones(), visit.company.time_zone}),
        categories=CATEGORIES,
        lenses=LENSES,
        status_word=STATUSES[SystemStatus(visit.company.system_status)],
        writes=visit.may(Permission.COMPANY_WRITE),
        manages=visit.may(Permission.COMPANY_MANAGE),
    )


@company_page(writes=Permission.COMPANY_WRITE, uploads=True)
def logo(visit: Visit) -> HttpResponse:
    """Another logo, or none of the company's own."""
    upload: Any = visit.request.FILES.get("logo")
    if upload is None and "remove" not in visit.request.POST:
        messages.error(visit.request, _("Choose a PNG image first."))
        return redirect("company-settings", company_id=visit.company.id)
    with visit.sending():
        png = None if "remove" in visit.request.POST else logos.uploaded_png(upload)
        logos.replace_logo(company=visit.company, stamp=visit.stamp, png=png)
        said = _("The logo was removed.") if png is None else _("The logo was replaced.")
        return visit.done(said, "company-settings")
    return visit.to("company-settings")
