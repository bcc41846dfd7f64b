// Passkeys: asks the browser for a credential and submits it with the form. The forms are hidden without JavaScript.
"use strict";

for (const form of document.querySelectorAll("[data-passkey]")) {
  const button = form.querySelector("[data-passkey-button]");
  const status = form.querySelector("[data-status]");
  const isRegistration = form.dataset.passkey === "add";
  if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) continue; // the browser has no passkeys
  form.hidden = false;
  button.addEventListener("click", async () => {
    if (!form.reportValidity()) return;
    button.disabled = true;
    status.textContent = form.dataset.textWaiting;
    try {
      const token = form.elements.csrfmiddlewaretoken.value;
      const response = await fetch(form.dataset.optionsUrl, { method: "POST", headers: { "X-CSRFToken": token } });
      if (!response.ok || !response.headers.get("Content-Type").startsWith("application/json")) return location.reload();
      const options = await response.json();
      const credential = isRegistration
        ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
        : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
      form.elements.answer.value = JSON.stringify(credential.toJSON());
      form.submit();
    } catch (error) {
      const isRegistered = error.name === "InvalidStateError";
      status.textContent = isRegistered ? form.dataset.textAlreadyRegistered : form.dataset.textNoPasskey;
    } finally {
      button.disabled = false;
    }
  });
}
