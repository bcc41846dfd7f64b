// Additions of pages with JavaScript; everything works without. Texts are in attributes of the page: data-text-….
"use strict";

for (const button of document.querySelectorAll("[data-copy]")) {
  const field = document.getElementById(button.dataset.copy);
  const label = button.textContent;
  const texts = { ...document.body.dataset, ...button.dataset };
  const selectText = () => (field.select ? field.select() : getSelection().selectAllChildren(field));
  button.hidden = false;
  field.addEventListener("focus", selectText);
  button.addEventListener("click", async () => {
    selectText();
    try {
      await navigator.clipboard.writeText(field.value ?? field.textContent);
    } catch {
      document.execCommand("copy"); // pages on plain http have no clipboard
    }
    button.textContent = texts.textCopied;
    document.querySelector("[data-copied]").textContent = texts.textCopiedMessage;
    setTimeout(() => (button.textContent = label), 2000);
  });
}

// The table of permissions per resource is shown for the custom preset only.
for (const form of document.querySelectorAll("[data-api-key-form]")) {
  const table = form.querySelector("[data-resources]");
  const updateTable = () => table.classList.toggle("collapsed", form.elements.preset.value !== "custom");
  form.addEventListener("change", (event) => {
    if (event.target.name === "expiry_date") form.elements.expiry.value = "date";
    updateTable();
  });
  updateTable();
}

// The second click of a double click elsewhere must not allow anything: the button is disabled while the page comes to
// the front.
for (const form of document.querySelectorAll("[data-consent]")) {
  const button = form.querySelector("[data-allow]");
  if (button.disabled) continue;
  const disableBriefly = () => {
    button.disabled = true;
    setTimeout(() => (button.disabled = false), 500);
  };
  disableBriefly();
  window.addEventListener("focus", disableBriefly);
  for (const radio of form.querySelectorAll("[name=company]")) {
    const nameCompany = () => {
      const company = radio.parentElement.querySelector("strong").textContent;
      if (radio.checked) button.textContent = button.dataset.textNamed.replace("{company}", () => company);
    };
    radio.addEventListener("change", nameCompany);
    nameCompany();
  }
}

// The second click of a double click must not submit a form again; a page opened with Back can be submitted.
for (const form of document.querySelectorAll("form[method=post]")) {
  let isSubmitted = false;
  form.addEventListener("submit", (event) => {
    if (isSubmitted) event.preventDefault();
    isSubmitted = true;
  });
  window.addEventListener("pageshow", () => (isSubmitted = false));
}

// A table wider than its card scrolls inside it. The card becomes focusable, for the keyboard, and gets a hint below it.
const SCROLL_AREAS = ".table-card, .sheet, .scroll-area, .chart-data .table-scroll";
function updateScrollHint(card) {
  const table = card.querySelector("table");
  const tableWidth = table && getComputedStyle(table).display === "table" ? table.scrollWidth : 0;
  const overflows = tableWidth > card.clientWidth + 1;
  if (overflows === card.classList.contains("overflows")) return;
  card.classList.toggle("overflows", overflows);
  const oldHint = card.nextElementSibling;
  if (oldHint?.matches(".scroll-hint")) oldHint.remove();
  if (card.matches(".table-card")) {
    for (const name of ["tabindex", "role", "aria-label"]) card.removeAttribute(name);
  }
  if (!overflows) return;
  if (card.matches(".table-card")) {
    card.tabIndex = 0;
    card.setAttribute("role", "region");
    card.setAttribute("aria-label", card.querySelector("caption")?.textContent || document.body.dataset.textTable);
  }
  const hint = document.createElement("p");
  hint.className = "scroll-hint";
  const { textScrollHint, textScrollBackHint } = document.body.dataset;
  hint.textContent = card.matches(".from-end") ? textScrollBackHint : textScrollHint;
  card.after(hint);
}
const tableObserver = new ResizeObserver((entries) =>
  entries.forEach((entry) => updateScrollHint(entry.target.closest(SCROLL_AREAS))),
);
const observeTables = (container) => {
  for (const card of container.querySelectorAll(SCROLL_AREAS)) {
    for (const element of [card, ...card.querySelectorAll("table")]) tableObserver.observe(element);
  }
};
observeTables(document);
window.observeTables = observeTables; // for content that replaces other content

