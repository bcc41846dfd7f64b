// Files dropped anywhere on a page go to its drop zone; on a page without one they are uploaded as documents. Without
// JavaScript the upload form of Files does the same.
"use strict";

{
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  const isOnFileField = (event) => event.target.closest?.('input[type="file"]');
  let enterCount = 0; // entered minus left elements: the drag is over the page while it is positive

  const toggleDropHint = (isVisible) => document.body.classList.toggle("drop-active", isVisible);
  const fillDropZone = (field, files) => {
    field.files = files;
    field.dispatchEvent(new Event("change", { bubbles: true }));
    field.focus();
  };
  const uploadDocuments = (files) => {
    const form = document.createElement("form");
    Object.assign(form, { method: "post", enctype: "multipart/form-data", action: document.body.dataset.uploadUrl, hidden: true });
    const fileInput = document.createElement("input");
    Object.assign(fileInput, { type: "file", name: "file", multiple: true, files });
    const sourceInput = document.createElement("input");
    Object.assign(sourceInput, { type: "hidden", name: "from", value: "drop" });
    form.append(document.querySelector("[name=csrfmiddlewaretoken]").cloneNode(), fileInput, sourceInput);
    document.body.append(form);
    form.submit();
  };

  document.addEventListener("dragenter", (event) => {
    if (hasFiles(event)) toggleDropHint(++enterCount > 0);
  });
  document.addEventListener("dragleave", (event) => {
    if (hasFiles(event)) toggleDropHint(--enterCount > 0);
  });
  document.addEventListener("dragover", (event) => {
    if (hasFiles(event) && !isOnFileField(event)) event.preventDefault();
  });
  document.addEventListener("drop", (event) => {
    enterCount = 0;
    toggleDropHint(false);
    const files = event.dataTransfer?.files;
    if (!files?.length || isOnFileField(event)) return;
    event.preventDefault();
    const dropZone = document.querySelector('#main input[type="file"].drop-zone');
    if (dropZone) fillDropZone(dropZone, files);
    else uploadDocuments(files);
  });
}
