// The position of a replay: the board, which can be turned round and saved as an image, and what is shown of each
// seat below its name.
"use strict";

/** The rules for what is drawn, with their present colours. */
function drawnRules() {
  const style = getComputedStyle(document.documentElement);
  return [...document.styleSheets]
    .flatMap((sheet) => [...sheet.cssRules])
    .filter((rule) => /^\.(picture|mono|fill-|line-|text-|over-)/.test(rule.selectorText ?? ""))
    .map((rule) => rule.cssText.replace(/var\((--[\w-]+)\)/g, (_, variable) => style.getPropertyValue(variable)))
    .join("");
}

/** Has the browser save what an `<svg>` of the page shows, as a PNG file twice as large. */
async function saveImage(svg, name) {
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const copy = svg.cloneNode(true);
  copy.setAttribute("width", 2 * width);
  copy.setAttribute("height", 2 * height);
  const paper = makeShape("rect", "", { class: "fill-page", width, height });
  const used = new Set([...copy.querySelectorAll("use")].map((one) => one.getAttribute("href").slice(1)));
  const symbols = makeShape("defs", [...used].map((id) => document.getElementById(id).cloneNode(true)));
  copy.querySelector(".pieces").style.transform = ""; // a file has the shape of the frame
  copy.prepend(makeShape("style", drawnRules()), symbols, paper);
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  Object.assign(document.createElement("a"), { href: canvas.toDataURL(), download: `${name}.png` }).click();
}

/**
 * Shows positions in the parts of a replay that are for it.
 * @returns {{look(view: object): void, show(position: object): void, flip(): void, save(name: string): Promise, close(): void}}
 *   `look` makes room for what a view sees, `show` draws a position of it, a step or what a bot expects, `flip`
 *   turns the board round, and `save` has the browser save it
 */
function mountBoard(root, game) {
  /** The height of notes that stand below the board on all screens: a legend of two lines. */
  const MOST_BELOW = 100;
  /** How much larger than in its frame a board that grows may be drawn, and the room at both its sides. */
  const LARGEST = 1.3;
  const RIM = 24;
  const [board, picture, ground, pieces, notes, rows] = ["board", "picture", "ground", "pieces", "notes", "rows"].map((name) =>
    root.querySelector(`.${name}`),
  );
  /** What the rows of each seat are drawn in. */
  let ofSeats = [];
  let isFlipped = false;
  let grows = false;
  const planesOf = (group) => [...group.children].filter((one) => one.getAttribute("text-anchor"));

  /** Whether there is one board with a ground, which does not change its size. */
  const canFlip = () => planesOf(ground).length === 1;

  /** Turns the board round, or back, about the middle of its ground. */
  function turn() {
    board.classList.toggle("flipped", isFlipped);
    if (!canFlip()) return;
    const { x, y, width, height } = planesOf(ground)[0].getBBox();
    const turned = isFlipped ? ` rotate(180 ${x + width / 2} ${y + height / 2})` : "";
    for (const plane of [...planesOf(ground), ...planesOf(pieces)]) {
      plane.setAttribute("transform", plane.getAttribute("transform").replace(/ rotate.*/, "") + turned);
    }
  }

  /** Draws a board that grows as large as the screen has room for: its frame has one shape, screens have others. */
  function fit() {
    const { width: wide, height: high } = picture.getBoundingClientRect();
    const drawn = pieces.getBBox();
    if (!grows || !wide || !drawn.width) return;
    const { width, height } = picture.viewBox.baseVal;
    const unit = Math.min(wide / width, high / height);
    const room = Math.min((wide / unit - RIM) / drawn.width, (high / unit - RIM) / drawn.height);
    const size = Math.min(LARGEST, Math.max(1, room));
    const x = width / 2 - size * (drawn.x + drawn.width / 2);
    const y = (height + high / unit - RIM) / 2 - size * (drawn.y + drawn.height);
    pieces.style.transform = `translate(${x}px, ${y}px) scale(${size})`;
  }

  function insert(target, indexes) {
    target.innerHTML = indexes.map((index) => game.elements[index]).join("");
    // What is drawn after this moves into its place; replay_motion.js sees this drawing before the mark.
    queueMicrotask(() => target.toggleAttribute("data-drawn", true));
  }

  /** Makes room for the rows of a seat, or of 0 for those beside the board. */
  function roomFor(seat, width, height) {
    const drawn = makeShape("g", "", { class: "pieces" });
    const svg = makeShape("svg", drawn, { class: "picture", viewBox: `0 0 ${width} ${height}` });
    svg.style.setProperty("--width", `${width}px`);
    (seat > 0 ? rows : notes).append(svg);
    return [seat, drawn];
  }

  const watching = new ResizeObserver(fit);
  watching.observe(picture);
  return {
    look(view) {
      picture.setAttribute("viewBox", view.box);
      const [, , width, height] = view.box.split(" ").map(Number);
      board.style.setProperty("--ratio", width / height);
      board.style.setProperty("--width", `${width}px`);
      ground.innerHTML = view.ground;
      grows = view.grows ?? false;
      rows.replaceChildren();
      notes.replaceChildren();
      const boxes = Object.entries(view.rows).map(([seat, box]) => [seat, ...box.split(" ").slice(2).map(Number)]);
      // Those of all seats are as wide as the widest, so that all have one size.
      const widest = Math.max(...boxes.map(([seat, wide]) => (seat > 0 ? wide : 0)));
      ofSeats = boxes.map(([seat, wide, high]) => roomFor(seat, seat > 0 ? widest : wide, high));
      board.classList.toggle("beside-notes", boxes.some(([seat, , high]) => seat === "0" && high > MOST_BELOW));
      root.querySelector(".flip").hidden = !canFlip();
    },
    show(position) {
      insert(pieces, position.draw);
      for (const [seat, drawn] of ofSeats) insert(drawn, position.rows[seat]);
      turn();
      fit();
    },
    flip() {
      isFlipped = !isFlipped;
      turn();
    },
    save: (name) => saveImage(picture, name),
    close: () => watching.disconnect(),
  };
}
