// What the page of a run has beside its boards: standings, games that ended, faults, and how far the run is. All text
// is set as text.
"use strict";

/** How many bots, games that ended and games with a fault are listed at most, and how few games on small screens;
 *  the pages of the run have all. */
const LISTED = { bots: 16, ended: 8, few: 4, faults: 3 };

const countText = (number) => number.toLocaleString("en");
const gamesText = (number) => `${countText(number)} ${number === 1 ? "game" : "games"}`;

/** Fills an element where what it shows has changed. */
function fill(element, value, content) {
  const text = JSON.stringify(value);
  if (element.dataset.shown === text) return;
  element.dataset.shown = text;
  element.replaceChildren(...content());
}

/** The name of a bot, which may be cut where there is no room. */
function botName(name, kind = "") {
  const made = make("bdi", name, { class: `name ${kind}`.trim() });
  made.title = name;
  return made;
}

/** The bots of a game that ended, with their scores: between the names where there are two. */
function endedTexts({ bots, scores, won }) {
  const names = bots.map((name, index) => botName(name, `of-seat${index + 1}${won.includes(index + 1) ? " won" : ""}`));
  if (bots.length === 2) return [names[0], make("span", scores.join(" : "), { class: "score" }), names[1]];
  const some = names.map((name, index) => make("span", [name, " ", make("span", scores[index], { class: "score" })]));
  return [make("span", some, { class: "all" })];
}

/** The row of a game that ended, with a link to its replay if it may be shown. */
function endedRow(game) {
  const why = make("span", game.why, { class: `why${game.fault ? " bad" : ""}` });
  why.title = game.why;
  const content = [...endedTexts(game), why];
  const inside = game.show ? make("a", content, { href: `/game/${game.n}` }) : make("span", content);
  inside.classList.add("ended");
  const made = make("li", inside);
  made.dataset.number = game.n;
  return made;
}

/** Shows games with the most recent first. Rows that stay are kept, so that they keep the focus. */
function listEnded(list, games) {
  const rows = new Map([...list.children].map((row) => [Number(row.dataset.number), row]));
  const kept = new Set(games.map((game) => game.n));
  for (const [number, row] of rows) if (!kept.has(number)) row.remove();
  let next = list.firstElementChild;
  for (const game of games) {
    if (next && Number(next.dataset.number) === game.n) next = next.nextElementSibling;
    else list.insertBefore(endedRow(game), next);
  }
}

const OUTCOMES = { w: "won", d: "drew", l: "lost", f: "lost by a fault" };

/** The last games of a bot as bars, the most recent last. */
function formBars(form) {
  const bars = make("span", form.map((one) => make("i", "", { class: one })), { class: "form", role: "img" });
  bars.setAttribute("aria-label", `last games: ${form.map((one) => OUTCOMES[one]).join(", ") || "none"}`);
  return bars;
}

/** By how many places a bot has moved in the last games. */
function arrow(moved, since) {
  const places = Math.abs(moved) === 1 ? "place" : "places";
  const text = since && `${moved ? `${Math.abs(moved)} ${places} ${moved > 0 ? "up" : "down"}` : "the same place"} after the last ${gamesText(since)}`;
  const made = make("span", moved > 0 ? "▲" : moved < 0 ? "▼" : "–", { class: `arrow ${moved > 0 ? "good" : moved < 0 ? "bad" : ""}`, role: "img" });
  made.setAttribute("aria-label", text || "no games");
  made.title = text || "";
  return made;
}

function standingRow({ bot, w, d, l, form, elo, moved }, index, since, hasDraws, hasElo) {
  const counts = make("span", (hasDraws ? [w, d, l] : [w, l]).join("–"), { class: "counts" });
  counts.title = `${w} won, ${d} drawn, ${l} lost`;
  const rating = elo === null ? "" : `${elo < 0 ? "−" : "+"}${Math.abs(elo)}`;
  return make("li", [
    make("span", index + 1, { class: "rank" }),
    arrow(since ? moved : 0, since),
    botName(bot),
    formBars(form),
    counts,
    ...(hasElo ? [make("span", rating, { class: "elo" })] : []),
  ]);
}

/** Shows standings as a list, what its columns are, and in one line the first bots. */
function listStandings(list, columns, ticker, { standings, since }) {
  const some = standings.slice(0, LISTED.bots);
  const hasDraws = standings.some((one) => one.d);
  const hasElo = standings.some((one) => one.elo !== null);
  list.classList.toggle("rated", hasElo);
  say(columns, standings.length ? `${hasDraws ? "won–drawn–lost" : "won–lost"}${hasElo ? ", Elo" : ""}` : "");
  fill(list, [some, since, hasDraws, hasElo], () => some.map((one, index) => standingRow(one, index, since, hasDraws, hasElo)));
  fill(ticker, some.slice(0, 6), () =>
    some.slice(0, 6).map((one, index) => make("li", [make("span", index + 1, { class: "rank" }), botName(one.bot), make("span", one.w, { class: "counts" })])),
  );
}

/** How far the run is, in words. */
function progressText({ count, planned, later, remaining }) {
  const games = planned ? `${countText(count)} of ${gamesText(planned)}` : gamesText(count);
  const left = remaining ? `, ${remaining} left` : "";
  return `${games}${left}${later ? `, then at most ${countText(later)} of the closing test` : ""}`;
}
