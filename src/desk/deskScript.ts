/** Milliseconds after the last change of a form at which its value is shown. */
const DRAFT_MS = 300

/** Optional script: shows a form's value while it is filled in, reads a chosen file, prevents pressing a button twice. */
export const DESK_SCRIPT = `"use strict";
(() => {
  for (const form of document.querySelectorAll("form")) {
    form.addEventListener("submit", () => {
      setTimeout(() => { for (const button of form.querySelectorAll("button")) button.disabled = true; }, 0);
    });
  }
  // The back button must not show a page from before: it may have been confirmed.
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  for (const all of document.querySelectorAll("input[data-all]")) {
    all.closest("label").hidden = false;
    all.addEventListener("change", () => {
      for (const box of document.querySelectorAll("input[name=" + all.dataset.all + "]")) box.checked = all.checked;
    });
  }
  // A PSBT in bytes becomes base64, as the form takes it.
  for (const file of document.querySelectorAll("input[data-into]")) {
    file.closest("label").hidden = false;
    file.addEventListener("change", async () => {
      const into = document.getElementById("f-" + file.dataset.into);
      const chosen = file.files[0];
      if (chosen === undefined) return;
      if (chosen.size > into.maxLength) {
        file.setCustomValidity("This file is too large for this page.");
        return file.reportValidity();
      }
      file.setCustomValidity("");
      const bytes = new Uint8Array(await chosen.arrayBuffer());
      const isRaw = bytes[0] === 0x70 && bytes[4] === 0xff;
      into.value = isRaw
        ? btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
        : new TextDecoder().decode(bytes).trim();
    });
  }
  const form = document.querySelector("form[data-draft]");
  const draft = document.getElementById("draft");
  if (form === null || draft === null) return;
  let timer = 0;
  let count = 0;
  const show = async () => {
    const mine = ++count;
    try {
      const sent = new URLSearchParams(new FormData(form));
      const answer = form.method === "get"
        ? await fetch(form.dataset.draft + "?" + sent, { cache: "no-store" })
        : await fetch(form.dataset.draft, { method: "POST", body: sent, cache: "no-store" });
      if (!answer.ok || mine !== count) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("draft");
      if (page !== null) draft.replaceChildren(...page.childNodes);
    } catch {
      // The server makes the value again when the form is sent.
    }
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(show, ${DRAFT_MS});
  });
})();
`
