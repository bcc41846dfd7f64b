// Updates the list of transactions without reloading the page: filters, pages, a category selected in a row and bulk actions
// replace the list by the response, and the address follows. Without JavaScript they are links and forms.
"use strict";

const getLiveRegion = () => document.querySelector("[data-live-region]");
let requestCount = 0; // only the response to the latest request is shown

const announcement = document.createElement("p");
announcement.className = "sr";
announcement.setAttribute("role", "alert");
document.body.append(announcement);

// Loads a page and shows its content; a page without this list is opened as usual.
async function loadList(address, { body, push = true } = {}) {
  const requestNumber = ++requestCount;
  getLiveRegion().setAttribute("aria-busy", "true");
  let response, html;
  try {
    response = await fetch(address, body ? { method: "POST", body, headers: { Accept: "text/html" } } : {});
    html = await response.text();
  } catch {
    getLiveRegion().removeAttribute("aria-busy");
    announcement.textContent = getLiveRegion().dataset.textNoResponse;
    return;
  }
  if (requestNumber !== requestCount) return;
  const page = new DOMParser().parseFromString(html, "text/html");
  if (!page.querySelector("[data-live-region]")) {
    location.assign(response.url);
    return;
  }
  if (push && (!body || response.redirected)) history.pushState({}, "", response.url);
  replaceContent(page, body);
}

function replaceContent(page, body) {
  const focusedId = document.activeElement?.id;
  const selectedIds = new Set([...document.querySelectorAll("[data-bulk-form] [name=id]:checked")].map((box) => box.value));
  const main = document.getElementById("main");
  main.replaceChildren(...page.getElementById("main").childNodes);
  const isSingleCategorization = body && body.get("act") === "categorize" && body.getAll("id").length === 1;
  if (isSingleCategorization)
    for (const box of main.querySelectorAll("[data-bulk-form] [name=id]")) if (selectedIds.has(box.value)) box.checked = true;
  document.title = page.title;
  window.observeTables?.(main);
  const navigation = document.querySelector(".company-sidebar .sidebar-nav"); // shows the number of transactions to review
  if (navigation) navigation.replaceWith(page.querySelector(".company-sidebar .sidebar-nav"));
  const confirmation = main.querySelector("[data-bulk-confirmation]");
  const focusedElement = focusedId && document.getElementById(focusedId);
  if (confirmation) confirmation.focus();
  else if (!(body && window.focusResult(main)) && focusedElement) focusedElement.focus({ preventScroll: true });
  announcement.textContent = [...main.querySelectorAll(".notice")].map((notice) => notice.textContent.trim()).join(" ");
  updateSelection();
}

function readFormValues(form, button) {
  const values = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === "string") values.append(name, value);
  if (button?.name) values.append(button.name, button.value);
  return values;
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || !form.closest("[data-live-region]")) return;
  const address = new URL(form.getAttribute("action") || location.href, location.href);
  if (address.pathname !== location.pathname) return; // the form of another page
  event.preventDefault();
  const values = readFormValues(form, event.submitter);
  if (form.method === "post") {
    if (!getLiveRegion().hasAttribute("aria-busy")) loadList(address, { body: values });
    return;
  }
  for (const [name, value] of [...values]) if (!value) values.delete(name, value);
  address.search = values;
  loadList(address);
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (!link.closest("[data-live-region]")) return;
  if (link.dataset.transactionId) {
    event.preventDefault();
    openCategorySelect(link);
  } else if (link.pathname === location.pathname && !link.hasAttribute("download")) {
    event.preventDefault();
    const isPagination = link.closest(".pager");
    loadList(link.href).then(() => isPagination && document.querySelector(".transaction-list")?.scrollIntoView({ block: "nearest" }));
  }
});

window.addEventListener("popstate", () => loadList(location.href, { push: false }));

