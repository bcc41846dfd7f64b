// The plan grid as a sheet: Enter and the arrow keys move up and down in a month's column, a block pasted from a spreadsheet
// fills the cells from the focused one on, and changed cells are marked. Leaving the page with unsaved cells asks first.
// Without JavaScript it is a form.
"use strict";

for (const form of document.querySelectorAll("[data-plan]")) {
  const rows = [...form.querySelectorAll("tbody tr")]
    .map((row) => [...row.querySelectorAll("td > input")])
    .filter((cells) => cells.length);
  const findPosition = (cell) => {
    const row = rows.findIndex((cells) => cells.includes(cell));
    return row < 0 ? null : { row, column: rows[row].indexOf(cell) };
  };
  const unsavedMessage = form.querySelector("[data-unsaved]");
  const hasChanges = () => rows.some((cells) => cells.some((cell) => cell.classList.contains("differs")));
  const markChange = (cell) => {
    cell.classList.toggle("differs", cell.value.trim() !== cell.defaultValue);
    if (unsavedMessage) unsavedMessage.hidden = !hasChanges();
  };
  let isSubmitted = false;
  form.addEventListener("submit", () => (isSubmitted = true));
  addEventListener("beforeunload", (event) => !isSubmitted && hasChanges() && event.preventDefault());
  form.addEventListener("input", (event) => findPosition(event.target) && markChange(event.target));
  form.addEventListener("keydown", (event) => {
    const position = findPosition(event.target);
    const step = { ArrowUp: -1, ArrowDown: 1, Enter: event.shiftKey ? -1 : 1 }[event.key];
    if (!position || !step) return;
    event.preventDefault();
    rows[position.row + step]?.[position.column].focus();
  });
  form.addEventListener("focusin", (event) => findPosition(event.target) && event.target.select());
  form.addEventListener("paste", (event) => {
    const position = findPosition(event.target);
    const lines = event.clipboardData.getData("text").replace(/\r?\n$/, "").split(/\r?\n/);
    const block = lines.map((line) => line.split("\t"));
    if (!position || (block.length === 1 && block[0].length === 1)) return; // the browser pastes a single value
    event.preventDefault();
    block.forEach((texts, rowOffset) =>
      texts.forEach((text, columnOffset) => {
        const cell = rows[position.row + rowOffset]?.[position.column + columnOffset];
        if (!cell) return;
        cell.value = text.trim();
        markChange(cell);
      }),
    );
  });
}
