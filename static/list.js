// The list of transactions without reloading: filters, pages, a category chosen in its row and acts on many put the answer
// in the place of the list, and the address says what is seen. Without JavaScript all of it are links and forms.
"use strict";

const live = () => document.querySelector("[data-live]");
let requestCount = 0; // of several answers the one requested last is shown

const announcement = document.createElement("p");
announcement.className = "sr";
announcement.setAttribute("role", "alert");
document.body.append(announcement);

// Shows what an address answers in place of the list; whatever else answers is opened as a page of its own.
async function show(address, { body, push = true } = {}) {
  const number = ++requestCount;
  live().setAttribute("aria-busy", "true");
  let answer, text;
  try {
    answer = await fetch(address, body ? { method: "POST", body, headers: { Accept: "text/html" } } : {});
    text = await answer.text();
  } catch {
    live().removeAttribute("aria-busy");
    announcement.textContent = live().dataset.textSilent;
    return;
  }
  if (number !== requestCount) return;
  const page = new DOMParser().parseFromString(text, "text/html");
  if (!page.querySelector("[data-live]")) {
    location.assign(answer.url);
    return;
  }
  const held = document.activeElement;
  const ticks = new Set([...document.querySelectorAll("[data-bulk] [name=id]:checked")].map((box) => box.value));
  const main = document.getElementById("main");
  main.replaceChildren(...page.getElementById("main").childNodes);
  if (body && body.get("act") === "categorize" && body.getAll("id").length === 1)
    for (const box of main.querySelectorAll("[data-bulk] [name=id]")) if (ticks.has(box.value)) box.checked = true;
  document.title = page.title;
  window.observeTables?.(main);
  const links = document.querySelector(".of-company .sidebar-nav"); // what waits in the inbox is counted there
  if (links) links.replaceWith(page.querySelector(".of-company .sidebar-nav"));
  if (push && (!body || answer.redirected)) history.pushState({}, "", answer.url);
  const question = main.querySelector("[data-question]");
  const again = held && held.id && document.getElementById(held.id);
  if (question) question.focus();
  else if (!(body && window.focusResult(main)) && again) again.focus({ preventScroll: true });
  announcement.textContent = [...main.querySelectorAll(".notice")].map((each) => each.textContent.trim()).join(" ");
  tell();
}

const submitted = (form, button) => {
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === "string") body.append(name, value);
  if (button?.name) body.append(button.name, button.value);
  return body;
};

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || !form.closest("[data-live]")) return;
  const address = new URL(form.getAttribute("action") || location.href, location.href);
  if (address.pathname !== location.pathname) return; // of another page
  event.preventDefault();
  const body = submitted(form, event.submitter);
  if (form.method === "post") {
    if (!live().hasAttribute("aria-busy")) show(address, { body });
    return;
  }
  for (const [name, value] of [...body]) if (!value) body.delete(name, value);
  address.search = body;
  show(address);
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (!link.closest("[data-live]")) return;
  if (link.dataset.choose) {
    event.preventDefault();
    choose(link);
  } else if (link.pathname === location.pathname && !link.hasAttribute("download")) {
    event.preventDefault();
    const paging = link.closest(".pager");
    show(link.href).then(() => paging && document.querySelector(".movements")?.scrollIntoView({ block: "nearest" }));
  }
});

window.addEventListener("popstate", () => show(location.href, { push: false }));

