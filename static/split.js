// Shows what remains of a transaction while it is split, below the rows and in the field that is left empty for it. The server
// computes it again when the form is sent.
"use strict";

for (const form of document.querySelectorAll("[data-split]")) {
  const total = Number(form.dataset.split);
  const remainderText = form.querySelector("[data-remainder]");
  const format = new Intl.NumberFormat(document.documentElement.dataset.locale, { style: "currency", currency: form.dataset.currency });
  const getSeparator = (type) => format.formatToParts(1234567.5).find((part) => part.type === type)?.value;
  const groupSeparator = getSeparator("group") ?? "";
  const decimalSeparator = getSeparator("decimal") ?? ".";
  const { maximumFractionDigits } = format.resolvedOptions();
  const roundAmount = (value) => Number(value.toFixed(maximumFractionDigits));
  // Reads 1,234.56 and 1.234,56, and 40 % as a share of `base`; 1.234 is read in the user's locale. NaN if only the server can tell.
  const parseAmount = (text, base) => {
    text = text.trim().replace("−", "-").replace(/[\s'’]/g, "");
    if (/^[\d.,]+%$/.test(text)) return roundAmount((base * Number(text.slice(0, -1).replace(",", "."))) / 100);
    const lastSeparator = Math.max(text.lastIndexOf("."), text.lastIndexOf(","));
    const digitsAfter = text.length - lastSeparator - 1;
    const isGrouped = text.slice(lastSeparator, lastSeparator + 1) === groupSeparator && /^[-+]?[1-9]\d{0,2}([.,]\d{3})+$/.test(text);
    if (isGrouped) text = text.replaceAll(groupSeparator, "");
    else if (lastSeparator >= 0 && (digitsAfter <= 2 || text[lastSeparator] === decimalSeparator))
      text = text.slice(0, lastSeparator).replace(/[.,]/g, "") + "." + text.slice(lastSeparator + 1);
    const value = text === "" ? 0 : Number(text.replace(/,/g, ""));
    return total < 0 && !/^[-+]/.test(text) ? -value : value;
  };
  // 19 is a rate for some and an amount for others: the server asks. It is neither here.
  const isUnclearTax = (text) => maximumFractionDigits > 0 && /^[1-9]\d?$/.test(text.trim());
  const updateRemainder = () => {
    let sum = 0;
    let emptyField = null;
    const rows = [...form.querySelectorAll(".split-row")];
    const isFilled = (row) => ["category", "amount", "tax"].some((name) => row.querySelector(`[name^="${name}-"]`)?.value);
    const isAlone = rows.filter((row) => isFilled(row) && !row.querySelector('[name^="remove-"]')?.checked).length === 1;
    for (const row of rows) {
      const findField = (name) => row.querySelector(`[name^="${name}-"]`);
      const amountField = findField("amount");
      const tax = findField("tax")?.value ?? "";
      amountField.placeholder = "";
      if (findField("remove")?.checked) continue;
      const amount = parseAmount(amountField.value, total);
      const includesTax = amountField.value.includes("%") || (isAlone && amount === total);
      const hasTaxAmount = tax && !tax.includes("%");
      if (!amountField.value && !hasTaxAmount) {
        if (findField("category").value) emptyField = amountField;
      } else sum += amount + (isUnclearTax(tax) ? NaN : includesTax ? 0 : parseAmount(tax, amount));
    }
    const remainder = roundAmount(total - sum);
    remainderText.hidden = Number.isNaN(remainder);
    const text = format.format(remainder || 0).replace("-", "−");
    remainderText.textContent = (emptyField ? form.dataset.textEmptyAmount : form.dataset.textRemainder).replace("{amount}", () => text);
    if (emptyField) emptyField.placeholder = text;
  };
  form.addEventListener("input", updateRemainder);
  updateRemainder();
}
