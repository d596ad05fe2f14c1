// The position of a replay: the board, and the rows of each seat below its name.
"use strict";

/**
 * Shows positions in the parts of a replay that are for it.
 * @returns {{look(view: object): void, show(position: object): void}} `look` makes room for what a view sees, and
 *   `show` draws a position of it: a step, or what a bot expects
 */
function mountBoard(root, game) {
  const [board, picture, ground, pieces, rows] = ["board", "picture", "ground", "pieces", "rows"].map((name) =>
    root.querySelector(`.${name}`),
  );
  /** What the rows of each seat are drawn in. */
  let ofSeats = [];

  function insert(target, indexes) {
    target.innerHTML = indexes.map((index) => game.elements[index]).join("");
  }

  /** Makes room for the rows of a seat. */
  function roomFor(seat, box) {
    const [svg, drawn] = ["svg", "g"].map((tag) => document.createElementNS(picture.namespaceURI, tag));
    svg.setAttribute("viewBox", box);
    svg.setAttribute("class", "picture");
    svg.style.setProperty("--width", `${box.split(" ")[2]}px`);
    drawn.setAttribute("class", "pieces");
    svg.append(drawn);
    rows.append(svg);
    return [seat, drawn];
  }

  return {
    look(view) {
      picture.setAttribute("viewBox", view.box);
      const [, , width, height] = view.box.split(" ").map(Number);
      board.style.setProperty("--ratio", width / height);
      board.style.setProperty("--width", `${width}px`);
      ground.innerHTML = view.ground;
      rows.replaceChildren();
      ofSeats = Object.entries(view.rows).map(([seat, box]) => roomFor(seat, box));
    },
    show(position) {
      insert(pieces, position.draw);
      for (const [seat, drawn] of ofSeats) insert(drawn, position.rows[seat]);
    },
  };
}
