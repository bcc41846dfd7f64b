// What pages can do besides, where there is JavaScript; everything works without. What it says is the page's: data-say-….
"use strict";

for (const button of document.querySelectorAll("[data-copy]")) {
  const field = document.getElementById(button.dataset.copy);
  const copy = button.textContent;
  const says = { ...document.body.dataset, ...button.dataset };
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
    button.textContent = says.sayCopied;
    document.querySelector("[data-copied]").textContent = says.sayDone;
    setTimeout(() => (button.textContent = copy), 2000);
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
      const company = radio.parentElement.querySelector("strong").textContent;
      if (radio.checked) button.textContent = button.dataset.sayNamed.replace("{company}", () => company);
    };
    radio.addEventListener("change", name);
    name();
  }
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

// A table that is wider than its card scrolls in it: it can be reached by keyboard, and a line below says that there is more.
function tellCut(card) {
  const table = card.querySelector("table");
  const across = table && getComputedStyle(table).display === "table" ? table.scrollWidth : 0;
  const cut = across > card.clientWidth + 1;
  if (cut === card.classList.contains("cut")) return;
  card.classList.toggle("cut", cut);
  const below = card.nextElementSibling;
  if (below?.matches(".cut-hint")) below.remove();
  if (!cut) {
    for (const name of ["tabindex", "role", "aria-label"]) card.removeAttribute(name);
    return;
  }
  card.tabIndex = 0;
  card.setAttribute("role", "region");
  card.setAttribute("aria-label", card.querySelector("caption")?.textContent || document.body.dataset.sayTable);
  const hint = document.createElement("p");
  hint.className = "cut-hint";
  hint.textContent = document.body.dataset.sayCut;
  card.after(hint);
}
const watched = new ResizeObserver((seen) => seen.forEach((each) => tellCut(each.target.closest(".table-card"))));
const watchTables = (place) => {
  for (const part of place.querySelectorAll(".table-card, .table-card table")) watched.observe(part);
};
watchTables(document);
window.watchTables = watchTables; // for a list that is put in place of another

// One open confirmation at a time; Escape and a click elsewhere close it.
const confirmations = () => document.querySelectorAll("details.confirm[open]");
document.addEventListener("click", (event) => {
  for (const each of confirmations()) if (!each.contains(event.target)) each.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const each of confirmations()) {
    if (each.contains(document.activeElement)) each.querySelector("summary").focus();
    each.open = false;
  }
});

// Whether a key is meant for the page: nothing is typed into, and single keys are not switched off in this browser.
const OFF = "keys-off";
const switchedOff = () => {
  try {
    return localStorage.getItem(OFF) === "1";
  } catch {
    return false; // storage is refused: then there is nothing to remember either
  }
};
window.keysHeard = (event) =>
  !(event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || switchedOff()) &&
  !event.target.closest("input:not([type=checkbox], [type=radio]), select, textarea, dialog, [contenteditable]");
const setKeys = (place) => {
  for (const box of place.querySelectorAll("[data-keys-on]")) {
    box.closest("label").hidden = false;
    box.checked = !switchedOff();
    box.addEventListener("change", () => (box.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "1")));
  }
};
setKeys(document);

