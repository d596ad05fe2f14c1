// The parts of a replay that are made from the data of a game alone: cards of seats, rows of the list, what is
// said of a step, and the marks of steps at which something went wrong. All text is set as text.
"use strict";

/** A chance from 0 to 1 in percent. */
const percent = (value) => `${Math.round(100 * value)} %`;

/** By how much a bot's own chance to win falls where it is marked. */
const FALL = 0.15;

/** The marks of each step, from the lines of each: a sign, the seat, and what the sign means. `deciding` is the step
 *  with the deciding move, and `words` say why. */
function marksOf(stepLines, deciding, words) {
  const values = [];
  return stepLines.map((lines, step) => {
    const marks = step === deciding ? [{ seat: 0, sign: "★", kind: "deciding", text: words }] : [];
    const add = (line, sign, kind, text) => marks.push({ seat: line.seat, sign, kind, text });
    const rejected = lines.filter((line) => line.kind === "rejected");
    if (rejected.length) {
      const count = rejected.length === 1 ? "an answer" : `${rejected.length} answers`;
      add(rejected[0], "!", "warn", `${count} rejected`);
    }
    for (const line of lines) {
      if (line.taken_us) add(line, "◷", "warn", `${timeText(line.taken_us)} of reserve taken`);
      if (line.kind === "default") add(line, "◷", "bad", "time was up");
      if (line.kind === "left") add(line, "✕", "bad", line.text);
      if (line.value === undefined) continue;
      const before = values[line.seat];
      if (before - line.value >= FALL) {
        add(line, "▼", "bad", `its own chance fell from ${percent(before)} to ${percent(line.value)}`);
      }
      values[line.seat] = line.value;
    }
    return marks;
  });
}

/** A mark as an element. */
function markSign(mark) {
  const made = make("span", mark.sign, { class: `sign ${mark.kind}` });
  made.title = mark.text;
  return made;
}

/**
 * The card of a seat: its name, whether it is to move, what it thinks, and its clock.
 * @param {object} state `last`, its last timed line; `late`, the line with which it ran out of time; `isOut`, whether
 *   it left the game by a fault; `reserve`
 *   and `most`, its reserve now and at most; `value`, what it gives itself; `toMove`; and `rank`, at the end
 */
function seatCard(game, seat, { last, late, isOut, reserve, most, value, toMove, rank }) {
  const clock = game.clocks[seat - 1];
  const card = make("li", "", { class: `card of-seat${seat}` });
  card.classList.toggle("to-move", toMove);
  card.classList.toggle("won", rank === 1);
  card.classList.toggle("out", isOut || late !== undefined);
  card.classList.toggle("late", late !== undefined);
  const who = card.appendChild(make("div", "", { class: "who" }));
  who.append(seatMark(game, seat), make("span", game.bots[seat - 1], { class: "name" }));
  const places = game.bots.length > 2 ? `place ${rank}` : rank === 1 ? "won" : "lost";
  const tied = rank === 1 && game.end.ranks.filter((other) => other === 1).length > 1;
  const about = card.appendChild(make("div", "", { class: "about-seat" }));
  if (toMove || rank) {
    about.append(make("strong", toMove ? "to move" : tied ? "tied" : places, { class: "state" }));
  }
  if (value !== undefined) about.append(make("span", `gives itself ${percent(value)}`, { class: "own" }));
  const hasReserve = reserve !== null && (clock?.reserve_us > 0 || reserve > 0);
  const big = late ? "0.0 s" : hasReserve ? timeText(reserve) : last ? timeText(last.used_us) : "–";
  const of = clock?.move_us ? ` of ${timeText(clock.move_us)}` : "";
  const reading = late
    ? `out of time after ${timeText(late.used_us)}`
    : hasReserve
      ? `reserve${last ? ` · last ${timeText(last.used_us)}` : ""}`
      : last && `last move${of}`;
  card.append(make("span", big, { class: "big" }), make("span", reading ?? "", { class: "small" }));
  const bar = card.appendChild(make("span", "", { class: "bar" }));
  bar.style.setProperty("--share", late || !hasReserve ? 0 : Math.min(1, reserve / most));
  bar.hidden = !hasReserve;
  card.title = clock ? `clock ${clock.text}` : "no clock";
  return card;
}

/** What stands beside a line by its kind, where that is not the kind itself. */
const LINE_LABELS = { move: "", left: "", default: "time was up", unplayed: "does not count" };

/** What decided the game in a step with these marks, as elements. */
function decided(marks) {
  const found = marks.filter((mark) => mark.kind === "deciding");
  return found.map((mark) => make("p", [markSign(mark), ` Deciding move: ${mark.text}`], { class: "deciding" }));
}

/** The row of a step in the list, as a button: its lines, or the news, or what is said where there is nothing.
 *  `isPlaced` says whether the place of the lines shows their seats. */