// One open confirmation at a time; Escape and a click elsewhere close it.
const listOpenConfirmations = () => document.querySelectorAll("details.confirm[open]");
document.addEventListener("click", (event) => {
  for (const details of listOpenConfirmations()) if (!details.contains(event.target)) details.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const details of listOpenConfirmations()) {
    if (details.contains(document.activeElement)) details.querySelector("summary").focus();
    details.open = false;
  }
});

// Whether a key is a shortcut: no field has the focus, and single keys are not switched off in this browser.
const SHORTCUTS_OFF = "keys-off";
const areShortcutsOff = () => {
  try {
    return localStorage.getItem(SHORTCUTS_OFF) === "1";
  } catch {
    return false; // storage is not available
  }
};
window.isShortcut = (event) =>
  !(event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || areShortcutsOff()) &&
  !event.target.closest("input:not([type=checkbox], [type=radio]), select, textarea, dialog, [contenteditable]");
const setUpShortcutSwitch = (container) => {
  for (const box of container.querySelectorAll("[data-shortcut-switch]")) {
    box.closest("label").hidden = false;
    box.checked = !areShortcutsOff();
    box.addEventListener("change", () => (box.checked ? localStorage.removeItem(SHORTCUTS_OFF) : localStorage.setItem(SHORTCUTS_OFF, "1")));
  }
};
setUpShortcutSwitch(document);

// "/" opens the search and "?" the list of shortcuts in a dialog; without JavaScript both are pages. The dialog opens at once;
// text typed before its page has loaded is kept.
async function openDialog(address) {
  const dialog = document.createElement("dialog");
  dialog.className = "page-dialog";
  dialog.setAttribute("aria-label", document.body.dataset.textOpening);
  const earlyField = document.createElement("input");
  earlyField.setAttribute("aria-label", document.body.dataset.textSearch);
  dialog.append(earlyField);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  const page = await fetchDocument(address);
  const main = page?.getElementById("main");
  if (!main) return location.assign(address);
  const close = document.createElement("button");
  close.className = "link quiet dialog-close";
  close.type = "button";
  close.textContent = document.body.dataset.textClose;
  close.addEventListener("click", () => dialog.close());
  dialog.setAttribute("aria-label", page.title);
  dialog.replaceChildren(...main.childNodes, close);
  setUpShortcutSwitch(dialog);
  setUpSearch(dialog);
  const field = dialog.querySelector("input[name=q]");
  if (!field) return close.focus();
  field.value = earlyField.value;
  field.focus();
  if (earlyField.value) field.dispatchEvent(new Event("input", { bubbles: true }));
}
async function fetchDocument(address) {
  try {
    const response = await fetch(address);
    return response.ok ? new DOMParser().parseFromString(await response.text(), "text/html") : null;
  } catch {
    return null;
  }
}
function setUpSearch(container) {
  for (const form of container.querySelectorAll("[data-search-form]")) {
    const results = container.querySelector("[data-results]");
    let timer = 0;
    form.elements.q.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(async () => {
        const text = form.elements.q.value;
        const page = await fetchDocument(form.action + "?" + new URLSearchParams({ q: text }));
        const newResults = page?.querySelector("[data-results]");
        if (newResults && text === form.elements.q.value) results.replaceChildren(...newResults.childNodes);
      }, 200);
    });
  }
}
setUpSearch(document);
for (const link of document.querySelectorAll("a:is([data-search], [data-shortcuts])")) {
  link.addEventListener("click", (event) => {
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || link.hasAttribute("aria-current")) return;
    event.preventDefault();
    openDialog(link.href);
  });
}
document.addEventListener("keydown", (event) => {
  if (!["/", "?"].includes(event.key) || !window.isShortcut(event) || document.querySelector("dialog[open]")) return;
  const search = document.querySelector("[data-search]");
  const address = event.key === "/" ? search?.href : document.body.dataset.shortcutsUrl;
  if (!address) return;
  event.preventDefault();
  if (new URL(address, location.href).pathname !== location.pathname) openDialog(address);
  else if (event.key === "/") document.querySelector("[data-search-form] [name=q]")?.focus();
});

