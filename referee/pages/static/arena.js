// The page of a run: boards of the games in play, and what is known of the run. It follows the server's stream, whose
// events `serving/arena.py` describes. A board can be opened large, by the id of its game in the page's address;
// with `#projector` the page chooses the game.
"use strict";
{
  const SILENT_MS = 40000; // the server sends something every 15 seconds
  const AGAIN_MS = 3000;
  const TICK_MS = 200; // how often clocks are shown anew, since the processor's time is the bots'
  /** How long a large board shows how its game ended, and how long it waits to be told. */
  const STAMPED_MS = 4000;
  const UNTOLD_MS = 15000;
  /** How long a small board shows the end of a game: as a part of the time for which the game was shown, and at most. */
  const HELD_PART = 1 / 4;
  const HELD_MS = 3000;
  /** The least width of a board beside others, by whether it has at most two seats, and the space between boards. */
  const LEAST = 165;
  const LEAST_OF_MANY = 260;
  const GAP = 12;
  const PROJECTOR = "projector";
  const KEPT_BACK = "The replay is kept back until all games with the same chance events are over.";
  const SEEN_ENDED = 200; // how many games that ended are known at most, by their ids

  const clock = refereeClock();
  const part = (id) => document.getElementById(id);
  const [page, grid, connection, pause, large] = ["arena", "tables", "connection", "pause", "large"].map(part);

  let run = null; // what the server has sent: the members of `whole`, with boards and ended games in the next two
  let boards = new Map(); // by slot
  let ended = new Map(); // by id, the most recent last
  let faults = [];
  let seq = 0;
  let source = null;
  let timer = 0;
  let isLost = false;
  let isPaused = false;
  let isProjecting = false;
  let most = LISTED.ended; // how many games that ended are listed
  let fitted = ""; // what the sizes of boards and lists depend on, as it was
  let chosen = ""; // the id of the game that is large
  const tables = new Map(); // by slot

  // What the server sends.

  function tell(text) {
    say(connection, text);
    page.classList.toggle("lost", isLost);
    part("lists").inert = isLost && run !== null && !run.running; // whose links would lead nowhere
  }

  function heard() {
    clearTimeout(timer);
    timer = setTimeout(lost, SILENT_MS);
    isLost = false;
    tell("");
  }

  function again(text) {
    clearTimeout(timer);
    source?.close();
    isLost = true;
    tell(text);
    timer = setTimeout(connect, AGAIN_MS);
  }

  const lost = () =>
    again(
      run && !run.running
        ? "The connection to the server is lost; `referee serve` shows the run again."
        : "The connection to the server is lost. Trying again.",
    );

  function takeEnded(games) {
    for (const game of games.toSorted((one, other) => one.n - other.n)) {
      ended.delete(game.id);
      ended.set(game.id, game);
      if (game.fault) faults = [game, ...faults.filter((other) => other.n !== game.n)].slice(0, LISTED.faults);
    }
    for (const id of [...ended.keys()].slice(0, -SEEN_ENDED)) ended.delete(id);
  }

  function take(news) {
    seq = news.seq;
    clock.hear(news.now);
    for (const [slot, patch] of Object.entries(news.boards ?? {})) {
      if (patch) boards.set(slot, patchedBoard(boards.get(slot), patch));
      else boards.delete(slot);
    }
    takeEnded(news.ended ?? []);
    run = { ...run, ...news, boards: null, ended: null };
    if (!isPaused) draw();
  }

  function connect() {
    source?.close();
    const stream = new EventSource("/arena/events");
    const on = (name, act) =>
      stream.addEventListener(name, (event) => {
        if (stream !== source) return;
        heard();
        act(event);
      });
    source = stream;
    on("whole", (event) => {
      [run, boards, ended] = [null, new Map(), new Map()];
      take(JSON.parse(event.data));
    });
    on("frame", (event) => {
      const news = JSON.parse(event.data);
      if (news.seq === seq + 1) take(news);
      else again("Some news of the run did not arrive. Connecting again.");
    });
    on("beat", () => {});
    stream.addEventListener("error", () => stream === source && lost());
    clearTimeout(timer);
    timer = setTimeout(lost, SILENT_MS);
  }

  // The tables: each shows the board of a slot, and for a while how its last game ended.

  function makeTable(slot) {
    const stage = make("div");
    const link = make("a", "", { class: "open" });
    const stamp = make("p", "", { class: "stamp" });
    const caption = make("p", "", { class: "caption" });
    const element = make("article", [stage, stamp, caption, link], { class: "table" });
    const table = { slot, element, link, stamp, caption, live: mountLiveBoard(stage, clock), board: null, drawn: null };
    tables.set(slot, table);
    return table;
  }

  function begin(table, board, time) {
    Object.assign(table, { board, since: time, over: 0, stamped: 0, drawn: null });
    table.element.setAttribute("aria-label", board.bots.join(board.bots.length === 2 ? " against " : ", "));
    table.link.href = `#${encodeURIComponent(board.id)}`;
    table.link.setAttribute("aria-label", `${table.element.getAttribute("aria-label")}, large`);
    table.stamp.hidden = true;
  }

  function stampWith(table, game, time) {
    const ranks = game.bots.map((_, index) => (game.won.includes(index + 1) ? 1 : 2));
    const seat = game.won.length === 1 ? game.won[0] : 0;
    table.stamped = time;
    table.stamp.className = `stamp of-seat${seat}${game.fault ? " fault" : ""}`;
    table.stamp.replaceChildren(make("strong", stampWords({ bots: game.bots, end: { ranks } })), " ", make("span", game.why));
    table.stamp.hidden = false;
  }

  /** Whether a table has shown for long enough how its game ended. */
  function isLeft(table, time) {
    if (boards.get(table.slot)?.id === chosen && chosen !== table.board.id) return true;
    if (table.board.id !== chosen) return time - table.over >= Math.min(HELD_MS, (table.over - table.since) * HELD_PART);
    if (!table.stamped) return time - table.over >= UNTOLD_MS;
    return time - table.stamped >= STAMPED_MS && (isProjecting || ended.get(chosen)?.show);
  }

  function drawTable(table, time) {
    const board = boards.get(table.slot);
    const game = table.board && ended.get(table.board.id);
    if (table.board && board?.id === table.board.id) table.board = board;
    if (table.board && (game || board?.id !== table.board.id)) {
      table.over ||= time;
      if (game && !table.stamped) stampWith(table, game, time);
      if (!isLeft(table, time)) return show(table);
      if (table.board.id === chosen) leave(game);
    }
    if (!board) {
      tables.delete(table.slot);
      return table.element.remove();
    }
    if (table.board?.id !== board.id) begin(table, board, time);
    show(table);
  }

  function show(table) {
    const { board, over } = table;
    if (table.drawn === board && table.drawnOver === over) return;
    table.live.show(over ? { ...board, turn: [] } : board);
    Object.assign(table, { drawn: board, drawnOver: over });
    say(table.caption, [`move ${board.moves}`, board.last, table.stamped && ended.get(board.id)?.show === false ? KEPT_BACK : ""].filter(Boolean).join(" · "));
  }

  // One board that is large.

  const open = () => [...tables.values()].find((table) => table.board?.id === chosen);

  /** The game in play whose bots stand highest in the standings, of several the one with most moves. */
  function mostInteresting() {
    const places = new Map(run.standings.map((one, index) => [one.bot, index]));
    const place = (board) => board.bots.reduce((sum, bot) => sum + (places.get(bot) ?? places.size), 0) / board.bots.length;
    const playing = [...boards.values()].filter((board) => !ended.has(board.id));
    const ordered = playing.toSorted((one, other) => place(one) - place(other) || other.moves - one.moves);
    return ordered[0]?.id ?? "";
  }

  /** Goes to the replay of a game, instead of to its board. */
  function showReplay(game) {
    isPaused = true;
    location.replace(`/game/${game.n}`);
  }

  /** What follows after the large board has shown how its game ended. */
  function leave(game) {
    chosen = "";
    if (isProjecting) chosen = mostInteresting();
    else if (game?.show) showReplay(game);
    else history.replaceState(null, "", location.pathname);
  }

  function readAddress() {
    let wanted = "";
    try {
      wanted = decodeURIComponent(location.hash.slice(1));
    } catch {
      // an address that somebody typed
    }
    const before = open();
    isProjecting = wanted === PROJECTOR;
    chosen = isProjecting ? "" : wanted;
    draw();
    if (before && !open()) before.link.focus();
  }

  function goTo(wanted, isStep = true) {
    const address = wanted ? `#${encodeURIComponent(wanted)}` : location.pathname;
    history[isStep ? "pushState" : "replaceState"](null, "", address);
    readAddress();
  }

  // What is seen.

  function drawLarge(time) {
    if (isProjecting && !open()) chosen = mostInteresting();
    if (chosen && !open()) for (const other of tables.values()) drawTable(other, time); // its table does not wait
    const table = open();
    page.classList.toggle("large", table !== undefined);
    for (const other of tables.values()) other.element.classList.toggle("chosen", other === table);
    say(large, table || isProjecting ? "All games" : "Projector");
    large.title = table && !isProjecting ? "" : "The projector shows the game whose bots stand highest in the standings, and at its end the next one";
    large.hidden = !boards.size && !table && !isProjecting;
    const known = ended.get(chosen);
    const isElsewhere = chosen && !table && run;
    if (isElsewhere && known?.show) showReplay(known);
    say(part("elsewhere"), isElsewhere && !isProjecting ? `The game ${chosen} is not in play.` : "");
  }

  function drawRun() {
    page.classList.toggle("running", run.running);
    say(part("progress"), progressText(run));
    say(part("state"), run.running ? "" : run.state);
    say(part("trouble"), [run.trouble, run.notice].filter(Boolean).join(" "));
    pause.hidden = !run.running && !boards.size;
    const bar = part("bar");
    bar.hidden = !run.planned;
    bar.max = run.planned || 1;
    bar.value = run.count;
    listStandings(part("standings"), part("columns"), part("ticker"), run);
    part("more").hidden = run.standings.length <= LISTED.bots;
    listEnded(part("ended"), [...ended.values()].slice(-most).reverse());
    listEnded(part("faults"), faults);
    const count = run.standings.reduce((sum, one) => sum + one.f, 0);
    say(part("fault-count"), count ? countText(count) : "");
    part("no-faults").hidden = count > 0 || faults.length > 0;
    part("no-games").hidden = run.count > 0;
    say(part("note"), run.note || (boards.size || tables.size ? "" : run.running ? "Boards appear here as soon as games are in play." : ""));
  }

  function draw() {
    if (!run) return;
    const time = performance.now();
    const slots = [...new Set([...boards.keys(), ...tables.keys()])].sort((one, other) => one.localeCompare(other, "en", { numeric: true }));
    for (const slot of slots) drawTable(tables.get(slot) ?? makeTable(slot), time);
    drawLarge(time);
    drawRun();
    const elements = slots.flatMap((slot) => tables.get(slot)?.element ?? []);
    if (elements.some((element, index) => grid.children[index] !== element)) grid.append(...elements);
    const shape = [tables.size, run.standings.length, Math.min(ended.size, most), faults.length].join();
    if (shape !== fitted) fit();
    fitted = shape;
  }

  /** The pixels from the top of an element to the lower edge of the screen, where the page is not scrolled. */
  function below(element) {
    const rim = parseFloat(getComputedStyle(document.body).paddingBottom);
    return innerHeight - rim - scrollY - element.getBoundingClientRect().top;
  }

  /** Lists the games that ended, as many as there is room for. */
  function listAsMany() {
    const [list, all] = [part("ended"), part("lists")];
    const row = Math.max(0, ...[...list.children].map((one) => one.offsetHeight));
    const rest = all.getBoundingClientRect().bottom - list.getBoundingClientRect().bottom;
    if (row) most = Math.max(LISTED.few, Math.min(LISTED.ended, Math.floor((below(list) - rest) / row)));
    listEnded(list, [...ended.values()].slice(-most).reverse());
  }

  /** Makes all boards as large as the screen allows without scrolling, or as wide as they must be to be read. */
  function fit() {
    const count = Math.max(1, tables.size);
    const first = tables.values().next().value;
    page.classList.toggle("empty", !tables.size);
    listAsMany();
    if (!first) return;
    const wide = grid.clientWidth;
    const high = below(grid);
    const [, , width, height] = first.board.box.split(" ").map(Number);
    const tall = (element) => element.getBoundingClientRect().height; // with its border, and parts of pixels
    const strips = tall(first.element) - tall(first.live.picture);
    const least = first.board.bots.length > 2 ? LEAST_OF_MANY : LEAST;
    const widest = Math.min(count, Math.max(1, Math.floor((wide + GAP) / (least + GAP)))); // with so many columns
    const across = (columns) => (wide - GAP * (columns - 1)) / columns / width;
    let best = { scale: 0 };
    for (let columns = 1; columns <= widest; columns++) {
      const rows = Math.ceil(count / columns);
      const room = (high - GAP * (rows - 1)) / rows - strips;
      const scale = Math.min(across(columns), room / height);
      if (scale > best.scale) best = { scale, columns };
    }
    if (best.scale * width < least) best = { scale: across(widest), columns: widest };
    grid.style.setProperty("--columns", best.columns);
    grid.style.setProperty("--high", `${Math.floor(best.scale * height)}px`);
  }

  function tick() {
    if (isPaused || isLost || document.hidden || !run) return;
    for (const table of tables.values()) table.live.tick();
    if ([...tables.values()].some((table) => table.over)) draw();
  }

  pause.addEventListener("click", () => {
    isPaused = !isPaused;
    say(pause, isPaused ? "Go on" : "Pause");
    page.classList.toggle("paused", isPaused);
    if (!isPaused) draw();
  });
  large.addEventListener("click", () => goTo(open() || isProjecting ? "" : PROJECTOR));
  addEventListener("hashchange", readAddress);
  addEventListener("popstate", readAddress);
  addEventListener("resize", fit);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape" && (open() || isProjecting)) goTo("");
    else if (step && open()) {
      const all = [...grid.children].map((element) => [...tables.values()].find((table) => table.element === element));
      goTo(all.at((all.indexOf(open()) + step) % all.length).board.id, false);
    } else if (event.key === "f") {
      if (document.fullscreenElement) document.exitFullscreen();
      else document.documentElement.requestFullscreen?.();
    }
  });
  addEventListener("pagehide", () => source?.close());
  addEventListener("pageshow", (event) => {
    if (event.persisted) connect();
  });
  page.hidden = document.querySelector(".top .buttons").hidden = false;
  setInterval(tick, TICK_MS);
  connect();
  readAddress();
}
