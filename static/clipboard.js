// Cells copied from a table suit a spreadsheet: one value per cell, amounts without currency and with a hyphen as minus sign.
"use strict";

const CURRENCY = String.raw`(?:\p{Sc}|[A-Z]{1,2}\p{Sc}|[A-Z]{3}|kr\.?|zł|Kč|Ft)`;
const AMOUNT = new RegExp(
  String.raw`^([+−-]?)${CURRENCY}?\s?([+−-]?)(\d{1,3}(?:[.,'’\s]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?)\s?(?:${CURRENCY}|%)?$`,
  "u",
);

function readCellText(cell) {
  const copy = cell.cloneNode(true);
  for (const element of copy.querySelectorAll(".meta, .sr, .narrow-only, button, input[type=hidden]")) element.remove();
  const field = cell.querySelector("input:not([type=hidden]):not([type=checkbox])");
  const text = (field ? field.value : copy.textContent).replace(/\s+/g, " ").trim();
  const amount = AMOUNT.exec(text);
  if (!amount) return text;
  const [, signBefore, signAfter, digits] = amount;
  return (/[−-]/.test(signBefore + signAfter) ? "-" : "") + digits.replace(/\s/g, "");
}

// Returns the texts of the cells, row by row. Cells that span columns or rows are followed by empty ones.
function readRows(cells) {
  const rows = new Map();
  for (const cell of cells) {
    const row = cell.parentNode;
    const texts = rows.get(row) ?? (row.previousElementSibling?.cells[0].rowSpan > 1 ? [""] : []);
    rows.set(row, [...texts, readCellText(cell), ...Array(cell.colSpan - 1).fill("")]);
  }
  return [...rows.values()];
}

function buildTable(rows) {
  const table = document.createElement("table");
  for (const texts of rows) {
    const row = table.insertRow();
    for (const text of texts) row.insertCell().textContent = text;
  }
  return table;
}

document.addEventListener("copy", (event) => {
  const selection = getSelection();
  if (event.defaultPrevented || selection.isCollapsed || event.target.closest?.("input, textarea")) return;
  const range = selection.getRangeAt(0);
  const ancestor = range.commonAncestorContainer;
  const table = ancestor.closest?.("table") ?? ancestor.querySelector?.("table");
  const cells = table ? [...table.querySelectorAll("th, td")].filter((cell) => range.intersectsNode(cell)) : [];
  const isOutsideText = (element) => !table.contains(element) && range.intersectsNode(element);
  if (cells.length < 2 || [...document.querySelectorAll("main :is(p, h1)")].some(isOutsideText)) return;
  const rows = readRows(cells);
  event.clipboardData.setData("text/plain", rows.map((texts) => texts.join("\t")).join("\n"));
  event.clipboardData.setData("text/html", buildTable(rows).outerHTML);
  event.preventDefault();
});