function stepRow(game, number, lines, news, nothing, marks, isPlaced) {
  const button = make("button", "", { class: "row" });
  button.type = "button";
  button.tabIndex = -1;
  button.append(make("span", number, { class: "number" }));
  const what = button.appendChild(make("span", "", { class: "what" }));
  const rejected = lines.filter((line) => line.kind === "rejected").length;
  for (const line of lines) {
    const one = what.appendChild(make("span", "", { class: `line ${line.kind}${isPlaced ? ` column${line.seat}` : ""}` }));
    if (line.seat && !isPlaced) one.append(seatMark(game, line.seat), " ");
    one.append(make("span", line.text, { class: "text" }));
    const label = LINE_LABELS[line.kind] ?? line.kind;
    if (line.kind === "rejected" && rejected > 1) one.append(" ", make("span", `${rejected} rejected`, { class: "kind" }));
    else if (label) one.append(" ", make("span", label, { class: "kind" }));
    for (const mark of line.kind === "rejected" ? [] : marks.filter((each) => each.seat === line.seat)) {
      if (mark.sign !== "!") one.append(markSign(mark));
    }
    if (line.used_us !== undefined) one.append(make("span", timeText(line.used_us), { class: "time" }));
    if (line.value !== undefined) {
      const value = one.appendChild(make("span", Math.round(100 * line.value), { class: "value" }));
      value.title = `gives itself ${percent(line.value)}`;
    }
  }
  for (const mark of marks.filter((each) => each.kind === "deciding")) button.append(markSign(mark));
  if (!lines.length) what.append(news ? make("span", news.join(" · "), { class: "line news" }) : make("span", nothing, { class: "line soft" }));
  return button;
}

/** What a line says, in full: as elements; without the `pv` of a seat that is shown move by move. */
function lineSaid(game, line, shownSeats) {
  const one = make("p", "", { class: `line ${line.kind}` });
  const [first, ...rest] = line.words.split("\n");
  if (line.kind !== "move" && line.kind !== "default") {
    one.append(first);
    return [one];
  }
  one.append(seatMark(game, line.seat), ` ${game.bots[line.seat - 1]}: `, make("strong", line.text));
  if (line.kind === "default") one.append(" ", make("span", "time was up, default submitted", { class: "bad" }));
  if (line.value !== undefined) one.append(make("span", ` gives itself ${percent(line.value)}`, { class: "own" }));
  const small = rest.map((text) => make("p", text.trim(), { class: "soft small" }));
  const isSaid = ([key]) => key !== "pv" || !shownSeats.includes(line.seat);
  const info = (line.info ?? []).filter(isSaid).map(([key, text]) => {
    const said = make("p", "", { class: "info" });
    said.append(make("span", key || "info", { class: "key" }), text);
    return said;
  });
  return [one, ...info, ...small];
}

/** What the lines of a step say; of several rejected answers, all but the first are folded. */
function linesSaid(game, lines, shownSeats) {
  const rejected = lines.filter((line) => line.kind === "rejected");
  const others = lines.filter((line) => line.kind !== "rejected");
  const said = rejected.slice(0, 1).flatMap((line) => lineSaid(game, line, shownSeats));
  if (rejected.length > 1) {
    const count = rejected.length - 1;
    const more = rejected.slice(1).flatMap((line) => lineSaid(game, line, shownSeats));
    said.push(folded(`${count} more answer${count === 1 ? "" : "s"} rejected`, ...more));
  }
  return [...said, ...others.flatMap((line) => lineSaid(game, line, shownSeats))];
}

/** What bots expected when they moved, as buttons that show the positions; `show` is called with one. */
function expectedBy(game, expected, show) {
  return (expected ?? []).map(({ seat, moves }) => {
    const one = make("p", "", { class: `expected of-seat${seat}` });
    one.append(seatMark(game, seat), " expects ");
    for (const move of moves) {
      const button = one.appendChild(make("button", move.text, { class: "small" }));
      button.type = "button";
      button.addEventListener("click", () => {
        for (const other of one.parentNode.querySelectorAll(".expected button")) other.ariaPressed = other === button;
        show(move);
      });
    }
    return one;
  });
}

/** What bots said of their moves that was wrong. */
function saidWrong(game, wrong) {
  return (wrong ?? []).map(([seat, words]) =>
    make("p", [seatMark(game, seat), ` ${game.bots[seat - 1]} is wrong: `, ...quoted(words)], { class: "wrong bad" }));
}

/** What bots wrote besides their answers, by seat, as elements. */
function writtenBy(game, written) {
  return Object.entries(written ?? {}).flatMap(([seat, parts]) =>
    parts.map(([what, text]) => {
      const one = make("figure", "", { class: `wrote of-seat${seat}` });
      const title = one.appendChild(make("figcaption", "", { class: "soft small" }));
      title.append(seatMark(game, seat), ` ${game.bots[seat - 1]}: ${what}`);
      one.append(make("pre", text));
      return one;
    }),
  );
}

/** A sign that bots wrote something in a step. */
function writtenSign(written) {
  const made = make("span", "≡", { class: "sign soft" });
  made.title = [...new Set(Object.values(written).flatMap((parts) => parts.map(([what]) => what)))].join(", ");
  return made;
}
