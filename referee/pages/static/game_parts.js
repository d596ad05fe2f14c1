// What replays and boards of games in play are both made of: elements, times, the marks of seats, and how a game
// ended. All text is set as text.
"use strict";

/** A new element with what is in it, texts or elements, and its attributes. */
function make(tag, content = "", attributes = {}, made = document.createElement(tag)) {
  if (content !== "") made.append(...[content].flat());
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** A text as parts of an element, in which what stands between backticks is code. */
const quoted = (text) => text.split("`").map((part, at) => (at % 2 ? make("code", part) : part));

/** Makes an element of a drawing, as `make` does. */
function makeShape(tag, content = "", attributes = {}) {
  return make(tag, content, attributes, document.createElementNS("http://www.w3.org/2000/svg", tag));
}

/** Elements that are seen when a person opens what is named here. */
function folded(summary, ...content) {
  const made = make("details");
  made.append(make("summary", summary), ...content);
  return made;
}

/** A time as a person reads it. */
function timeText(us) {
  if (us < 1000) return us ? `${us} µs` : "0 s";
  if (us < 1e6) return `${us < 1e4 ? (us / 1e3).toFixed(1) : Math.round(us / 1e3)} ms`;
  if (us < 9e7) return `${us < 1e7 ? (us / 1e6).toFixed(1) : Math.round(us / 1e6)} s`;
  return `${Math.round(us / 6e7)} min`;
}

/** The mark of a seat: its number in its colour. */
function seatMark(game, seat) {
  const made = make("span", seat, { class: `seat seat${seat}` });
  made.title = `seat ${seat} ${game.bots[seat - 1]}`;
  return made;
}

/** How the game ended, in the words that are stamped on the board. */
function stampWords(game) {
  const best = game.bots.filter((_, index) => game.end.ranks[index] === 1);
  if (game.bots.length === 1) return `${game.bots[0]} ${best.length ? "won" : "lost"}`;
  if (game.bots.length === 2 && best.length === 2) return "a draw";
  if (best.length > 2) return best.length === game.bots.length ? "all tie" : `${best.length} of ${game.bots.length} tie`;
  return best.length === 1 ? `${best[0]} wins` : `${best.join(" and ")} tie`;
}
