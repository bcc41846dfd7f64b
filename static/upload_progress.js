// Lists selected files with their sizes, and shows the progress of uploads and imports: first the part that is uploaded, then
// how far the server is, requested once a second. Without JavaScript the form is submitted as any other.
"use strict";

const LARGE_UPLOAD_BYTES = 1000000; // smaller ones are uploaded before a progress bar could be read
const locale = document.documentElement.dataset.locale;
const sizeFormat = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const countFormat = new Intl.NumberFormat(locale);
const formatMegabytes = (bytes) => sizeFormat.format(bytes / 1000000);
const formatFileSize = (bytes) =>
  bytes < LARGE_UPLOAD_BYTES / 10 ? Math.ceil(bytes / 1000) + " kB" : formatMegabytes(bytes) + " MB";
const fillText = (text, values) => text.replace(/{(\w+)}/g, (_, name) => values[name]);

for (const form of document.querySelectorAll("[data-upload-form]")) {
  const fileField = form.querySelector("[type=file]");
  const fileList = form.querySelector("[data-selected-files]");
  const progressBox = form.querySelector("[data-upload-progress]");
  const progressBar = progressBox.querySelector("progress");
  const progressText = progressBox.querySelector("[data-status]");
  const texts = progressBox.dataset;
  let timer = 0;
  let progressUrl = ""; // known once the server has the files
  let progress = {}; // of the import on the server: kind, done, of, file, files

  const showProgress = (text, share) => {
    progressBox.hidden = false;
    progressText.textContent = text;
    if (share === undefined) progressBar.removeAttribute("value");
    else progressBar.value = share;
  };
  const fetchProgress = async () => {
    try {
      const response = await fetch(progressUrl, { headers: { Accept: "application/json" }, cache: "no-store" });
      const answer = await response.json();
      if (answer.of) progress = answer;
    } catch {
      // the import has finished and the next page is loading
    }
  };
  const formatProgress = () => {
    const { kind, done, of: total, file, files } = progress;
    const formatNumber = kind === "bytes" ? formatMegabytes : countFormat.format;
    const template = kind === "bytes" ? texts.textBytesRead : done < total ? texts.textRowsImported : texts.textFinishing;
    const text = fillText(template, { done: formatNumber(done), of: formatNumber(total) });
    return files > 1 ? fillText(texts.textFile, { file, files, far: text }) : text;
  };
  const trackImport = (text) => {
    const startTime = Date.now();
    const update = () => {
      const elapsed = ", " + Math.round((Date.now() - startTime) / 1000) + " s";
      if (progress.of) showProgress(formatProgress() + elapsed, progress.done < progress.of ? progress.done / progress.of : undefined);
      else showProgress(text + elapsed);
    };
    update();
    timer = timer || setInterval(() => (update(), progressUrl && fetchProgress()), 1000);
  };
  const resetProgress = () => {
    clearInterval(timer);
    timer = 0;
    progressUrl = "";
    progress = {};
    progressBox.hidden = true;
  };
  window.addEventListener("pageshow", resetProgress);

  const listFiles = () => {
    const hasTooManyFiles = fileField.files.length > Number(fileField.dataset.maxFiles || Infinity);
    fileField.setCustomValidity(hasTooManyFiles ? fileField.dataset.textTooManyFiles : "");
    if (hasTooManyFiles) fileField.reportValidity();
    fileList.replaceChildren(
      ...[...fileField.files].map((file) => {
        const item = document.createElement("li");
        item.textContent = `${file.name}, ${formatFileSize(file.size)}`;
        return item;
      }),
    );
  };
  fileField?.addEventListener("change", listFiles);
  if (fileField?.files.length) listFiles(); // selected before this script was loaded
  fileField?.addEventListener("dragenter", () => fileField.classList.add("drag-over"));
  for (const name of ["dragleave", "drop"]) fileField?.addEventListener(name, () => fileField.classList.remove("drag-over"));

  const uploadFiles = (size) => {
    const submitWithoutProgress = () => {
      resetProgress();
      form.submit(); // the server renders the errors
    };
    const request = new XMLHttpRequest(); // fetch does not report upload progress
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "application/json");
    request.responseType = "json";
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      showProgress(fillText(texts.textUploaded, { sent: formatMegabytes(loaded), total: formatMegabytes(total) }), loaded / total);
    });
    request.upload.addEventListener("load", () => trackImport(fillText(texts.textReading, { size: formatMegabytes(size) })));
    request.addEventListener("load", () => {
      if (!request.response?.location) return submitWithoutProgress();
      progressUrl = request.response.location;
      location.assign(progressUrl);
    });
    request.addEventListener("error", submitWithoutProgress);
    request.send(new FormData(form));
  };

  form.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    if (!fileField) {
      const uploads = new FormData(form).getAll("upload").map((upload) => ["upload", upload]);
      progressUrl = location.pathname + "?" + new URLSearchParams(uploads);
      trackImport(form.dataset.uploadForm);
      return;
    }
    const size = [...fileField.files].reduce((sum, file) => sum + file.size, 0);
    if (size < LARGE_UPLOAD_BYTES) return;
    event.preventDefault();
    uploadFiles(size);
  });
}