// Replaces the category of a row by a select; selecting a category saves it.
function openCategorySelect(link) {
  const bulkSelect = document.getElementById("category");
  if (!bulkSelect) {
    location.assign(link.href);
    return;
  }
  const row = link.closest("[data-row]");
  const select = bulkSelect.cloneNode(true);
  for (const name of ["id", "name", "aria-invalid", "aria-describedby"]) select.removeAttribute(name);
  select.value = "";
  const transactionName = row.querySelector(".name-cell a").textContent;
  select.setAttribute("aria-label", getLiveRegion().dataset.textCategory.replace("{what}", () => transactionName));
  link.hidden = true;
  link.after(select);
  select.focus();
  let isClosed = false; // removing the select makes it lose the focus, which would close it again
  const closeSelect = () => {
    if (isClosed) return;
    isClosed = true;
    select.remove();
    link.hidden = false;
  };
  const saveCategory = () => {
    if (!select.value || isClosed) return;
    isClosed = true;
    const form = select.closest("form");
    const body = new URLSearchParams({ act: "categorize", id: link.dataset.transactionId, category: select.value });
    body.set("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
    body.set("version", row.querySelector("[name=version]").value);
    const rowIndex = [...document.querySelectorAll("[data-row]")].indexOf(row);
    loadList(form.action, { body }).then(() => getRowLink(rowIndex)?.focus({ preventScroll: true }));
  };
  let isKeyboardSelection = false; // arrow keys pass through categories: Enter or leaving the select saves the current one
  select.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      closeSelect();
      link.focus();
    }
    isKeyboardSelection = /^Arrow|^.$/.test(event.key) || (isKeyboardSelection && event.key !== "Enter");
  });
  select.addEventListener("change", () => isKeyboardSelection || saveCategory());
  select.addEventListener("keyup", (event) => event.key === "Enter" && saveCategory());
  select.addEventListener("blur", () => (select.value ? saveCategory() : closeSelect()));
}

const getRowLink = (index) => document.querySelectorAll("[data-row]")[index]?.querySelector(".name-cell a");

// Updates the checkbox that selects all rows, and the number and sums of the selected transactions.
function updateSelection() {
  const form = document.querySelector("[data-bulk-form]");
  const selectAllBox = form?.querySelector("[data-select-all]");
  if (!selectAllBox) return;
  const boxes = [...form.querySelectorAll("[name=id]")];
  const selectedBoxes = boxes.filter((box) => box.checked);
  selectAllBox.hidden = false;
  selectAllBox.checked = selectedBoxes.length === boxes.length;
  selectAllBox.indeterminate = selectedBoxes.length > 0 && !selectAllBox.checked;
  const isWholeListSelected = form.querySelector("[name=whole]")?.checked;
  const text = isWholeListSelected || !selectedBoxes.length ? "" : formatSelection(selectedBoxes);
  const summary = form.querySelector("[data-selection-summary]");
  if (summary) summary.textContent = text;
  for (const sentence of form.querySelectorAll("[data-selection-sentence]")) sentence.textContent = text && text + ".";
}

function formatSelection(boxes) {
  const sums = new Map(); // currency → sum in units of 0.0001
  for (const { dataset } of boxes) {
    sums.set(dataset.currency, (sums.get(dataset.currency) ?? 0n) + BigInt(dataset.amount.replace(".", "")));
  }
  const amounts = [...sums].map(([currency, sum]) => formatMoney(sum, currency));
  return [getLiveRegion().dataset.textSelected.replace("{n}", boxes.length), ...amounts].join(" · ");
}

// Formats an amount in units of 0.0001: 1234500n EUR is €123.45.
function formatMoney(sum, currency) {
  const format = new Intl.NumberFormat(document.documentElement.dataset.locale, { style: "currency", currency });
  const digits = String(sum < 0n ? -sum : sum).padStart(5, "0");
  return format.format((sum < 0n ? "-" : "") + digits.replace(/(\d{4})$/, ".$1")).replace("-", "−");
}

document.addEventListener("change", (event) => {
  const form = event.target.closest("[data-bulk-form]");
  if (!form) return;
  if (event.target.matches("[data-select-all]")) for (const box of form.querySelectorAll("[name=id]")) box.checked = event.target.checked;
  updateSelection();
});
updateSelection();

// Shortcuts of the list; site.js has those of all pages.
document.addEventListener("keydown", (event) => {
  if (!window.isShortcut?.(event)) return;
  const rows = [...document.querySelectorAll("[data-row]")];
  const activeIndex = rows.indexOf(document.activeElement?.closest("[data-row]"));
  const runShortcut = {
    j: () => getRowLink(Math.min(activeIndex + 1, rows.length - 1))?.focus(),
    k: () => getRowLink(Math.max(activeIndex - 1, 0))?.focus(),
    x: () => rows[activeIndex]?.querySelector("[name=id]")?.click(),
    c: () => rows[activeIndex]?.querySelector(".category-link")?.click(),
    n: () => document.querySelector(".pager [rel=next]")?.click(),
    p: () => document.querySelector(".pager [rel=prev]")?.click(),
  }[event.key];
  if (!runShortcut) return;
  event.preventDefault();
  runShortcut();
});
