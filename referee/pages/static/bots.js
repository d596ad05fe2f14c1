// What a report says of one bot: a square for each of its games, by opponent and seat, and its faults. Made from
// the list of games, as `games.js` reads it; all text is set as text.
"use strict";

/**
 * Fills an element with what the games say of a bot.
 * @param {object} data the list of games, whose rows begin with id, section, bots, ranks
 * @param {(number: number) => string} address where a game is replayed, by its number; empty if nowhere
 */
function showBot(element, data, name, address) {
  const [ID, BOTS, RANKS, FAULTS] = [0, 2, 3, 7];
  const SIGNS = { won: "+", drawn: "=", lost: "–", fault: "✕" };
  const bot = data.bots.indexOf(name);
  /** By opponent and seat, the games against it. */
  const met = new Map();
  const faults = new Map();
  const counts = { won: 0, drawn: 0, lost: 0 };

  const make = (tag, text = "", attributes = {}) => {
    const made = document.createElement(tag);
    made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const percentOf = (games) => {
    const points = games.reduce((sum, { result }) => sum + (result === "won" ? 1 : result === "drawn" ? 0.5 : 0), 0);
    return Math.round((100 * points) / games.length);
  };

  data.games.forEach((game, number) => {
    const seat = game[BOTS].indexOf(bot);
    if (seat < 0) return;
    const own = game[RANKS][seat];
    const fault = game[FAULTS][seat] >= 0 ? data.faults[game[FAULTS][seat]] : "";
    if (fault) faults.set(fault, [...(faults.get(fault) ?? []), number]);
    const compare = (rank) => (own < rank ? "won" : own === rank ? "drawn" : "lost");
    const others = game[BOTS].map((other, at) => at).filter((at) => at !== seat);
    const alone = game[BOTS].length === 1;
    const best = alone ? (own === 1 ? "won" : "lost") : compare(Math.min(...others.map((at) => game[RANKS][at])));
    counts[best] += 1;
    for (const at of alone ? [seat] : others) {
      const rival = alone ? "alone" : data.bots[game[BOTS][at]];
      if (!met.has(rival)) met.set(rival, []);
      met.get(rival).push({ number, seat, id: game[ID], fault, result: alone ? best : compare(game[RANKS][at]) });
    }
  });

  const square = ({ number, id, result, fault }) => {
    const kind = fault ? "fault" : result;
    const label = `${result}${fault ? `, fault: ${fault}` : ""}: ${id}`;
    const to = address(number);
    const made = make(to ? "a" : "span", SIGNS[kind], { class: `square ${result} ${kind}`, title: label });
    if (to) made.href = to;
    made.setAttribute(to ? "aria-label" : "data-label", label);
    return made;
  };

  const rivals = [...met].sort(([, one], [, other]) => percentOf(one) - percentOf(other));
  const seats = [...new Set([...met.values()].flat().map(({ seat }) => seat))].sort((one, other) => one - other);
  const table = make("table", "", { class: "figures squares" });
  table.append(make("caption", "A square for each game: + won, = drawn, – lost, ✕ lost by a fault of its own"));
  const head = table.createTHead().insertRow();
  for (const text of ["against", "score", ...seats.map((seat) => `from seat ${seat + 1}`)]) {
    head.append(make("th", text, { scope: "col" }));
  }
  const body = table.createTBody();
  for (const [rival, games] of rivals) {
    const row = body.insertRow();
    const who = make("th", "", { scope: "row" });
    who.append(rival === "alone" ? "alone" : make("a", rival, { href: `#bot?${encodeURIComponent(rival)}` }));
    row.append(who, make("td", `${percentOf(games)} %`, { class: "number" }));
    for (const seat of seats) {
      const cell = row.insertCell();
      cell.append(...games.filter((game) => game.seat === seat).map(square));
    }
  }

  const total = counts.won + counts.drawn + counts.lost;
  const parts = Object.entries(counts).filter(([, count]) => count).map(([result, count]) => `${count} ${result}`);
  const sentence = make("p", `${total} game${total === 1 ? "" : "s"}: ${parts.join(", ")}. `);
  const [worst, games] = rivals[0] ?? [];
  if (rivals.length > 1) sentence.append(`It scores least against ${worst}: ${percentOf(games)} % of ${games.length}. `);
  sentence.append(make("a", "All its games", { href: `#games?bot=${encodeURIComponent(name)}` }));
  const faulty = [...faults].map(([word, numbers]) => `${numbers.length} by ${word}`).join(", ");
  const scroll = make("div", "", { class: "scroll", role: "group", "aria-label": `Games of ${name}`, tabindex: "0" });
  scroll.append(table);
  const title = make("h2", name, { id: "bot-name", tabindex: "-1" });
  element.replaceChildren(title, sentence, scroll);
  if (faulty) element.append(make("p", `Lost by its own faults: ${faulty}.`, { class: "bad" }));
  element.hidden = false;
}