// "/" searches and "?" lists the keys, in a box above the page; without JavaScript both are pages. The box stands there at
// once, and what is typed before the page has come is searched for then.
async function openBox(address) {
  const box = document.createElement("dialog");
  box.className = "box";
  box.setAttribute("aria-label", document.body.dataset.sayOpening);
  const early = document.createElement("input");
  early.setAttribute("aria-label", document.body.dataset.saySearch);
  box.append(early);
  box.addEventListener("close", () => box.remove());
  box.addEventListener("click", (event) => event.target === box && box.close());
  document.body.append(box);
  box.showModal();
  const page = await parsed(address);
  const main = page?.getElementById("main");
  if (!main) return location.assign(address);
  const close = document.createElement("button");
  close.className = "link quiet box-close";
  close.type = "button";
  close.textContent = document.body.dataset.sayClose;
  close.addEventListener("click", () => box.close());
  box.setAttribute("aria-label", page.title);
  box.replaceChildren(...main.childNodes, close);
  setKeys(box);
  searching(box);
  const field = box.querySelector("input[name=q]");
  if (!field) return close.focus();
  field.value = early.value;
  field.focus();
  if (early.value) field.dispatchEvent(new Event("input", { bubbles: true }));
}
async function parsed(address) {
  try {
    const answer = await fetch(address);
    return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  } catch {
    return null;
  }
}
function searching(place) {
  for (const form of place.querySelectorAll("[data-searching]")) {
    const results = place.querySelector("[data-results]");
    let timer = 0;
    form.elements.q.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(async () => {
        const text = form.elements.q.value;
        const page = await parsed(form.action + "?" + new URLSearchParams({ q: text }));
        const found = page?.querySelector("[data-results]");
        if (found && text === form.elements.q.value) results.replaceChildren(...found.childNodes);
      }, 200);
    });
  }
}
searching(document);
for (const link of document.querySelectorAll("a:is([data-search], [data-shortcuts])")) {
  link.addEventListener("click", (event) => {
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || link.hasAttribute("aria-current")) return;
    event.preventDefault();
    openBox(link.href);
  });
}
document.addEventListener("keydown", (event) => {
  if (!["/", "?"].includes(event.key) || !window.keysHeard(event) || document.querySelector("dialog[open]")) return;
  const search = document.querySelector("[data-search]");
  const address = event.key === "/" ? search?.href : document.body.dataset.shortcuts;
  if (!address) return;
  event.preventDefault();
  if (new URL(address, location.href).pathname !== location.pathname) openBox(address);
  else if (event.key === "/") document.querySelector("[data-searching] [name=q]")?.focus();
});

// A page that is drawn anew after an act begins where the act ended: on the first field that was refused, else on what is
// said of it. Answers whether there was something.
window.begin = (place) => {
  const seen = (choice) => [...place.querySelectorAll(choice)].find((each) => each.checkVisibility());
  const wrong = seen('[aria-invalid="true"]');
  const first = wrong ?? (place.querySelector("[autofocus]") ? null : seen(".notice[role=alert], [data-said]"));
  if (first && first !== wrong) first.tabIndex = -1;
  first?.focus();
  return Boolean(first);
};
if (!location.hash) window.begin(document.getElementById("main"));

// Keys of the inbox: j goes to its first row, and on a row each presses what is marked with it.
const waits = [...document.querySelectorAll("[data-waits]")];
for (const keys of document.querySelectorAll("[data-keys]")) keys.hidden = switchedOff();
document.addEventListener("keydown", (event) => {
  if (!waits.length && event.key !== "u") return;
  const row = event.target.closest("[data-waits]");
  if (row && event.target.matches("select")) {
    if (event.key === "Escape") row.focus();
    if (event.key === "Enter" && event.target.value) {
      event.preventDefault();
      event.target.form.requestSubmit();
    }
    return;
  }
  if (!window.keysHeard(event)) return;
  const step = { j: 1, s: row && 1, k: -1 }[event.key];
  const place = event.key === "u" ? document : row; // what was just done stands above all rows
  const act = place && !event.repeat && /^[a-z0-9]$/.test(event.key) && place.querySelector(`[data-key="${event.key}"]`);
  if (!step && !act) return;
  event.preventDefault();
  if (step) waits[row ? waits.indexOf(row) + step : 0]?.focus();
  else if (act.matches("select")) act.focus();
  else act.click();
});
// The row that the address names has the focus; where it is gone the first one has it, or the word that all is done.
// After the last of its kind that word is what was said of it, lest the same key does something with what was skipped.
const done = document.getElementById("done");
if (location.hash === "#done" && !done) window.begin(document.getElementById("main"));
else if (/^#([top]-|done)/.test(location.hash) && (waits.length || document.querySelector(".inbox-empty")))
  (document.getElementById(location.hash.slice(1)) ?? waits[0] ?? done)?.focus();

for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}
