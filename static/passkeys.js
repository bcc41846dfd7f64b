// Passkeys: the browser is asked for one, and what it answers is sent with the form. Nothing of this works without JavaScript.
"use strict";

for (const form of document.querySelectorAll("[data-passkey]")) {
  const button = form.querySelector("[data-ask]");
  const status = form.querySelector("[data-status]");
  const adds = form.dataset.passkey === "add";
  if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) continue; // without them the form stays hidden
  form.hidden = false;
  button.addEventListener("click", async () => {
    if (!form.reportValidity()) return;
    button.disabled = true;
    status.textContent = form.dataset.textWaiting;
    try {
      const token = form.elements.csrfmiddlewaretoken.value;
      const answer = await fetch(form.dataset.options, { method: "POST", headers: { "X-CSRFToken": token } });
      if (!answer.ok || !answer.headers.get("Content-Type").startsWith("application/json")) return location.reload();
      const options = await answer.json();
      const credential = adds
        ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
        : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
      form.elements.answer.value = JSON.stringify(credential.toJSON());
      form.submit();
    } catch (error) {
      const known = error.name === "InvalidStateError";
      status.textContent = known ? form.dataset.textKnown : form.dataset.textNone;
    } finally {
      button.disabled = false;
    }
  });
}
