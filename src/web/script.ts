import { TIME_UNITS } from "../base/quantities.ts"
import { NOW_SECONDS } from "./format.ts"

/** Milliseconds between updates of the overview, and between updates by events. */
const REFRESH_MS = 5_000
const EVENT_MS = 1_000

/**
 * Optional script of the pages. It keeps relative times current, and updates a visible page every few seconds or after
 * an event, only in changed sections, so that focus, scroll position and unfolded parts stay. It waits while text is
 * selected. A hidden page reads no events: a browser opens few connections to one server.
 */
export const PAGE_SCRIPT = `"use strict";
(() => {
  const units = ${JSON.stringify(TIME_UNITS)};
  const words = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "short" });
  const main = document.querySelector("main");
  const note = document.getElementById("note");
  const pause = document.getElementById("pause");
  // The clock of the node, which may differ from the reader's.
  let ahead = Number(main.dataset.now) * 1000 - Date.now();
  const distance = (seconds) => {
    const length = Math.abs(seconds);
    if (length < ${NOW_SECONDS}) return "now";
    const [unit, each] = units.find(([, each]) => length >= each) || ["second", 1];
    return words.format(Math.trunc(seconds / each), unit);
  };
  const tick = () => {
    const now = Date.now() + ahead;
    for (const time of main.querySelectorAll("time")) {
      const text = distance((Date.parse(time.dateTime) - now) / 1000);
      if (time.textContent !== text) time.textContent = text;
    }
  };
  setInterval(tick, 10000);
  const polled = main.dataset.refresh === "1";
  if (!polled && main.dataset.events === "") return;

  let paused = false;
  let busy = false;
  const selecting = () => {
    const selection = getSelection();
    return selection !== null && !selection.isCollapsed && main.contains(selection.anchorNode);
  };
  const keyOf = (element) => element.getAttribute("href") || element.closest("details[id]")?.id || null;
  const put = (old, fresh) => {
    const focused = old.contains(document.activeElement) ? keyOf(document.activeElement) : null;
    for (const { id } of old.querySelectorAll("details[open][id]")) {
      const same = [...fresh.querySelectorAll("details[id]")].find((each) => each.id === id);
      if (same !== undefined) same.open = true;
    }
    const scrolled = old.querySelector(".strip")?.scrollLeft;
    old.replaceWith(fresh);
    if (scrolled) fresh.querySelector(".strip").scrollLeft = scrolled;
    if (focused === null) return;
    for (const each of fresh.querySelectorAll("a, summary")) if (keyOf(each) === focused) return each.focus({ preventScroll: true });
  };
  const show = (page) => {
    const fresh = page.querySelector("main");
    if (fresh === null) throw new Error("not the page");
    const sections = [...fresh.querySelectorAll("section[id]")];
    const ids = (list) => [...list].map((section) => section.id).join();
    if (ids(sections) !== ids(main.querySelectorAll("section[id]"))) return location.reload();
    ahead = Number(fresh.dataset.now) * 1000 - Date.now();
    document.title = page.title;
    main.dataset.events = fresh.dataset.events;
    for (const section of sections) {
      const old = document.getElementById(section.id);
      if (old.outerHTML !== section.outerHTML) put(old, section);
    }
    listen();
  };
  const refresh = async () => {
    if (paused || busy || document.hidden || selecting()) return;
    busy = true;
    try {
      const answer = await fetch(location.origin + location.pathname + location.search, { headers: { accept: "text/html" }, cache: "no-store" });
      // The node restarts: its page comes back without a reload. A node that is busy or stops answers in plain text.
      if (answer.status === 503 && (answer.headers.get("content-type") || "").startsWith("text/html")) return location.reload();
      if (!answer.ok) throw new Error(String(answer.status));
      show(new DOMParser().parseFromString(await answer.text(), "text/html"));
      note.hidden = true;
    } catch {
      note.hidden = false;
    } finally {
      busy = false;
    }
  };
  let source = null;
  let address = "";
  let soon = 0;
  const listen = () => {
    const wanted = document.hidden || paused ? "" : main.dataset.events;
    if (wanted === address) return;
    if (source !== null) source.close();
    address = wanted;
    source = wanted === "" ? null : new EventSource(wanted);
    if (source === null) return;
    source.onmessage = () => {
      clearTimeout(soon);
      soon = setTimeout(refresh, ${EVENT_MS});
    };
  };
  if (polled) setInterval(refresh, ${REFRESH_MS});
  document.addEventListener("visibilitychange", () => {
    listen();
    void refresh();
  });
  addEventListener("pagehide", () => source !== null && source.close());
  listen();
  pause.hidden = false;
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", String(paused));
    pause.textContent = paused ? "Go on updating" : "Pause updates";
    listen();
    void refresh();
  });
})();
`
