// What is left of a transaction while it is split: told below the rows, and shown where an empty amount will take it. The
// server adds up again; without JavaScript it alone does.
"use strict";

for (const form of document.querySelectorAll("[data-split]")) {
  const whole = Number(form.dataset.split);
  const left = form.querySelector("[data-left]");
  const money = new Intl.NumberFormat(document.documentElement.dataset.locale, { style: "currency", currency: form.dataset.currency });
  const sign = (type) => money.formatToParts(1234567.5).find((part) => part.type === type)?.value;
  const group = sign("group") ?? "";
  const point = sign("decimal") ?? ".";
  const digits = money.resolvedOptions().maximumFractionDigits;
  const rounded = (value) => Number(value.toFixed(digits));
  // 1,234.56, 1.234,56 and 40 % as numbers, 1.234 as the reader means it; NaN for what the server has to judge
  const read = (text, of) => {
    text = text.trim().replace("−", "-").replace(/[\s'’]/g, "");
    if (/^[\d.,]+%$/.test(text)) return rounded((of * Number(text.slice(0, -1).replace(",", "."))) / 100);
    const mark = Math.max(text.lastIndexOf("."), text.lastIndexOf(","));
    const cents = text.length - mark - 1;
    const grouped = text.slice(mark, mark + 1) === group && /^[-+]?[1-9]\d{0,2}([.,]\d{3})+$/.test(text);
    if (grouped) text = text.replaceAll(group, "");
    else if (mark >= 0 && (cents <= 2 || text[mark] === point)) text = text.slice(0, mark).replace(/[.,]/g, "") + "." + text.slice(mark + 1);
    const value = text === "" ? 0 : Number(text.replace(/,/g, ""));
    return whole < 0 && !/^[-+]/.test(text) ? -value : value;
  };
  const tell = () => {
    let sum = 0;
    let empty = null;
    for (const row of form.querySelectorAll(".split-row")) {
      const field = (name) => row.querySelector(`[name^="${name}-"]`);
      const amount = field("amount");
      const tax = field("tax")?.value ?? "";
      amount.placeholder = "";
      if (field("remove")?.checked) continue;
      const share = amount.value.includes("%");
      const value = read(amount.value, whole);
      const taxOnly = tax && !tax.includes("%");
      if (!amount.value && !taxOnly) {
        if (field("category").value) empty = amount;
      } else sum += value + (share ? 0 : read(tax, value));
    }
    const rest = rounded(whole - sum);
    left.hidden = Number.isNaN(rest);
    const text = money.format(rest || 0).replace("-", "−");
    left.textContent = (empty ? form.dataset.textTakes : form.dataset.textLeft).replace("{amount}", () => text);
    if (empty) empty.placeholder = text;
  };
  form.addEventListener("input", tell);
  tell();
}