// A category for one row: the list of categories comes to it, and choosing one is all.
function choose(link) {
  const all = document.getElementById("category");
  if (!all) {
    location.assign(link.href);
    return;
  }
  const list = all.cloneNode(true);
  for (const name of ["id", "name", "aria-invalid", "aria-describedby"]) list.removeAttribute(name);
  list.value = "";
  const what = link.closest("[data-row]").querySelector(".what a").textContent;
  list.setAttribute("aria-label", live().dataset.textCategory.replace("{what}", () => what));
  link.hidden = true;
  link.after(list);
  list.focus();
  let over = false; // what is removed loses the focus, and would be left once more
  const leave = () => {
    if (over) return;
    over = true;
    list.remove();
    link.hidden = false;
  };
  list.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    leave();
    link.focus();
  });
  let keyed = false; // arrow keys pass by categories: Enter, or leaving, takes the one that they came to
  list.addEventListener("keydown", (event) => (keyed = /^Arrow|^.$/.test(event.key) || (keyed && event.key !== "Enter")));
  const take = () => {
    if (!list.value || over) return;
    over = true;
    const form = list.closest("form");
    const body = new URLSearchParams({ act: "categorize", id: link.dataset.choose, category: list.value });
    body.set("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
    body.set("version", list.closest("[data-row]").querySelector("[name=version]").value);
    const row = [...document.querySelectorAll("[data-row]")].indexOf(list.closest("[data-row]"));
    show(form.action, { body }).then(() => rowLink(row)?.focus({ preventScroll: true }));
  };
  list.addEventListener("change", () => keyed || take());
  list.addEventListener("keyup", (event) => event.key === "Enter" && take());
  list.addEventListener("blur", () => (list.value ? take() : leave()));
}

const rowLink = (number) => document.querySelectorAll("[data-row]")[number]?.querySelector(".what a");

// A box above the rows ticks all of them; how many are ticked is told, and what they come to, currency by currency.
function tell() {
  const form = document.querySelector("[data-bulk]");
  const all = form?.querySelector("[data-tick-all]");
  if (!all) return;
  const boxes = [...form.querySelectorAll("[name=id]")];
  const ticked = boxes.filter((box) => box.checked);
  all.hidden = false;
  all.checked = ticked.length === boxes.length;
  all.indeterminate = ticked.length > 0 && !all.checked;
  const whole = form.querySelector("[name=whole]")?.checked;
  const sums = new Map();
  for (const box of ticked) {
    const { amount, currency } = box.dataset;
    sums.set(currency, (sums.get(currency) ?? 0n) + BigInt(amount.replace(".", ""))); // with four decimals
  }
  const amounts = [...sums].map(([currency, sum]) => money(sum, currency));
  const text = whole ? "" : ticked.length ? [live().dataset.textTicked.replace("{n}", ticked.length), ...amounts].join(" · ") : "";
  const place = form.querySelector("[data-ticked]");
  if (place) place.textContent = text;
  for (const each of form.querySelectorAll("[data-meant]")) each.textContent = text && text + ".";
}

// 1234500n of EUR with four decimals → €123.45
function money(sum, currency) {
  const format = new Intl.NumberFormat(document.documentElement.dataset.locale, { style: "currency", currency });
  return format.format((sum < 0n ? "-" : "") + String(sum < 0n ? -sum : sum).padStart(5, "0").replace(/(\d{4})$/, ".$1")).replace("-", "−");
}

document.addEventListener("change", (event) => {
  const form = event.target.closest("[data-bulk]");
  if (!form) return;
  if (event.target.matches("[data-tick-all]")) for (const box of form.querySelectorAll("[name=id]")) box.checked = event.target.checked;
  tell();
});
tell();

// Keys of the list; those of every page stand in site.js.
document.addEventListener("keydown", (event) => {
  if (!window.isShortcut?.(event)) return;
  const rows = [...document.querySelectorAll("[data-row]")];
  const here = rows.indexOf(document.activeElement?.closest("[data-row]"));
  const act = {
    j: () => rowLink(Math.min(here + 1, rows.length - 1))?.focus(),
    k: () => rowLink(Math.max(here - 1, 0))?.focus(),
    x: () => rows[here]?.querySelector("[name=id]")?.click(),
    c: () => rows[here]?.querySelector(".chosen-for")?.click(),
    n: () => document.querySelector(".pager [rel=next]")?.click(),
    p: () => document.querySelector(".pager [rel=prev]")?.click(),
  }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
