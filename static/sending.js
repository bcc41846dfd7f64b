// Files that are dropped or chosen are named with their sizes. While long ones are sent a bar tells how much of them has
// gone, then how far the server is with them: asked once a second, at the address that does the work, and never where that
// takes less than a second. Without JavaScript the form is sent as any other.
"use strict";

const LONG = 1000000; // bytes; less is there at once
const locale = document.documentElement.dataset.locale;
const sizes = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const counts = new Intl.NumberFormat(locale);
const megabytes = (bytes) => sizes.format(bytes / 1000000);
const filled = (text, values) => text.replace(/{(\w+)}/g, (_, name) => values[name]);

for (const form of document.querySelectorAll("[data-sending]")) {
  const field = form.querySelector("[type=file]");
  const chosen = form.querySelector("[data-chosen]");
  const state = form.querySelector("[data-state]");
  const bar = state.querySelector("progress");
  const status = state.querySelector("[data-status]");
  let timer = 0;
  let address = ""; // that does the work, once it is known
  let far = {}; // is the work on it

  const tell = (text, share) => {
    state.hidden = false;
    status.textContent = text;
    if (share === undefined) bar.removeAttribute("value");
    else bar.value = share;
  };
  const ask = async () => {
    const asked = address;
    try {
      const answer = await fetch(asked, { headers: { Accept: "application/json" }, cache: "no-store" });
      const said = await answer.json();
      if (said.of) far = said;
    } catch {
      // the next page is coming, and says all
    }
  };
  const inWords = () => {
    const { kind, done, of, file, files } = far;
    const say = kind === "bytes" ? state.dataset.textRead : done < of ? state.dataset.textRows : state.dataset.textAfter;
    const shown = kind === "bytes" ? megabytes : counts.format;
    const text = filled(say, { done: shown(done), of: shown(of) });
    return files > 1 ? filled(state.dataset.textFile, { file, files, far: text }) : text;
  };
  const wait = (text) => {
    const began = Date.now();
    const seconds = () => {
      const rest = ", " + Math.round((Date.now() - began) / 1000) + " s";
      if (far.of) tell(inWords() + rest, far.done < far.of ? far.done / far.of : undefined);
      else tell(text + rest);
    };
    seconds();
    timer = timer || setInterval(() => (seconds(), address && ask()), 1000);
  };
  const rest = () => {
    clearInterval(timer);
    timer = 0;
    address = "";
    far = {};
    state.hidden = true;
  };
  window.addEventListener("pageshow", rest);

  const name = () => {
    const many = field.files.length > Number(field.dataset.most || Infinity);
    field.setCustomValidity(many ? field.dataset.textMany : "");
    if (many) field.reportValidity();
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
    if (!field) {
      const uploads = new FormData(form).getAll("upload").map((each) => ["upload", each]);
      address = location.pathname + "?" + new URLSearchParams(uploads);
      wait(form.dataset.sending);
      return;
    }
    const size = [...field.files].reduce((sum, file) => sum + file.size, 0);
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
      tell(filled(state.dataset.textSent, { sent: megabytes(sent.loaded), total: megabytes(sent.total) }), sent.loaded / sent.total);
    });
    request.upload.addEventListener("load", () => wait(filled(state.dataset.textReading, { size: megabytes(size) })));
    request.addEventListener("load", () => {
      if (!request.response?.location) return again();
      address = request.response.location;
      location.assign(address);
    });
    request.addEventListener("error", again);
    request.send(new FormData(form));
  });
}
