// The grid of the plan as a sheet: Enter and arrows up and down walk through the months' column, a block that is pasted
// from a spreadsheet fills the cells from there on, and what differs is marked. Leaving the
// page with unsaved cells asks first. Without JavaScript it is a form.
"use strict";

for (const form of document.querySelectorAll("[data-plan]")) {
  const rows = [...form.querySelectorAll("tbody tr")]
    .map((row) => [...row.querySelectorAll("td > input")])
    .filter((cells) => cells.length);
  const place = (cell) => {
    const row = rows.findIndex((cells) => cells.includes(cell));
    return row < 0 ? null : [row, rows[row].indexOf(cell)];
  };
  const unsaved = form.querySelector("[data-unsaved]");
  const hasChanges = () => rows.some((cells) => cells.some((cell) => cell.classList.contains("differs")));
  const mark = (cell) => {
    cell.classList.toggle("differs", cell.value.trim() !== cell.defaultValue);
    if (unsaved) unsaved.hidden = !hasChanges();
  };
  let submitting = false;
  form.addEventListener("submit", () => (submitting = true));
  addEventListener("beforeunload", (event) => !submitting && hasChanges() && event.preventDefault());
  form.addEventListener("input", (event) => place(event.target) && mark(event.target));
  form.addEventListener("keydown", (event) => {
    const at = place(event.target);
    const step = { ArrowUp: -1, ArrowDown: 1, Enter: event.shiftKey ? -1 : 1 }[event.key];
    if (!at || !step) return;
    event.preventDefault();
    rows[at[0] + step]?.[at[1]].focus();
  });
  form.addEventListener("focusin", (event) => place(event.target) && event.target.select());
  form.addEventListener("paste", (event) => {
    const at = place(event.target);
    const lines = event.clipboardData.getData("text").replace(/\r?\n$/, "").split(/\r?\n/);
    const block = lines.map((line) => line.split("\t"));
    if (!at || (block.length === 1 && block[0].length === 1)) return;
    event.preventDefault();
    block.forEach((texts, down) =>
      texts.forEach((text, across) => {
        const cell = rows[at[0] + down]?.[at[1] + across];
        if (!cell) return;
        cell.value = text.trim();
        mark(cell);
      }),
    );
  });
}
