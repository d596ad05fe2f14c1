// Moves what changes in the position of a replay: what is new falls into its place, what stands elsewhere glides
// there, and a board that is drawn at another size grows or shrinks, unless the reader prefers less motion. It
// watches what replay_board.js draws.
"use strict";

/** The place of an element, as a style has it: there lengths have units. */
const placeOf = (element) =>
  (element.getAttribute("transform") ?? "").replace(/\(([-\d.]+) ([-\d.]+)\)/, "($1px, $2px)");

/** What an element is, wherever it stands. */
const kindOf = (element) => element.querySelector("title")?.textContent.split(",")[0] ?? "";

function moveChanges(before, after) {
  const options = { duration: 250, easing: "ease-out" };
  const drawn = (panels) => panels.flatMap((panel) => [...panel.children]);
  const old = drawn(before);
  const known = new Set(old.map((one) => one.outerHTML));
  const isInRow = after[0]?.closest(".rows") !== null;
  const places = new Map(isInRow ? old.map((one) => [kindOf(one), placeOf(one)]) : []);
  for (const one of drawn(after)) {
    if (known.has(one.outerHTML)) continue;
    const [from, to] = [places.get(kindOf(one)), placeOf(one)];
    if (kindOf(one) && from && from !== to) one.animate({ transform: [from, to] }, options);
    else if (!from) one.animate({ opacity: [0, 1], translate: [isInRow ? "40px 0" : "0 -8px", "0 0"] }, options);
  }
  for (const [number, panel] of after.entries()) {
    const [from, to] = [before[number], panel].map((one) => (one ? placeOf(one) : ""));
    if (from !== to && from.includes("scale") && to.includes("scale")) {
      panel.animate({ transform: [from, to] }, options);
    }
  }
}

new MutationObserver((changes) => {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const { target, removedNodes, addedNodes } of changes) {
    const wasDrawn = removedNodes.length || target.hasAttribute("data-drawn"); // it may have been empty
    if (target.matches(".pieces") && wasDrawn) moveChanges([...removedNodes], [...addedNodes]);
  }
}).observe(document.body, { childList: true, subtree: true });

// What is printed stands still.
addEventListener("beforeprint", () => document.getAnimations().forEach((one) => one.finish()));
