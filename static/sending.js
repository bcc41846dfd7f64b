// Files that are dropped or chosen are named with their sizes. While long ones are sent a bar tells how much of them has
// gone, and for how long the answer is awaited. Without JavaScript the form is sent as any other.
"use strict";

const LONG = 1000000; // bytes; less is there at once
const sizes = new Intl.NumberFormat(document.documentElement.dataset.locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const megabytes = (bytes) => sizes.format(bytes / 1000000);
const filled = (text, values) => text.replace(/{(\w+)}/g, (_, name) => values[name]);

for (const form of document.querySelectorAll("[data-sending]")) {
  const field = form.querySelector("[type=file]");
  const chosen = form.querySelector("[data-chosen]");
  const state = form.querySelector("[data-state]");
  const bar = state.querySelector("progress");
  const told = state.querySelector("[data-told]");
  let timer = 0;

  const tell = (text, share) => {
    state.hidden = false;
    told.textContent = text;
    if (share === undefined) bar.removeAttribute("value");
    else bar.value = share;
  };
  const wait = (text) => {
    const began = Date.now();
    const seconds = () => tell(text + ", " + Math.round((Date.now() - began) / 1000) + " s");
    seconds();
    timer = timer || setInterval(seconds, 1000);
  };
  const rest = () => {
    clearInterval(timer);
    timer = 0;
    state.hidden = true;
  };
  window.addEventListener("pageshow", rest);

  const name = () => {
    chosen.replaceChildren(
      ...[...field.files].map((file) => {
        const line = document.createElement("li");
        line.textContent = file.name + ", " + (file.size < LONG / 10 ? Math.ceil(file.size / 1000) + " kB" : megabytes(file.size) + " MB");
        return line;
      }),
    );
  };
  field?.addEventListener("change", name);
  if (field?.files.length) name(); // chosen before this script was there
  field?.addEventListener("dragenter", () => field.classList.add("over"));
  for (const end of ["dragleave", "drop"]) field?.addEventListener(end, () => field.classList.remove("over"));

  form.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    const size = [...(field?.files ?? [])].reduce((sum, file) => sum + file.size, 0);
    if (!field) wait(form.dataset.sending);
    if (size < LONG) return;
    event.preventDefault();
    const again = () => {
      rest();
      form.submit(); // the page itself says what is wrong
    };
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "application/json");
    request.responseType = "json";
    request.upload.addEventListener("progress", (sent) => {
      tell(filled(state.dataset.saySent, { sent: megabytes(sent.loaded), total: megabytes(sent.total) }), sent.loaded / sent.total);
    });
    request.upload.addEventListener("load", () => wait(filled(state.dataset.sayReading, { size: megabytes(size) })));
    request.addEventListener("load", () => {
      if (request.response?.location) location.assign(request.response.location);
      else again();
    });
    request.addEventListener("error", again);
    request.send(new FormData(form));
  });
}
