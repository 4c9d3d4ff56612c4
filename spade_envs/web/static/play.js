// Keys that press what says so, what a screen reader is told after a move, and files read into a form.
(() => {
  "use strict";
  const KEYS = "spade-keys";
  const remembered = () => { try { return localStorage.getItem(KEYS) !== "off"; } catch { return true; } };
  let on = remembered();

  const live = document.createElement("div");
  live.className = "unseen";
  live.setAttribute("aria-live", "polite");
  live.id = "live";
  document.body.append(live);

  const shown = (id) => document.getElementById(id)?.innerText.trim() ?? "";
  const tell = () => {
    live.textContent = ["unreadable", "observation", "hint", "return", "ending"].map(shown).filter(Boolean).join("\n");
  };

  const prepare = () => {
    const keys = document.getElementById("keys");
    if (keys) {
      keys.hidden = false;
      keys.setAttribute("aria-pressed", String(on));
    }
    const pick = document.getElementById("pick");
    if (pick) pick.hidden = false;
  };

  document.addEventListener("keydown", (event) => {
    const at = event.target;
    if (at.matches?.("[data-enter]") && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      at.form.requestSubmit();
      return;
    }
    if (!on || event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    if (at.matches?.("input, textarea, select, [contenteditable]")) return;
    const wanted = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === event.key);
    if (wanted) {
      event.preventDefault();
      wanted.focus();
      wanted.click();
    }
  });

  document.addEventListener("click", (event) => {
    if (event.target.id !== "keys") return;
    on = !on;
    try { localStorage.setItem(KEYS, on ? "on" : "off"); } catch { /* it is forgotten then */ }
    prepare();
  });

  document.addEventListener("change", async (event) => {
    const filled = event.target.dataset?.fills;
    const file = filled && event.target.files[0];
    if (file) document.getElementById(filled).value = await file.text();
  });

  // What is refused is a page, too: show it.
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.status >= 400) {
      event.detail.shouldSwap = true;
      event.detail.isError = false;
    }
  });
  document.addEventListener("htmx:sendError", () => {
    let told = document.getElementById("unanswered");
    if (!told) {
      told = document.createElement("p");
      told.id = "unanswered";
      told.className = "note";
      told.setAttribute("role", "alert");
      document.getElementById("main").prepend(told);
    }
    told.textContent = "The server did not answer. Nothing is lost that the address holds; try again.";
  });

  let before = "";
  document.addEventListener("htmx:beforeRequest", () => { before = document.activeElement?.id ?? ""; });
  document.addEventListener("htmx:afterSettle", () => {
    prepare();
    tell();
    if (before && !document.getElementById("ending")) document.getElementById(before)?.focus();
  });
  prepare();
})();
