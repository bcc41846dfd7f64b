// Fills the tax rates of a group from its field "VAT for all", except those that somebody changed.
"use strict";

for (const group of document.querySelectorAll(".transaction-group")) {
  const rateForAll = group.querySelector("input[name=tax]");
  if (!rateForAll) continue;
  const rates = [...group.querySelectorAll("[data-tax-rate]")];
  rateForAll.removeAttribute("name"); // the fields of the transactions say what is stored
  for (const rate of rates) rate.addEventListener("input", () => (rate.dataset.changed = ""));
  rateForAll.addEventListener("input", () => {
    for (const rate of rates) if (!("changed" in rate.dataset)) rate.value = rateForAll.value || rate.defaultValue;
  });
}