// After an action the focus is on its result: the first invalid field, else the message. Returns whether there is one.
window.focusResult = (container) => {
  const findVisible = (selector) => [...container.querySelectorAll(selector)].find((element) => element.checkVisibility());
  const invalidField = findVisible('[aria-invalid="true"]');
  const hasAutofocus = container.querySelector("[autofocus]");
  const result = invalidField ?? (hasAutofocus ? null : findVisible(".notice[role=alert], [data-result]"));
  if (result && result !== invalidField) result.tabIndex = -1;
  result?.focus();
  return Boolean(result);
};
if (!location.hash) window.focusResult(document.getElementById("main"));

// Shortcuts of the inbox: j and k move between rows; other keys press the button of the row that has them.
const reviewRows = [...document.querySelectorAll("[data-review-row]")];
for (const hint of document.querySelectorAll("[data-shortcut-hint]")) hint.hidden = areShortcutsOff();
document.addEventListener("keydown", (event) => {
  if (!reviewRows.length && event.key !== "u") return;
  const row = event.target.closest("[data-review-row]");
  if (row && event.target.matches("select")) {
    if (event.key === "Escape") row.focus();
    if (event.key === "Enter" && event.target.value) {
      event.preventDefault();
      event.target.form.requestSubmit();
    }
    return;
  }
  if (!window.isShortcut(event)) return;
  const step = { j: 1, s: row && 1, k: -1 }[event.key];
  const container = event.key === "u" ? document : row; // Undo is above all rows
  const button =
    container && !event.repeat && /^[a-z0-9]$/.test(event.key) && container.querySelector(`[data-shortcut-key="${event.key}"]`);
  if (!step && !button) return;
  event.preventDefault();
  const closed = button?.closest("details:not([open])");
  if (step) reviewRows[row ? reviewRows.indexOf(row) + step : 0]?.focus();
  else if (closed && !button.checkVisibility()) closed.open = true; // nothing is done that is not seen
  else if (button.matches("select")) button.focus();
  else button.click();
});
// Focus the row named in the address, else the first row, else the message that all is done. After the last row of a kind the
// result message gets the focus, so that the same key does not act on a row that was skipped.
const doneMessage = document.getElementById("done");
if (location.hash === "#done" && !doneMessage) window.focusResult(document.getElementById("main"));
else if (/^#([top]-|done)/.test(location.hash) && (reviewRows.length || document.querySelector(".inbox-empty")))
  (document.getElementById(location.hash.slice(1)) ?? reviewRows[0] ?? doneMessage)?.focus();

for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}

for (const select of document.querySelectorAll("[data-browser-time-zone]")) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if ([...select.options].some((option) => option.value === zone)) select.value = zone;
  // The standard VAT rate is that of the time zone's country until it is typed.
  const taxField = document.getElementById("standardTaxPercent");
  const suggestTax = () => (taxField.value = select.selectedOptions[0].dataset.standardTax ?? "");
  select.addEventListener("change", suggestTax);
  taxField.addEventListener("input", () => select.removeEventListener("change", suggestTax));
  suggestTax();
}

for (const box of document.querySelectorAll("[data-shows-password]")) {
  box.closest("label").hidden = false;
  box.addEventListener("change", () => (document.getElementById(box.dataset.showsPassword).type = box.checked ? "text" : "password"));
}
