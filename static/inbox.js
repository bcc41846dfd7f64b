// The box "Also from now on" of a transaction counts for its suggested categories too, which are forms of their own.
"use strict";

document.addEventListener("formdata", (event) => {
  const box = event.target.closest("[data-review-row]")?.querySelector("input[name=always]");
  if (box?.checked) event.formData.set(box.name, box.value);
});
