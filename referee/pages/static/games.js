// The list of games of a report: filtered, sorted, in pages; and the game that is replayed. The address says
// behind its `#` what is shown: a game, `ID` or `ID@STEP`; two games beside each other, `ID&ID` or `ID&ID@STEP`; the
// page of a bot, `bot?NAME`, or of two that met, `pair?NAME&NAME` or `pair?NAME&NAME&SECTION`; or games of the list,
// `games?bot=a&against=b`, `games?search=words`.
"use strict";
{
  const ON_A_PAGE = 50;
  /** On paper, which has no buttons. */
  const ON_PAPER = 1000;
  /** So many columns of a matrix can be read on paper, beside each other. */
  const COLUMNS_ON_PAPER = 24;
  const [ID, SECTION, BOTS, RANKS, ENDING, SENTENCE, MOVES, FAULTS, DECIDING] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  /** So wide are the lines round what is drawn, at most. */
  const RIM = 4;
  /** How many pixels letters, and tiles with something on them, are high at least that can be read. */
  const LEAST = 12;
  const find = (name) => document.getElementById(name);
  const list = find("list");
  const filters = find("filters");
  const pager = find("pager");
  const dialog = find("dialog");
  /** By the id of a game, that of the element that has its data. */
  const replays = new Map();
  for (const script of document.querySelectorAll("script[data-game]")) replays.set(script.dataset.game, script.id);

  /** A number for people, such as 4,350. */
  const grouped = (number) => number.toLocaleString("en");

  /** The id of a game, which may be broken into lines after its section and between the bots. */
  const breakable = (id) => id.split(/(?<=[/:])/).flatMap((part) => [part, make("wbr", "")]);

  /** How an address ends that leads to a step of a game. */
  const atStep = (step) => (Number.isInteger(step) ? `@${step}` : "");

  /** Puts parts with some of its columns each in the place of each wide matrix. */
  const cutMatrices = () => {
    for (const table of document.querySelectorAll(".matrix")) {
      const count = table.tHead.rows[0].cells.length - 1;
      const each = Math.ceil(count / Math.ceil(count / COLUMNS_ON_PAPER));
      if (each === count) continue;
      for (let first = 1; first <= count; first += each) {
        const part = table.cloneNode(true);
        part.classList.add("part");
        for (const row of part.rows) [...row.cells].slice(1).forEach((cell, at) => at + 1 >= first && at + 1 < first + each || cell.remove());
        table.parentElement.append(part);
      }
      table.hidden = true;
    }
  };
  const joinMatrices = () => {
    for (const part of document.querySelectorAll(".matrix.part")) part.remove();
    for (const table of document.querySelectorAll(".matrix")) table.hidden = false;
  };
  addEventListener("beforeprint", cutMatrices);
  addEventListener("afterprint", joinMatrices);

  const start = (data) => {
    const address = (id, number) => {
      const fragment = `#${encodeURI(id)}`;
      if (data.pages?.length) return `${data.pages[number]}${fragment}`;
      if (replays.has(id) || !data.on_a_page) return fragment;
      return `games/${String(Math.floor(number / data.on_a_page) + 1).padStart(5, "0")}.html${fragment}`;
    };
    const isReplayed = replays.size > 0 || data.on_a_page > 0 || data.pages?.length > 0;
    const numbers = new Map(data.games.map((game, number) => [game[ID], number]));
    const columns = [
      { name: "#", cell: (game, number) => grouped(data.first + number + 1), key: (game, number) => number, right: true },
      { name: "game", cell: idCell, key: (game) => game[ID] },
      { name: "result", cell: resultCell, key: (game) => data.bots[game[BOTS][game[RANKS].indexOf(1)]] ?? "" },
      { name: "moves", cell: (game) => grouped(game[MOVES]), key: (game) => game[MOVES], right: true },
      ...(data.games.some((game) => game[DECIDING] !== null)
        ? [{ name: "deciding move", cell: decidingCell, key: (game) => game[DECIDING] ?? -1, right: true }]
        : []),
      { name: "ended by", cell: (game) => data.endings[game[ENDING]], key: (game) => data.endings[game[ENDING]] },
      { name: "", cell: (game) => data.sentences[game[SENTENCE]], key: (game) => data.sentences[game[SENTENCE]] },
    ];
    let sorted = { column: 0, descending: false };
    let shown = [];
    let page = 0;
    let onAPage = ON_A_PAGE;

    function idCell(game, number) {
      const id = isReplayed ? make("a", "", { href: address(game[ID], number) }) : document.createDocumentFragment();
      id.append(...breakable(game[ID]));
      return id;
    }

    function decidingCell(game, number) {
      const step = game[DECIDING];
      return step === null ? "" : make("a", grouped(step), { href: address(game[ID], number) + atStep(step) });
    }

    function resultCell(game) {
      const cell = document.createDocumentFragment();
      const several = game[BOTS].length > 2;
      const tied = game[RANKS].filter((rank) => rank === 1).length > 1;
      game[BOTS].forEach((bot, seat) => {
        if (seat) cell.append(several ? ", " : " – ");
        const best = game[RANKS][seat] === 1;
        if (several) cell.append(`${game[RANKS][seat]}. `);
        const name = make(best && !tied ? "strong" : "span", "");
        const page = `${find("bot") ? "" : "../index.html"}#bot?${encodeURIComponent(data.bots[bot])}`;
        name.append(make("a", data.bots[bot], { href: page, class: "quiet" }));
        cell.append(name);
      });
      if (!several && game[BOTS].length === 2 && tied) cell.append(" (tied)");
      if (game[BOTS].length === 1) cell.append(game[RANKS][0] === 1 ? " won" : " lost");
      return cell;
    }

    const option = (select, value, text = value) => select.append(make("option", text, { value }));
    const fill = (name, values) => {
      const select = filters.elements[name];
      option(select, "", "any");
      for (const value of values) option(select, value);
      select.parentElement.hidden = values.length < 2;
    };
    fill("bot", [...data.bots].sort());
    fill("against", [...data.bots].sort());
    filters.elements.against.parentElement.hidden = data.games.every((game) => game[BOTS].length < 2);
    fill("section", data.sections);
    fill("ending", data.endings);
    fill("fault", data.faults.length ? ["any", ...data.faults] : []);
    if (data.faults.length) filters.elements.fault.options[0].textContent = "with or without";

    const fits = () => {
      const wanted = Object.fromEntries(new FormData(filters));
      const bot = data.bots.indexOf(wanted.bot);
      const against = data.bots.indexOf(wanted.against);
      const words = wanted.search.toLowerCase().split(/\s+/).filter(Boolean);
      return (game) => {
        const text = words.length ? textOf(game) : "";
        if (!words.every((word) => text.includes(word))) return false;
        if (bot >= 0 && !game[BOTS].includes(bot)) return false;
        if (against >= 0 && !game[BOTS].includes(against)) return false;
        if (wanted.section && data.sections[game[SECTION]] !== wanted.section) return false;
        if (wanted.ending && data.endings[game[ENDING]] !== wanted.ending) return false;
        if (wanted.fault && !hasFault(game, wanted.fault, bot)) return false;
        return !wanted.result || hasResult(game, wanted.result, bot);
      };
    };
    /** What is searched of a game: its id, its bots, and how it ended. */
    const textOf = (game) =>
      `${game[ID]} ${game[BOTS].map((bot) => data.bots[bot]).join(" ")} ${data.endings[game[ENDING]]} ${data.sentences[game[SENTENCE]]}`.toLowerCase();
    const hasFault = (game, wanted, bot) =>
      game[FAULTS].some(
        (fault, seat) =>
          fault >= 0 && (wanted === "any" || data.faults[fault] === wanted) && (bot < 0 || game[BOTS][seat] === bot),
      );
    const hasResult = (game, wanted, bot) => {
      const tied = game[RANKS].filter((rank) => rank === 1).length > 1;
      const ranks = bot < 0 ? game[RANKS] : [game[RANKS][game[BOTS].indexOf(bot)]];
      return ranks.some((rank) => (rank > 1 ? "lost" : tied ? "tied" : "won") === wanted);
    };

    const select = () => {
      const wanted = fits();
      const { key } = columns[sorted.column];
      shown = data.games.map((_, number) => number).filter((number) => wanted(data.games[number]));
      const compare = (one, other) => {
        const [a, b] = [key(data.games[one], one), key(data.games[other], other)];
        return (a < b ? -1 : a > b ? 1 : 0) * (sorted.descending ? -1 : 1) || one - other;
      };
      if (sorted.column || sorted.descending) shown.sort(compare);
      page = 0;
      draw();
    };

    const rowOf = (number) => {
      const row = make("tr");
      columns.forEach((column, at) => {
        const cell = make(at === 1 ? "th" : "td");
        if (at === 1) cell.scope = "row";
        if (column.right) cell.className = "number";
        cell.append(column.cell(data.games[number], number));
        row.append(cell);
      });
      return row;
    };
    const headOf = (column) => {
      const head = make("th", column.name, { scope: "col" });
      if (column.right) head.className = "number";
      if (!column.name) head.append(make("span", "how it ended", { class: "unseen" }));
      return head;
    };
    /** A table of some games, in the form of the list. */
    const tableOf = (chosen) => {
      const table = make("table", "", { class: "figures games" });
      table.createTHead().insertRow().append(...columns.map((column) => headOf(column)));
      table.createTBody().append(...chosen.map(rowOf));
      const scroll = make("div", "", { class: "scroll", role: "group", "aria-label": "Games", tabindex: "0" });
      scroll.append(table);
      return scroll;
    };

    const draw = () => {
      const first = page * onAPage;
      const numbersShown = shown.slice(first, first + onAPage);
      const count = shown.length;
      find("count").textContent =
        count > onAPage
          ? `${grouped(first + 1)} to ${grouped(first + numbersShown.length)} of ${grouped(count)} games`
          : `${grouped(count)} game${count === 1 ? "" : "s"}`;
      list.tBodies[0].replaceChildren(...numbersShown.map(rowOf));
      columns.forEach((column, at) => {
        const head = list.tHead.rows[0].cells[at];
        if (at === sorted.column) head.setAttribute("aria-sort", sorted.descending ? "descending" : "ascending");
        else head.removeAttribute("aria-sort");
      });
      pager.hidden = count <= onAPage;
      const pages = Math.ceil(count / onAPage);
      pager.querySelector("span").textContent = `page ${grouped(page + 1)} of ${grouped(pages)}`;
      const [before, after] = pager.querySelectorAll("button");
      // Not `disabled`, with which the button would lose the focus.
      before.ariaDisabled = page === 0;
      after.ariaDisabled = page + 1 >= pages;
    };

    columns.forEach((column, at) => {
      const head = headOf(column);
      if (column.name) {
        const button = make("button", column.name, { type: "button", class: "sort" });
        head.replaceChildren(button);
        button.addEventListener("click", () => {
          sorted = { column: at, descending: sorted.column === at && !sorted.descending };
          select();
        });
      }
      list.tHead.rows[0].append(head);
    });
    for (const [moment, most] of [["beforeprint", ON_PAPER], ["afterprint", ON_A_PAGE]]) {
      addEventListener(moment, () => {
        onAPage = most;
        page = 0;
        draw();
      });
    }
    pager.addEventListener("click", (event) => {
      const step = Number(event.target.value);
      if (event.target.tagName !== "BUTTON" || event.target.ariaDisabled === "true") return;
      page += step;
      draw();
    });
    filters.addEventListener("input", select);
    filters.addEventListener("reset", () => setTimeout(select));
    filters.addEventListener("submit", (event) => event.preventDefault());

    /** The ids that an address names before the step. */
    const idsIn = (fragment) => fragment.split("@")[0].split("&");
    const of = (game) => JSON.stringify([game[SECTION], [...game[BOTS]].sort()]);
    /** Offers the games of the same bots, in any seats, to be shown beside one; those of one opening are of one round. */
    const offerBeside = (id, beside) => {
      const select = find("dialog-beside");
      const same = data.games.filter((game) => game[ID] !== id && replays.has(game[ID]) && of(game) === of(data.games[numbers.get(id)]));
      select.parentElement.hidden = !same.length;
      select.replaceChildren();
      option(select, "", "no other game");
      for (const game of same) option(select, game[ID]);
      select.value = beside ?? "";
    };
    find("dialog-beside").addEventListener("change", ({ target }) => {
      location.hash = encodeURI([idsIn(opened)[0], target.value].filter(Boolean).join("&"));
    });

    /** What is in the dialog, one id or two, and what shows it. */
    let opened = "";
    let player = null;
    const close = () => {
      player?.close();
      player = null;
      opened = "";
    };
    const open = async (ids, step) => {
      const [id, beside] = ids;
      const wanted = ids.join("&");
      if (opened === wanted) {
        player?.go(step ?? 0);
        return;
      }
      close();
      opened = wanted;
      const number = numbers.get(id);
      find("dialog-title").textContent = ids.join(" beside ");
      offerBeside(id, beside);
      for (const [name, other] of [["dialog-before", number - 1], ["dialog-after", number + 1]]) {
        const link = find(name);
        const elsewhere = data.beside[name === "dialog-before" ? 0 : 1]; // on the page beside this one
        link.hidden = !data.games[other] && !elsewhere;
        if (data.games[other]) link.href = address(data.games[other][ID], other);
        else if (elsewhere) link.href = `${elsewhere[1]}#${encodeURI(elsewhere[0])}`;
      }
      if (!dialog.open) dialog.showModal();
      const games = await Promise.all(ids.map((each) => replayData(replays.get(each))));
      if (opened !== wanted || player) return;
      const options = { step, keys: dialog, moved };
      player = beside ? mountPair(find("replay"), games, options) : mountReplay(find("replay"), games[0], options);
    };
    const moved = (step) => {
      try {
        history.replaceState(null, "", `#${encodeURI(opened)}${step || opened.includes("&") ? `@${step}` : ""}`);
      } catch {
        // Browsers limit how often the address changes.
      }
    };
    /** A part of an address as text; nothing if that cannot be read. */
    const read = (part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return "";
      }
    };
    /** What the address says behind its `#`. */
    const addressed = () => read(location.hash.slice(1));
    const panel = find("bot");
    const title = document.title;
    /** Behind the `#`, the page that a game was opened from. */
    let behind = "";
    /** What had the focus when such a page took the place of the tournament. */
    let opener = null;
    const replayed = (number, step) => (isReplayed ? address(data.games[number][ID], number) + atStep(step) : "");
    const pages = panel && botPages(data, replayed, tableOf, positionOf, breakable);
    /** Shows the page of a bot or of a pair in the place of the tournament, or the tournament; says which. */
    const showPage = (kind, names) => {
      if (behind && behind === location.hash) return true; // a game in front of it was closed
      const isKnown = pages && data.bots.includes(names[0]);
      const content = !isKnown ? null : kind === "bot" ? pages.bot(names[0]) : kind === "pair" ? pages.pair(...names) : null;
      behind = content ? location.hash : "";
      if (!panel) return false;
      if (panel.hidden) opener = document.activeElement;
      const isLeft = !panel.hidden && !content;
      panel.hidden = !content;
      panel.parentElement.classList.toggle("one-page", Boolean(content));
      document.title = content ? `${names.slice(0, 2).join(" – ")}, ${title}` : title;
      if (isLeft) opener.focus();
      if (!content) return false;
      panel.replaceChildren(...content);
      scrollTo(0, 0);
      find("bot-name").focus({ preventScroll: true });
      return true;
    };
    const follow = () => {
      const fragment = addressed();
      const ids = idsIn(fragment);
      if (ids.length < 3 && ids.every((id) => replays.has(id))) {
        const step = fragment.split("@")[1];
        open(ids, step === undefined ? undefined : Number(step) || 0);
        return;
      }
      if (dialog.open) dialog.close();
      const [kind, query = ""] = location.hash.slice(1).split(/\?(.*)/s);
      if (showPage(kind, query.split("&").map(read))) return;
      if (!fragment.startsWith("games?")) {
        if (fragment) find(fragment)?.scrollIntoView();
        return;
      }
      filters.reset();
      for (const pair of query.split("&")) {
        const [name, value = ""] = pair.split("=").map(read);
        if (filters.elements[name]) filters.elements[name].value = value;
      }
      select();
      find("games").focus();
      find("games").scrollIntoView();
    };
    dialog.addEventListener("close", () => {
      close();
      if (replays.has(idsIn(addressed())[0])) history.replaceState(null, "", location.pathname + location.search + behind);
    });
    find("dialog-close").addEventListener("click", () => dialog.close());
    addEventListener("hashchange", follow);

    filters.hidden = list.hidden = data.games.length === 0;
    select();
    follow();
  };

  /** A picture of a game after a step, or at its end, which leads to it; none where the page does not have the game. */
  const positionOf = (id, step) => {
    if (!replays.has(id)) return null;
    const picture = makeShape("svg", "", { class: "picture" });
    const link = make("a", picture, { class: "position", href: `#${encodeURI(id)}${atStep(step)}`, "data-position": id, tabindex: "-1", "aria-hidden": "true" });
    if (atStep(step)) link.dataset.step = step;
    drawPosition(link);
    return link;
  };
  /** Draws a position of a game, the last one if no step is named, where the page shows it. The renderer has escaped what is drawn. */
  const drawPosition = async (link) => {
    const id = replays.get(link.dataset.position);
    if (!id) return;
    const game = await replayData(id);
    const [view] = game.views;
    const svg = link.querySelector("svg");
    svg.setAttribute("viewBox", view.box);
    const whole = view.steps.filter((step) => !step.more); // those on the way to one have no number of their own
    svg.innerHTML = view.ground + whole.at(link.dataset.step ?? -1).draw.map((index) => game.elements[index]).join("");
    // The stylesheet leaves out coordinates, which are too small to be read: what is left fills the picture.
    const { x, y, width, height } = svg.getBBox();
    if (width) svg.setAttribute("viewBox", [x - RIM, y - RIM, width + 2 * RIM, height + 2 * RIM].join(" "));
    watching.observe(svg);
  };
  /** Leaves out of a picture what is too small to be read: all letters, or what is on its tiles. */
  const simplify = (svg) => {
    const high = (text, shown) => parseFloat(getComputedStyle(text).fontSize) * (shown.getScreenCTM()?.a ?? 1);
    const letters = [...svg.querySelectorAll("text:not(.text-faint)")].map((text) => high(text, text));
    const tiles = [];
    for (const used of svg.querySelectorAll("use")) {
      const symbol = document.querySelector(used.getAttribute("href"));
      for (const text of symbol.querySelectorAll("text")) letters.push(high(text, used));
      if (symbol.querySelector(".fill-tile")) tiles.push(used.getBoundingClientRect().height);
    }
    svg.classList.toggle("wordless", Math.min(...letters) < LEAST);
    svg.classList.toggle("plain", Math.min(...tiles) < LEAST);
  };
  const watching = new ResizeObserver((found) => found.forEach((one) => simplify(one.target)));
  for (const link of document.querySelectorAll("[data-position]")) drawPosition(link);

  replayData("games-data").then(start);
}
