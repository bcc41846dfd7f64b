// What pages can do besides, where there is JavaScript; everything works without.
"use strict";

for (const button of document.querySelectorAll("[data-copy]")) {
  const field = document.getElementById(button.dataset.copy);
  const select = () => (field.select ? field.select() : getSelection().selectAllChildren(field));
  button.hidden = false;
  field.addEventListener("focus", select);
  button.addEventListener("click", async () => {
    select();
    try {
      await navigator.clipboard.writeText(field.value ?? field.textContent);
    } catch {
      document.execCommand("copy"); // pages on plain http have no clipboard
    }
    button.textContent = "Copied";
    document.querySelector("[data-copied]").textContent = "It was copied.";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
}

// The table of resources is for the third choice; choosing a level in it chooses that.
for (const form of document.querySelectorAll("[data-key-form]")) {
  const table = form.querySelector("[data-resources]");
  const show = () => table.classList.toggle("closed", form.elements.preset.value !== "custom");
  form.addEventListener("change", (event) => {
    if (event.target.name === "expiry_date") form.elements.expiry.value = "date";
    show();
  });
  show();
}

// A second click of a double click elsewhere must not allow anything: the button rests while the page comes to the front.
for (const form of document.querySelectorAll("[data-consent]")) {
  const button = form.querySelector("[data-allow]");
  if (button.disabled) continue;
  const rest = () => {
    button.disabled = true;
    setTimeout(() => (button.disabled = false), 500);
  };
  rest();
  window.addEventListener("focus", rest);
  for (const radio of form.querySelectorAll("[name=company]")) {
    const name = () => {
      if (radio.checked) button.textContent = "Allow access to " + radio.parentElement.querySelector("strong").textContent;
    };
    radio.addEventListener("change", name);
    name();
  }
}

// A box above the rows ticks all of them; how many are ticked is told.
for (const form of document.querySelectorAll("[data-bulk]")) {
  const all = form.querySelector("[data-tick-all]");
  if (!all) continue;
  const boxes = [...form.querySelectorAll("[name=id]")];
  const count = () => {
    const ticked = boxes.filter((box) => box.checked).length;
    all.checked = ticked === boxes.length;
    all.indeterminate = ticked > 0 && ticked < boxes.length;
    form.querySelector("[data-ticked]").textContent = ticked ? ticked + " ticked" : "";
  };
  all.hidden = false;
  form.addEventListener("change", (event) => {
    if (event.target === all) for (const box of boxes) box.checked = all.checked;
    count();
  });
  count();
}

// The second click of a double click must book, plan or add nothing once more; a page that is gone back to starts anew.
for (const form of document.querySelectorAll("form[method=post]")) {
  let sent = false;
  form.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
  });
  window.addEventListener("pageshow", () => (sent = false));
}

// One open confirmation at a time; Escape and a click elsewhere close it.
const confirmations = document.querySelectorAll("details.confirm");
document.addEventListener("click", (event) => {
  for (const each of confirmations) if (!each.contains(event.target)) each.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") for (const each of confirmations) each.open = false;
});

// Keys of the inbox, while one of its rows has the focus: each presses what is marked with it.
for (const list of document.querySelectorAll("[data-inbox]")) {
  const rows = [...list.querySelectorAll("[data-waits]")];
  for (const keys of document.querySelectorAll("[data-keys]")) keys.hidden = false;
  list.addEventListener("keydown", (event) => {
    const row = event.target.closest("[data-waits]");
    if (!row || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, input")) return;
    const step = { j: 1, s: 1, k: -1 }[event.key];
    if (step) {
      rows[rows.indexOf(row) + step]?.focus();
      event.preventDefault();
      return;
    }
    const act = /^[a-z0-9]$/.test(event.key) && row.querySelector(`[data-key="${event.key}"]`);
    if (!act) return;
    event.preventDefault();
    if (act.matches("select")) act.focus();
    else act.click();
  });
}
if (location.hash === "#waiting") document.querySelector("#waiting [data-waits]")?.focus();
else if (document.querySelector("[data-inbox]") && location.hash.startsWith("#t-")) document.getElementById(location.hash.slice(1))?.focus();
