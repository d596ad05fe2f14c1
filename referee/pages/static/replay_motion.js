// Moves what changes in the position of a replay: what is new falls into its place, and a board that is drawn
// at another size grows or shrinks, unless the reader prefers less motion. It watches what replay.js draws.
"use strict";

function moveChanges(before, after) {
  const options = { duration: 250, easing: "ease-out" };
  const drawn = (panels) => panels.flatMap((panel) => [...panel.children]);
  const known = new Set(drawn(before).map((one) => one.outerHTML));
  for (const one of drawn(after)) {
    if (!known.has(one.outerHTML)) one.animate({ opacity: [0, 1], translate: ["0 -8px", "0 0"] }, options);
  }
  for (const [number, panel] of after.entries()) {
    const places = [before[number], panel].map((one) => one?.getAttribute("transform") ?? "");
    if (places[0] === places[1] || !places.every((place) => place.includes("scale"))) continue;
    // In a style, lengths have units.
    const transform = places.map((place) => place.replace(/\(([-\d.]+) ([-\d.]+)\)/, "($1px, $2px) "));
    panel.animate({ transform }, options);
  }
}

new MutationObserver((changes) => {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const { target, removedNodes, addedNodes } of changes) {
    if (target.matches(".pieces") && removedNodes.length) moveChanges([...removedNodes], [...addedNodes]);
  }
}).observe(document.body, { childList: true, subtree: true });
