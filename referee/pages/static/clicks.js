// Moves that are chosen on drawn boards: marks that say for which part of a move they stand (`data-part`) are
// clicked, or chosen with the keys; what whole moves would add is drawn over them as ghosts, which are clicked too.
"use strict";

/**
 * Makes what is drawn in pictures answer to clicks and keys.
 * @param {Element} root what has all of the pictures in it
 * @param {SVGElement[]} pictures with what is drawn in groups of the classes `ground` and `pieces`; ghosts are
 *   drawn in the first
 * @param {{part(part: string): void, move(move: string): void}} chosen are told what is clicked
 * @returns {{show(choice: ?object, beginning: ?object): void, refresh(): void, near(move: string, isNear: boolean): void, thumbnail(move: string): Element|string}}
 *   `show` shows what has been chosen and what can follow, as the server answers it, and `beginning` the same for
 *   no parts; without a choice, clicks are kept until there is one; `refresh` does that again, after something was drawn; `near` stresses the ghost of a move;
 *   `thumbnail` is a small drawing of what a move adds
 */
function mountClicks(root, pictures, chosen) {
  /** How many pixels beside a part one may click: a finger needs 44. */
  const REACH = 24;
  let choice = null;
  let beginning = null;
  let early = []; // the parts at each point that was clicked before it was known what can be chosen
  const ghostLayer = makeShape("g", "", { class: "ghosts" });
  pictures[0].append(ghostLayer);
  const layers = pictures.map((svg) => {
    const layer = makeShape("g");
    svg.append(layer);
    listen(svg);
    return [svg, layer];
  });
  const ghostOf = (move) => [...ghostLayer.children].find((ghost) => ghost.dataset.move === move);
  const targets = () => [...root.querySelectorAll(".target[tabindex]")];

  /** The smallest box round elements, in the coordinates of their `<svg>`; null where nothing is seen of them. */
  function boxIn(svg, shapes) {
    const matrix = svg.getScreenCTM();
    const boxes = [...shapes].map((shape) => shape.getBoundingClientRect()).filter((box) => box.width || box.height);
    if (!boxes.length || !matrix) return null;
    const at = (side, other) => new DOMPoint(side, other).matrixTransform(matrix.inverse());
    const least = (side) => Math.min(...boxes.map((box) => box[side]));
    const most = (side) => Math.max(...boxes.map((box) => box[side]));
    const [first, last] = [at(least("left"), least("top")), at(most("right"), most("bottom"))];
    return { x: first.x, y: first.y, width: last.x - first.x, height: last.y - first.y };
  }

  /** What shows in a picture that a part can be chosen, or was; `isNamed`: it is the one that keys lead to. */
  function target(svg, part, isChosen, isNamed) {
    const shapes = svg.querySelectorAll(`:is(.ground, .pieces) [data-part="${CSS.escape(part)}"]`);
    const box = boxIn(svg, shapes);
    if (!box) return null;
    for (const shape of shapes) shape.classList.add(isChosen ? "is-chosen" : "can");
    // A cell and a stone have a ring; what is longer, such as a tile or a column, has a frame.
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const least = Math.min(box.width, box.height);
    const isRound = Math.max(box.width, box.height) < 1.4 * least;
    const [width, height] = isRound ? [least, least] : [box.width + 10, box.height + 10];
    const outline = { x: x - width / 2, y: y - height / 2, width, height, rx: isRound ? least / 2 : 8 };
    const name = shapes[0].querySelector("title")?.textContent || part;
    const button = { role: "button", "aria-label": name, "aria-pressed": isChosen, tabindex: "-1" };
    return makeShape(
      "g",
      [
        makeShape("rect", "", { class: "halo", ...outline }),
        makeShape("rect", "", { class: "ring", ...outline }),
        isRound && !isChosen ? makeShape("circle", "", { class: "dot", cx: x, cy: y, r: 0.09 * least }) : "",
      ],
      { class: `target${isChosen ? " pressed" : ""}`, "data-target": part, ...(isNamed ? button : { "aria-hidden": "true" }) },
    );
  }

  function refresh() {
    const focused = document.activeElement?.closest("[data-target]")?.dataset.target;
    const parts = [...(choice?.parts ?? []).map((part) => [part, true]), ...(choice?.next ?? []).map((part) => [part, false])];
    const named = new Set();
    for (const [svg, layer] of layers) {
      for (const shape of svg.querySelectorAll(".can, .is-chosen")) shape.classList.remove("can", "is-chosen");
      const made = [];
      for (const [part, isChosen] of parts) {
        const shown = target(svg, part, isChosen, !named.has(part));
        if (!shown) continue;
        named.add(part);
        made.push(shown);
      }
      layer.replaceChildren(...made);
    }
    const again = targets().find((one) => one.dataset.target === focused);
    (again ?? targets()[0])?.setAttribute("tabindex", "0");
    again?.focus({ preventScroll: true });
  }

  function showGhosts() {
    const made = (choice?.ghosts ?? []).map(({ move, svg }) => {
      const ghost = makeShape("g", "", { class: "ghost", "data-move": move });
      ghost.innerHTML = svg; // drawn by the server, which escapes whatever comes from a game
      return ghost;
    });
    ghostLayer.replaceChildren(...made);
    // Those in the same place are seen one at a time, with the buttons of their moves.
    const boxes = made.map((ghost) => ghost.getBoundingClientRect());
    const meet = (one, other) =>
      Math.min(one.right, other.right) - Math.max(one.left, other.left) > 3 && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 3;
    made.forEach((ghost, index) => {
      ghost.classList.toggle("behind", boxes.some((box, other) => other !== index && meet(box, boxes[index])));
    });
  }

  /** The parts that lie at a point, from the top down. */
  function partsAt(svg, x, y) {
    const there = document.elementsFromPoint(x, y).filter((element) => svg.contains(element));
    return there.map((element) => element.closest("[data-part]")?.dataset.part).filter(Boolean);
  }

  /** The part that is meant by a point: what lies there, or what is near. */
  function meant(svg, x, y) {
    const parts = partsAt(svg, x, y);
    const found = parts.find((part) => choice.next.includes(part) || choice.parts.includes(part));
    const other = found ?? parts.find((part) => beginning.next.includes(part));
    if (other) return other;
    let [best, nearest] = [parts[0], REACH];
    for (const one of svg.querySelectorAll("[data-target]")) {
      const box = one.querySelector(".ring").getBoundingClientRect();
      const distance = Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom));
      if (distance < nearest) [best, nearest] = [one.dataset.target, distance];
    }
    return best;
  }
  const ghostAt = (x, y) =>
    document
      .elementsFromPoint(x, y)
      .map((element) => element.closest(".ghost"))
      .find(Boolean);

  /** Moves the focus to the nearest target in a direction. */
  function go(from, [right, down]) {
    const middle = (one) => {
      const box = one.querySelector(".ring").getBoundingClientRect();
      return [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
    };
    const [x, y] = middle(from);
    let [best, least] = [null, Infinity];
    for (const one of targets()) {
      const [otherX, otherY] = middle(one);
      const along = (otherX - x) * right + (otherY - y) * down;
      const across = Math.abs((otherX - x) * down) + Math.abs((otherY - y) * right);
      if (along > 1 && along + 2 * across < least) [best, least] = [one, along + 2 * across];
    }
    if (!best) return;
    from.setAttribute("tabindex", "-1");
    best.setAttribute("tabindex", "0");
    best.focus();
  }

  function listen(svg) {
    svg.addEventListener("click", (event) => {
      if (!choice) {
        early.push(partsAt(svg, event.clientX, event.clientY));
        return;
      }
      const own = event.target.closest("[data-target]"); // by a screen reader, without a point
      const ghost = own ? null : ghostAt(event.clientX, event.clientY);
      const part = own?.dataset.target ?? meant(svg, event.clientX, event.clientY);
      if (ghost) chosen.move(ghost.dataset.move);
      else if (part) chosen.part(part);
    });
    svg.addEventListener("pointermove", (event) => {
      if (event.pointerType !== "mouse" || !choice) return;
      const over = ghostAt(event.clientX, event.clientY);
      const part = over ? null : meant(svg, event.clientX, event.clientY);
      for (const one of svg.querySelectorAll("[data-target]")) one.classList.toggle("near", one.dataset.target === part);
      for (const ghost of ghostLayer.children) ghost.classList.toggle("near", ghost === over);
    });
    svg.addEventListener("pointerleave", () => {
      for (const shape of svg.querySelectorAll(".near")) shape.classList.remove("near");
    });
    svg.addEventListener("keydown", (event) => {
      const one = event.target.closest("[data-target]");
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!one || !(way || event.key === "Enter" || event.key === " ")) return;
      event.preventDefault();
      if (way) go(one, way);
      else chosen.part(one.dataset.target);
    });
  }

  return {
    show(next, first) {
      choice = next;
      beginning = first;
      showGhosts();
      refresh();
      const kept = choice ? early.filter((parts) => parts.length) : [];
      early = [];
      for (const parts of kept) chosen.part(parts.find((part) => choice.next.includes(part)) ?? parts[0]);
    },
    refresh,
    near: (move, isNear) => ghostOf(move)?.classList.toggle("near", isNear),
    thumbnail(move) {
      const ghost = ghostOf(move);
      const box = ghost && boxIn(pictures[0], ghost.querySelectorAll("use, path, text"));
      if (!box || box.width > 200 || box.height > 200) return ""; // too small to be seen
      const copies = [...ghost.children].map((child) => child.cloneNode(true));
      const viewBox = `${box.x - 3} ${box.y - 3} ${box.width + 6} ${box.height + 6}`;
      return makeShape("svg", copies, { class: "picture", viewBox, "aria-hidden": "true" });
    },
  };
}
