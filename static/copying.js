// What is copied from a table are numbers for a spreadsheet: one value a cell, a hyphen as minus sign, no currency.
"use strict";

const SYMBOL = String.raw`(?:\p{Sc}|[A-Z]{1,2}\p{Sc}|[A-Z]{3}|kr\.?|zł|Kč|Ft)`;
const AMOUNT = new RegExp(
  String.raw`^([+−-]?)${SYMBOL}?\s?([+−-]?)(\d{1,3}(?:[.,'’\s]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?)\s?(?:${SYMBOL}|%)?$`,
  "u",
);

function readCell(cell) {
  const copy = cell.cloneNode(true);
  for (const beside of copy.querySelectorAll(".meta, .sr, .narrow-only, button, input[type=hidden]")) beside.remove();
  const field = cell.querySelector("input:not([type=hidden]):not([type=checkbox])");
  const text = (field ? field.value : copy.textContent).replace(/\s+/g, " ").trim();
  const found = AMOUNT.exec(text);
  if (!found) return text;
  return (/[−-]/.test(found[1] + found[2]) ? "-" : "") + found[3].replace(/\s/g, "");
}

document.addEventListener("copy", (event) => {
  const selection = getSelection();
  if (event.defaultPrevented || selection.isCollapsed || event.target.closest?.("input, textarea")) return;
  const range = selection.getRangeAt(0);
  const table = (range.commonAncestorContainer.closest?.("table") ?? range.commonAncestorContainer.querySelector?.("table"));
  const cells = table ? [...table.querySelectorAll("th, td")].filter((cell) => range.intersectsNode(cell)) : [];
  if (cells.length < 2 || [...document.querySelectorAll("main :is(p, h1)")].some((each) => !table.contains(each) && range.intersectsNode(each))) return;
  const rows = new Map();
  for (const cell of cells) {
    const row = cell.parentNode;
    const texts = rows.get(row) ?? (row.previousElementSibling?.cells[0].rowSpan > 1 ? [""] : []);
    rows.set(row, [...texts, readCell(cell), ...Array(cell.colSpan - 1).fill("")]);
  }
  const copied = document.createElement("table");
  for (const texts of rows.values()) {
    const row = copied.insertRow();
    for (const text of texts) row.insertCell().textContent = text;
  }
  event.clipboardData.setData("text/plain", [...rows.values()].map((texts) => texts.join("\t")).join("\n"));
  event.clipboardData.setData("text/html", copied.outerHTML);
  event.preventDefault();
});
