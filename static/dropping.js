// Files that are dropped anywhere on a page of a company are uploaded as documents, unless the page has a field for files:
// then they go there. Without JavaScript the upload form of Files does the same.
"use strict";

{
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  const onField = (event) => event.target.closest?.('input[type="file"]');
  let depth = 0; // of elements entered and not left

  const show = (on) => document.body.classList.toggle("dropping", on);
  document.addEventListener("dragenter", (event) => {
    if (hasFiles(event)) show(++depth > 0);
  });
  document.addEventListener("dragleave", (event) => {
    if (hasFiles(event)) show(--depth > 0);
  });
  document.addEventListener("dragover", (event) => {
    if (hasFiles(event) && !onField(event)) event.preventDefault();
  });
  document.addEventListener("drop", (event) => {
    depth = 0;
    show(false);
    const files = event.dataTransfer?.files;
    if (!files?.length || onField(event)) return;
    event.preventDefault();
    const field = document.querySelector('#main input[type="file"].drop');
    if (field) {
      field.files = files;
      field.dispatchEvent(new Event("change", { bubbles: true }));
      field.focus();
      return;
    }
    const token = document.querySelector("[name=csrfmiddlewaretoken]");
    const form = document.createElement("form");
    form.method = "post";
    form.enctype = "multipart/form-data";
    form.action = document.body.dataset.drop;
    form.hidden = true;
    const input = document.createElement("input");
    Object.assign(input, { type: "file", name: "file", multiple: true, files });
    const from = document.createElement("input");
    Object.assign(from, { type: "hidden", name: "from", value: "drop" });
    form.append(token.cloneNode(), input, from);
    document.body.append(form);
    form.submit();
  });
}
