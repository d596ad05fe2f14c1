// What a report says of one bot, or of two that met: made from the list of games, as `games.js` reads it, when the
// reader asks for it, so that a report of many bots has no page for each pair of them. All text is set as text.
"use strict";

/**
 * Makes pages of bots and of pairs.
 * @param {object} data the list of games
 * @param {(number: number, step?: number) => string} address where a game is replayed, by its number; empty if nowhere
 * @param {(numbers: number[]) => Element} tableOf the list of some games
 * @param {(id: string, step?: number) => Element | null} position the picture of a game, where the page has it
 * @param {(id: string) => (string | Element)[]} breakable the id of a game, which may be broken into lines
 */
function botPages(data, address, tableOf, position, breakable) {
  const [ID, SECTION, BOTS, RANKS, ENDING, FAULTS, UNRATED] = [0, 1, 2, 3, 4, 7, 9];
  const SIGNS = { won: "+", drawn: "=", lost: "–", unrated: "·", fault: "✕" };
  /** From the worst to the best. */
  const RESULTS = ["lost", "drawn", "won"];
  /** What a result counts in a score, and in the tournament's own points. */
  const SHARES = { lost: 0, drawn: 0.5, won: 1, unrated: 0 };
  const POINTS = data.points ? { ...data.points, unrated: 0 } : SHARES;
  /** So many games of a pair are listed; the list of all games has the others. */
  const MOST_LISTED = 50;

  const grouped = (number) => number.toLocaleString("en", { maximumFractionDigits: 2 });
  const counted = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
  const query = (...parts) => parts.map(encodeURIComponent).join("&");
  const botLink = (name) => make("a", name, { href: `#bot?${query(name)}`, class: "quiet" });
  const compare = (own, other) => (own < other ? "won" : own === other ? "drawn" : "lost");
  const sum = (games, key) => games.reduce((before, game) => before + game[key], 0);
  const count = (games, result) => games.filter((game) => game.result === result).length;
  const ratedOf = (games) => games.length - count(games, "unrated");
  const percentOf = (games) => Math.round((100 * sum(games, "share")) / Math.max(1, ratedOf(games)));
  const pointsOf = (games) => `${grouped(sum(games, "points"))}${data.points ? "" : ` of ${grouped(ratedOf(games))}`}`;
  const resultsOf = (games) =>
    ["won", "drawn", "lost", "unrated"]
      .filter((result) => count(games, result))
      .map((result) => `${grouped(count(games, result))} ${result}`)
      .join(", ");
  const seatsOf = (games) => [...new Set(games.map(({ seat }) => seat))].sort((one, other) => one - other);

  /** The games of a bot, each with its result against another seat's, or where it plays alone, the game's. */
  const gamesOf = (name, isRival = () => true) => {
    const bot = data.bots.indexOf(name);
    return data.games.flatMap((game, number) => {
      const seat = game[BOTS].indexOf(bot);
      if (seat < 0) return [];
      const fault = game[FAULTS][seat] >= 0 ? data.faults[game[FAULTS][seat]] : "";
      const found = { number, seat, fault, id: game[ID] };
      const own = game[RANKS][seat];
      const against = (rival, by) => {
        const result = game[UNRATED] ? "unrated" : by;
        return isRival(rival || "alone", game) ? [{ ...found, rival, result, share: SHARES[result], points: POINTS[result] }] : [];
      };
      if (game[BOTS].length === 1) return against("", own === 1 ? "won" : "lost");
      return game[BOTS].flatMap((other, at) => (at === seat ? [] : against(data.bots[other], compare(own, game[RANKS][at]))));
    });
  };

  /** A game by its results against each rival: a win is one against all of them, and they share its points. */
  const whole = (results) => ({
    ...results[0],
    result: RESULTS.find((result) => count(results, result)) ?? "unrated",
    share: sum(results, "share") / results.length,
    points: sum(results, "points") / results.length,
  });

  /** A table under its heading; a heading of a column that ends with `#` is one of numbers. */
  const grid = (title, heads, rows, name = "", note = "") => {
    const table = make("table", make("caption", title, { class: "unseen" }), { class: `figures ${name}` });
    const head = table.createTHead().insertRow();
    const kinds = heads.map((text) => (text.endsWith("#") ? { class: "number" } : {}));
    heads.forEach((text, at) => head.append(make("th", text.replace("#", ""), { scope: "col", ...kinds[at] })));
    const body = table.createTBody();
    for (const [first, ...others] of rows) {
      const row = body.insertRow();
      row.append(make("th", first, { scope: "row" }), ...others.map((content, at) => make("td", content, kinds[at + 1])));
    }
    const scroll = make("div", table, { class: "scroll", role: "group", "aria-label": title, tabindex: "0" });
    return make("div", [make("h3", title), ...(note ? [make("p", note, { class: "soft small" })] : []), scroll]);
  };

  const beside = (...parts) => make("div", parts.filter(Boolean), { class: "beside" });

  const square = ({ number, id, result, fault }) => {
    const kind = fault ? "fault" : result;
    const label = `${result}${fault ? `, fault: ${fault}` : ""}: ${id}`;
    const to = address(number);
    const made = make(to ? "a" : "span", SIGNS[kind], { class: `square ${result} ${kind}`, title: label });
    if (to) made.href = to;
    made.setAttribute(to ? "aria-label" : "data-label", label);
    return made;
  };
  const SQUARES = "A square for each game: + won, = drawn, – lost, ✕ lost by its own fault";

  /** A heading, key figures and a sentence; `figures` are names with texts. */
  const opening = (names, figures, sentence) => {
    const title = make("h2", names, { id: "bot-name", tabindex: "-1" });
    const list = make("dl", figures.map(([name, text, kind = ""]) =>
      make("div", [make("dt", name), make("dd", text)], { class: kind })), { class: "key-figures" });
    return [make("p", make("a", "← The tournament", { href: "#" })), title, list, sentence];
  };

  /** A card with the picture of a game, where there is one, after a step or at its end. */
  const card = ([name, figure, sentence, id, step]) => {
    const to = address(numbers.get(id), step);
    const words = [
      make("h3", [`${name} `, make("span", figure, { class: "soft" })]),
      make("p", sentence.replace(" %", "\u00a0%")),
      make("p", to ? make("a", breakable(id), { href: to }) : breakable(id), { class: "small" }),
    ];
    return make("li", [position(id, step), make("div", words)].filter(Boolean));
  };
  const cards = (chosen) =>
    chosen.length ? [make("h3", "Games to see"), make("ul", chosen.map(card), { class: "to-see" })] : [];

  const faultsOf = (games) => {
    const found = new Map();
    for (const game of games) if (game.fault) found.set(game.fault, [...(found.get(game.fault) ?? []), game]);
    return found;
  };

  const signed = (number) => `${number > 0 ? "+" : number < 0 ? "−" : ""}${grouped(Math.abs(number))}`;

  /** A line of numbers over whole ones: `said` and `text` give a point and its value in words, `axis` says what is counted. */
  const chart = (title, points, axis, text, said, label, name) => {
    const [width, height, left, top] = [420, 200, 56, 12];
    const values = points.map(([, value]) => value);
    const [low, high, last] = [Math.min(...values), Math.max(...values), points.at(-1)[0]];
    const x = (at) => left + ((width - left - 8) * at) / last;
    const y = (value) => top + (high > low ? ((height - top - 40) * (high - value)) / (high - low) : 0);
    const ends = [...new Set([high, low])].flatMap((value) => [
      makeShape("path", "", { class: "guide", d: `M${left} ${y(value)}H${width - 8}` }),
      makeShape("text", text(value), { class: "end", x: left - 6, y: y(value) + 4.5 }),
    ]);
    const drawn = makeShape("svg", [
      ...ends,
      makeShape("g", [
        makeShape("path", "", { class: "line", d: `M${points.map(([at, value]) => `${x(at)} ${y(value)}`).join("L")}` }),
        ...points.map((point) => makeShape("circle", makeShape("title", said(point)), { class: "dot", cx: x(point[0]), cy: y(point[1]), r: 3 })),
      ], { class: "serie-0" }),
      makeShape("text", grouped(points[0][0]), { class: "middle", x: x(points[0][0]), y: height - 22 }),
      makeShape("text", grouped(last), { class: "end", x: width - 8, y: height - 22 }),
      makeShape("text", axis, { class: "middle", x: (width + left) / 2, y: height - 4 }),
    ], { class: "chart small-chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${name}: ${label}` });
    return make("div", [make("h3", title), make("p", label, { class: "soft small" }), drawn]);
  };

  /** A bot's rating over the course of the tournament. */
  const course = (name, points) => {
    const [first, last] = [points[0], points.at(-1)];
    const label = `${signed(first[1])} after ${counted(first[0], "game")}, ${signed(last[1])} after ${grouped(last[0])}`;
    const said = ([games, elo]) => `${signed(elo)} after ${counted(games, "game")}`;
    return chart("Elo over the tournament", points, "games of the tournament", signed, said, label, `Elo of ${name}`);
  };

  /** A number that a bot says of its moves, by the number of its move. */
  const metric = ([name, points]) => {
    const text = (value) => value.toLocaleString("en", { maximumSignificantDigits: 3 }).replace("-", "−");
    const said = ([move, mean]) => `${text(mean)} at its move ${move}`;
    const label = `The mean at each of its moves: ${said(points[0])}, ${said(points.at(-1))}`;
    return chart(name, points, "its own moves", text, said, label, name);
  };

  /** How often a bot played each cell of a board. */
  const heat = ({ cells, shape }, counts) => {
    const largest = Math.max(...counts);
    if (!largest) return "";
    const box = (at) => [Math.min(...cells.map((cell) => cell[at])) - 0.6, Math.max(...cells.map((cell) => cell[at])) + 0.6];
    const [[left, right], [top, bottom]] = [box(1), box(2)];
    const points = shape.map((point) => point.join()).join(" ");
    const best = cells[counts.indexOf(largest)][0];
    const drawn = makeShape("svg", cells.map(([cell, x, y], at) => {
        const made = makeShape("g", [
          makeShape("title", `${cell}: ${counted(counts[at], "move")}`),
          makeShape("polygon", "", { points }),
          makeShape("text", grouped(counts[at]), { y: 0.13 }),
        ], { transform: `translate(${x} ${y})` });
        made.style.setProperty("--share", `${(60 * counts[at]) / largest}%`);
        return made;
      }), { class: "heat", viewBox: `${left} ${top} ${right - left} ${bottom - top}`, role: "img", "aria-label": `Most of all ${best}: ${counted(largest, "move")}` });
    return make("div", [make("h3", "Where it plays"), make("p", `How many of its moves use each cell; most of all ${best}, in ${counted(largest, "move")}`, { class: "soft small" }), drawn]);
  };

  /** The beginnings of a bot's games from a seat. */
  const openings = (rows, seat) =>
    rows.length
      ? grid(`Openings from seat ${seat + 1}`, ["moves", "games#", "score#"], rows.map(([depth, move, games, shares]) => [
          make("span", move, { class: `depth-${depth}` }), grouped(games), `${Math.round((100 * shares) / games)} %`]))
      : "";

  const numbers = new Map(data.games.map((game, number) => [game[ID], number]));
  const gameLink = (id, step) => {
    const to = address(numbers.get(id), step);
    return to ? make("a", id, { href: to }) : id;
  };

  /** What the games say of a bot. */
  const bot = (name) => {
    const about = data.about[name];
    const [met, games] = [new Map(), new Map()];
    for (const game of gamesOf(name)) {
      met.set(game.rival, [...(met.get(game.rival) ?? []), game]);
      games.set(game.number, [...(games.get(game.number) ?? []), game]);
    }
    const own = [...games.values()].map(whole);
    const seats = seatsOf(own);
    const rivals = [...met].sort(([, one], [, other]) => percentOf(one) - percentOf(other));
    const sentence = make("p", `${counted(own.length, "game")}: ${resultsOf(own)}. `, { class: "sentence" });
    const lowest = rivals.filter(([, list]) => percentOf(list) === percentOf(rivals[0][1])).map(([name]) => name);
    if (lowest.length < rivals.length) {
      const names = lowest.length > 1 ? `each of ${lowest.length} bots` : lowest[0];
      sentence.append(`Its lowest score is ${percentOf(rivals[0][1])}\u00a0%, against ${names}. `);
    }
    sentence.append(make("a", "All its games", { href: `#games?bot=${query(name)}` }));
    const faulty = own.filter(({ fault }) => fault).length;
    const faults = [...faultsOf(own)].map(([word, list]) => `${word} (${grouped(list.length)})`).join(", ");
    const rows = rivals.map(([rival, list]) => [
      rival ? botLink(rival) : "alone",
      rival ? make("a", pointsOf(list), { href: `#pair?${query(name, rival)}` }) : pointsOf(list),
      `${percentOf(list)} %`,
      ...seats.map((seat) => list.filter((game) => game.seat === seat).map(square)),
    ]);
    rows.push(["all", pointsOf(own), `${percentOf(own)} %`, ...seats.map((seat) => pointsOf(own.filter((game) => game.seat === seat)))]);
    const heads = ["against", "points", "score#", ...seats.map((seat) => `from seat ${seat + 1}`)];
    return [
      ...opening([name], [...(about.elo ? [["Elo ± 95 %", about.elo]] : []), ["points", about.points], ["faults", grouped(faulty), faulty ? "bad" : ""]], sentence),
      beside(
        grid("By opponent and seat", heads, rows, "squares", SQUARES),
        make("div", [
          about.course.length > 1 ? course(name, about.course) : "",
          ...data.boards.map((board, at) => (about.cells[at].length ? heat(board, about.cells[at]) : "")),
        ], { class: "drawings" }),
      ),
      ...(faults ? [make("h3", "Faults"), make("p", `Games lost by its own fault: ${faults}.`, { class: "bad" }), make("p", faulty > about.faults.length ? `The last ${about.faults.length} of them, with what it said:` : "With what it said:", { class: "soft small" }), said(about.faults)] : []),
      ...(about.wrong.length ? [make("h3", "What it said that was wrong"), ...about.wrong.map(wrong)] : []),
      ...(about.diagnoses.length ? [make("h3", "What chance does not explain"), ...about.diagnoses.map(diagnosis)] : []),
      ...(about.metrics.length ? [make("h3", "Numbers of its own"), beside(...about.metrics.map(metric))] : []),
      ...(about.times.length ? [grid("Time of its moves", about.times.map(([head]) => `${head}#`), [about.times.map(([, text]) => text)])] : []),
      ...cards(about.see),
      beside(...about.openings.map(openings)),
    ];
  };
  /** What a bot said that was wrong, with the first game in which it did. */
  const wrong = ([words, id, step, first]) =>
    make("p", [`${words}; first in `, gameLink(id, step), ...(first ? [": ", ...quoted(first)] : []), "."]);
  /** What was found of a bot in a section, with games in which it can be seen. */
  const diagnosis = ([section, found]) =>
    make("ul", found.map(([claim, examples]) => make("li", [
      section ? `${section}: ` : "",
      ...quoted(claim),
      ...examples.flatMap(([id, step], at) => [at ? ", " : " See ", gameLink(id, step)]),
    ])));
  /** The last faults of a bot with what it said. */
  const said = (faults) =>
    make("ul", faults.map(([id, word, text]) => make("li", [gameLink(id), `: ${word}`, ...(text ? [", saying ", make("code", text)] : [])])));

  /** What two bots did against each other, in one section or in all. */
  const pair = (one, other, section = "") => {
    const isHere = (rival, game) => rival === other && (!section || data.sections[game[SECTION]] === section);
    const games = gamesOf(one, isHere);
    if (!games.length) return null;
    const others = gamesOf(other, (rival, game) => rival === one && isHere(other, game));
    const scored = data.points ? `${pointsOf(games)} points in ${counted(ratedOf(games), "game")}` : `${pointsOf(games)} points`;
    const sentence = make("p", `${one} scored ${scored} (${percentOf(games)}\u00a0%) against ${other}: ${resultsOf(games)}. `, { class: "sentence" });
    const filter = [["section", section], ["bot", one], ["against", other]].filter(([, value]) => value);
    const all = make("a", "Show them in the list of games", { href: `#games?${filter.map((part) => part.map(encodeURIComponent).join("=")).join("&")}` });
    const seats = seatsOf(games).map((seat) => {
      const list = games.filter((game) => game.seat === seat);
      return [`${seat + 1}`, pointsOf(list), `${percentOf(list)} %`, list.map(square)];
    });
    const endings = new Map();
    for (const game of games) {
      const word = data.endings[data.games[game.number][ENDING]];
      endings.set(word, [...(endings.get(word) ?? []), game]);
    }
    const ended = [...endings].map(([word, list]) => [
      word, grouped(list.length), ...["won", "drawn", "lost"].map((result) => grouped(count(list, result)))]);
    const isPlain = endings.size === 1 && endings.has("rules");
    sentence.append(...(isPlain ? ["All games ended by the rules. "] : []), all);
    const where = section && data.sections.length > 1 ? section : null;
    const chosen = data.pairs.find(([a, b, within]) => within === where && [a, b].includes(one) && [a, b].includes(other));
    const faults = [[one, games], [other, others]].flatMap(
      ([name, list]) => [...faultsOf(list)].map(([word, faulty]) => [botLink(name), word, faulty.map(square)]));
    return [
      ...opening([botLink(one), " – ", botLink(other)], [["points", [games, others].map((list) => grouped(sum(list, "points"))).join(" : ")], ["games", grouped(games.length)]], sentence),
      beside(
        grid(`${one} by seat`, ["seat", "points", "score#", "games"], seats, "squares", SQUARES),
        isPlain ? "" : grid(`How the games ended for ${one}`, ["ended by", "games#", "won#", "drawn#", "lost#"], ended),
        faults.length ? grid("Faults", ["bot", "fault", "games"], faults, "squares") : "",
      ),
      ...cards(chosen?.[3] ?? []),
      make("h3", games.length > MOST_LISTED ? `The first ${MOST_LISTED} games` : "Games"),
      tableOf(games.slice(0, MOST_LISTED).map(({ number }) => number)),
    ];
  };

  return { bot, pair };
}
