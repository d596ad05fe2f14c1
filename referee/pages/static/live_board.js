// A board on which a game in play is followed: the position, and a strip for each seat with its name, what the
// picture says of it, and its clock, which the page runs itself. What is shown is a BOARD as
// `viewing/drawn_board.py` describes it, and patches of it. All text is set as text.
"use strict";

/** A board after a patch. A patch for another game, and one whose elements begin with the first, is a board by itself. */
function patchedBoard(board, patch) {
  const before = board && (patch.id ?? board.id) === board.id && patch.from !== 0 ? board : { elements: [] };
  const elements = patch.new ? [...before.elements.slice(0, patch.from), ...patch.new] : before.elements;
  return { ...before, ...patch, elements, new: undefined };
}

/** The clock of the referee's machine, in microseconds, from what the page is told of it. */
function refereeClock() {
  let ahead = 0;
  return {
    hear: (now) => (ahead = now - 1000 * performance.now()),
    now: () => ahead + 1000 * performance.now(),
  };
}

/** What is left of a seat's time, in microseconds, and the shares of it; null where it has no clock, or one that is hidden. */
function timeLeft(board, seat, now) {
  const before = board.reserves[seat - 1];
  if (!board.clocks[seat - 1] || before === null) return null;
  const [move, most] = board.clocks[seat - 1];
  const used = board.turn.includes(seat) ? Math.max(0, now - board.at) : 0;
  const allowance = Math.max(0, move - used);
  const reserve = Math.max(0, before - Math.max(0, used - move));
  const hasReserve = most > 0 || reserve > 0;
  return {
    shown: hasReserve ? reserve : allowance,
    of: hasReserve ? "in reserve" : "for the move",
    reserve: hasReserve ? Math.min(1, reserve / Math.max(most, 1)) : null,
    allowance: move ? allowance / move : null,
    isSpent: allowance + reserve === 0,
  };
}

/** A clock as a person reads it, rounded up: minutes and seconds, or the last seconds with their tenths. */
function clockText(us) {
  const seconds = Math.ceil(us / 1e6);
  if (us < 1e7) return `${(Math.ceil(us / 1e5) / 10).toFixed(1)} s`;
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  const two = (number) => String(number).padStart(2, "0");
  return minutes < 60 ? `${minutes}:${two(seconds % 60)}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

/** How long what follows a number may be to stand beside it. */
const LONGEST_BESIDE = 18;

/** What the picture says of a seat: a number with which it begins, such as its score, what stands beside it, and the rest. */
function saidOf(board, seat) {
  const text = board.rows[seat] ?? "";
  const [, count = "", most = "", rest] = /^(?:(\d+)\b( of \d+\b)?)?(.*)$/.exec(text);
  // As much as has room there: all, or up to the first dot or comma, or nothing but of how many it is.
  for (const beside of [most + rest, most + rest.split(/ · |, /)[0]]) {
    if (count && beside.length <= LONGEST_BESIDE) return { count, beside, rest: text.slice(count.length + beside.length).replace(/^( ·|,) /, "") };
  }
  return { count, beside: most, rest: rest.trim() };
}

/** Sets an element's text where it differs, so that nothing is drawn anew without need. */
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Makes room for boards in an element, whose content it replaces.
 * @param {Element} root gets the class `live-board`, and in `data-seats` how many seats there are
 * @param {{now: function(): number}} clock the referee's, see `refereeClock`
 * @returns {{picture: SVGElement, show(board: object): void, tick(): void}} `show` shows a whole board, see
 *   `patchedBoard`; `tick` runs its clocks
 */
function mountLiveBoard(root, clock) {
  const defs = makeShape("defs");
  const ground = makeShape("g", "", { class: "ground" });
  const pieces = makeShape("g", "", { class: "pieces" });
  const picture = makeShape("svg", [defs, ground, pieces], { class: "picture", role: "img" });
  let board = null;
  let strips = [];

  function strip(seat) {
    const part = (name, tag = "span") => make(tag, "", { class: name });
    const [count, beside, state, rest, left, of] = ["count", "beside", "state", "rest", "left", "of"].map((name) => part(name));
    const [reserve, allowance] = ["reserve", "allowance"].map((name) => part(`bar ${name}`));
    const name = make("bdi", board.bots[seat - 1], { class: "name" });
    name.title = board.bots[seat - 1];
    const time = make("div", [left, of, reserve, allowance], { class: "time" });
    const element = make("div", "", { class: `strip of-seat${seat}` });
    element.append(
      make("div", [seatMark(board, seat), name], { class: "who" }),
      make("div", [count, beside], { class: "score" }),
      make("div", [state, rest], { class: "about" }),
      time,
    );
    return { element, count, beside, state, rest, time, left, of, reserve, allowance };
  }

  function share(bar, value) {
    bar.hidden = value === null;
    if (value !== null) bar.style.setProperty("--share", value.toFixed(2));
  }

  function showTime(parts, seat) {
    const found = timeLeft(board, seat, clock.now());
    parts.time.hidden = found === null;
    if (!found) return;
    say(parts.left, clockText(found.shown));
    say(parts.of, found.of);
    share(parts.reserve, found.reserve);
    share(parts.allowance, found.allowance);
    parts.element.classList.toggle("spent", found.isSpent);
  }

  function insert(target, svg) {
    target.innerHTML = svg; // drawn by the server, which escapes whatever comes from a game
  }

  return {
    picture,
    show(next) {
      const before = board;
      board = next;
      if (before?.id !== board.id || before.bots.length !== board.bots.length) {
        strips = board.bots.map((_, index) => strip(index + 1));
        root.classList.add("live-board");
        root.dataset.seats = board.bots.length;
        root.replaceChildren(picture, ...strips.map((parts) => parts.element));
      }
      if (before?.defs !== board.defs) insert(defs, board.defs);
      if (before?.ground !== board.ground) insert(ground, board.ground);
      if (before?.box !== board.box) picture.setAttribute("viewBox", board.box);
      insert(pieces, board.draw.map((index) => board.elements[index]).join(""));
      picture.setAttribute("aria-label", `Move ${board.moves}${board.last ? `: ${board.last}` : ""}`);
      for (const [index, parts] of strips.entries()) {
        const isAsked = board.turn.includes(index + 1);
        const { count, beside, rest } = saidOf(board, index + 1);
        parts.element.classList.toggle("to-move", isAsked);
        say(parts.state, isAsked ? "to move" : "");
        say(parts.count, count);
        say(parts.beside, beside);
        say(parts.rest, rest);
        parts.rest.title = rest;
        showTime(parts, index + 1);
      }
    },
    tick() {
      for (const seat of board?.turn ?? []) showTime(strips[seat - 1], seat);
    },
  };
}
