// Follows the run: replaces the parts of the page that the server sends, and says whether it still does.
"use strict";
{
  const SILENT_MS = 40000; // the server sends something every 15 seconds
  const AGAIN_MS = 3000;
  const connection = document.getElementById("connection");
  const told = document.getElementById("told");
  const waiting = new Map(); // parts that would take the focus away
  let source = null;
  let timer = 0;

  const part = (name) => document.querySelector(`[data-part="${CSS.escape(name)}"]`);
  const state = () => document.querySelector("[data-state]")?.textContent ?? "";
  const say = (text, isLost) => {
    if (connection.textContent === text) return;
    connection.textContent = text;
    connection.classList.toggle("lost", isLost);
    if (isLost || connection.dataset.lost) told.textContent = text;
    connection.dataset.lost = isLost ? "lost" : "";
  };
  const put = (name, html) => {
    const place = part(name);
    if (!place) return;
    if (place.contains(document.activeElement)) {
      waiting.set(name, html);
      return;
    }
    waiting.delete(name);
    const before = state();
    place.innerHTML = html; // made by the server's templates, which escape whatever comes from a record
    if (state() !== before) told.textContent = state();
  };
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(lost, SILENT_MS);
    say("Live: this page follows the run.", false);
  };
  const lost = () => {
    clearTimeout(timer);
    source?.close();
    say("The connection to the server is lost, so this page may be out of date. Trying again.", true);
    timer = setTimeout(connect, AGAIN_MS);
  };
  const connect = () => {
    source = new EventSource("/events");
    source.addEventListener("parts", (event) => {
      heard();
      for (const [name, html] of Object.entries(JSON.parse(event.data))) put(name, html);
    });
    source.addEventListener("beat", heard);
    source.addEventListener("error", lost);
    clearTimeout(timer);
    timer = setTimeout(lost, SILENT_MS);
  };
  document.addEventListener("focusout", () => {
    setTimeout(() => {
      for (const [name, html] of waiting) put(name, html);
    });
  });
  addEventListener("pagehide", () => source?.close());
  addEventListener("pageshow", (event) => {
    if (event.persisted) connect();
  });
  connect();
}
