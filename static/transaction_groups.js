// Groups of transactions: "VAT for all" fills the tax rates of a group, except those that somebody changed, and one
// button accepts all groups that have a category, as they are shown.
"use strict";

const groups = [...document.querySelectorAll(".transaction-group")];
for (const group of groups) {
  const rateForAll = group.querySelector("input[name=tax]");
  if (!rateForAll) continue;
  const rates = [...group.querySelectorAll("[data-tax-rate]")];
  rateForAll.removeAttribute("name"); // the fields of the transactions say what is stored
  for (const rate of rates) rate.addEventListener("input", () => (rate.dataset.changed = ""));
  rateForAll.addEventListener("input", () => {
    for (const rate of rates) if (!("changed" in rate.dataset)) rate.value = rateForAll.value || rate.defaultValue;
  });
}

for (const form of document.querySelectorAll("[data-accept-groups]")) {
  form.hidden = false; // without JavaScript each group is saved by its own buttons
  form.addEventListener("formdata", (event) => {
    for (const group of groups) {
      const fields = new FormData(group);
      const suggested = group.querySelector("button[name=category]")?.value;
      if (suggested && !fields.get("other")) fields.set("category", suggested);
      if (!fields.has("transaction") || !(fields.get("category") || fields.get("other"))) continue;
      fields.delete("csrfmiddlewaretoken");
      event.formData.append("group", new URLSearchParams(fields));
    }
  });
}
