// A game that a person plays or watches: what the server says of it, and what the person chooses on the board,
// types or presses. All text is set as text.
"use strict";
{
  const AGAIN_MS = 2000;
  const SILENT_MS = 40000; // the server sends something every 15 seconds
  const ROOM_ABOVE = 70; // in the units of drawings, of which a cell has 40
  const RIM = 8;
  const root = document.querySelector(".game");
  const one = (name, within = root) => within.querySelector(`.${name}`);
  const address = location.pathname.replace(/\/$/, "");
  const title = document.title;
  const field = document.getElementById("move");

  /** What is known of the game, as the server sent it piece by piece. */
  let view = null;
  /** What the server says of the chosen parts of a move, and of no parts. */
  let choice = null;
  let beginning = null;
  /** Counts what was asked of the server, so that late answers are dropped; it takes one click at a time. */
  let asking = 0;
  let lastClick = Promise.resolve();
  /** Counts the beginnings of a choice, so that clicks of the position before are dropped; they wait for each other. */
  let beginnings = 0;
  let lastChosen = Promise.resolve();
  let isSending = false;

  const clock = refereeClock();
  const board = mountLiveBoard(one("board"), clock);
  board.picture.setAttribute("role", "group");
  /** What is drawn beside the board, such as the tiles that a person has. */
  const beside = makeShape("svg", [makeShape("defs"), makeShape("g", "", { class: "pieces" })], {
    class: "picture",
    role: "group",
    "aria-label": "Beside the board",
  });
  one("hand").append(beside);
  const clicks = mountClicks(root, [board.picture, beside], { part: choose, move: play });

  // ---------------------------------------------------------------- what is shown

  /** Shows the board with the strips round it: the reader's own is below it. */
  function showBoard() {
    board.show(view);
    const seats = view.bots.length;
    for (const [index, strip] of [...one("board").querySelectorAll(".strip")].entries()) {
      const isOwn = index + 1 === view.seat;
      strip.style.gridArea = `seat${((index + 1 - (view.seat ?? 1) + seats) % seats) + 1}`;
      one("name", strip).classList.toggle("you", isOwn);
      if (isOwn && view.turn.includes(view.seat)) say(one("state", strip), "your move");
    }
    fitBoard();
    one("hand").hidden = !view.hand;
    if (!view.hand) return;
    const { box, defs, ground, draw, elements } = view.hand;
    beside.setAttribute("viewBox", box);
    beside.style.setProperty("--width", `${box.split(" ")[2]}px`);
    const [symbols, pieces] = beside.children;
    symbols.innerHTML = defs; // drawn by the server, which escapes whatever comes from a game
    pieces.innerHTML = ground + draw.map((index) => elements[index]).join("");
  }

  /** Leaves out what is empty above a board that grows, and makes room for what moves would add beyond its edges. */
  function fitBoard() {
    const [, , width, height] = view.box.split(" ").map(Number);
    const boxes = [...board.picture.querySelectorAll(".ground, .pieces")].map((group) => group.getBBox());
    const tops = boxes.filter((box) => box.height).map((box) => box.y - ROOM_ABOVE);
    const added = one("ghosts", board.picture).getBBox();
    const isAdded = added.width > 0;
    const top = Math.min(tops.length ? Math.max(0, Math.min(...tops)) : 0, isAdded ? added.y - RIM : Infinity);
    const left = Math.min(0, isAdded ? added.x - RIM : 0);
    const right = Math.max(width, isAdded ? added.x + added.width + RIM : 0);
    board.picture.setAttribute("viewBox", `${left} ${top} ${right - left} ${height - top}`);
  }

  /** Shows lines in a list that usually only grows; the newest is in sight. */
  function showLines(list, lines) {
    const before = [...list.children].map((item) => item.textContent);
    if (before.length === lines.length && before.every((line, index) => line === lines[index])) return;
    list.replaceChildren(...lines.map((line) => make("li", line)));
    list.scrollTop = list.scrollHeight;
  }

  function turnText() {
    if (view.over) return "The game is over";
    if (view.waiting) return view.waiting;
    if (view.asked) return "Your move";
    const others = view.turn.filter((seat) => seat !== view.seat).map((seat) => view.bots[seat - 1]);
    return others.length ? `${others.join(" and ")} to move` : "Waiting for the other players";
  }

  function show() {
    const isPlayer = view.seat !== null;
    const isAsked = view.asked && !view.over;
    root.hidden = false;
    root.classList.toggle("asked", isAsked);
    if (isPlayer) root.classList.add(`of-seat${view.seat}`);
    showBoard();
    for (const rule of document.querySelectorAll(".rule")) say(rule, view.rule);
    say(one("notation"), view.notation);
    const turn = turnText();
    say(one("turn"), turn);
    one("turn").classList.toggle("waits", !isAsked);
    document.title = isAsked ? `Your move: ${title}` : title;
    one("playing").hidden = !isPlayer || view.over;
    for (const control of root.querySelectorAll(".typed > *, .hint, .resign")) control.disabled = !isAsked;
    one("hint").hidden = !view.hints;
    one("back").disabled = !isAsked || view.back === 0;
    if (!isAsked) isSure(false);
    one("question").hidden = !view.question;
    say(one("asks"), view.question ?? "");
    one("of-news").hidden = !view.news.length;
    showLines(one("news"), view.news);
    showLines(one("log"), view.log);
    one("stamp").hidden = !view.over;
    say(one("stamp"), view.over ? view.result : "");
    one("ended").hidden = !view.over || !view.replay;
    if (view.replay) one("replay").href = view.replay;
    say(document.querySelector(".told"), view.over ? view.result : [view.last, turn].filter(Boolean).join(". "));
  }

  // ---------------------------------------------------------------- choosing a move

  const why = (text) => say(one("why"), text);

  async function act(order) {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${address}/act`, { method: "POST", headers, body: JSON.stringify(order) });
    if (!response.ok) throw new Error(response.statusText);
    return response.json();
  }

  /** Asks what can follow some parts; null if something else was asked meanwhile, or the server does not say. */
  async function ask(parts) {
    const number = ++asking;
    await lastClick;
    if (number !== asking) return null;
    const click = act({ click: parts });
    lastClick = click.catch(() => null);
    try {
      const answer = await click;
      return number === asking && view.asked ? answer : null;
    } catch {
      if (number === asking) why("The server did not answer. You can type the move.");
      return null;
    }
  }

  /** Begins to choose a move, if the person is asked for one. */
  async function begin() {
    choice = beginning = null;
    beginnings++;
    asking++;
    showChoice();
    if (view.asked && !view.over) beginning = choice = await ask([]);
    if (choice) showChoice();
  }

  /** Takes a part into the move, or out of it again, after the clicks before. */
  function choose(part) {
    const of = beginnings;
    lastChosen = lastChosen.then(() => (of === beginnings && choice ? chooseNext(part) : null));
  }

  async function chooseNext(part) {
    const { parts, next, moves } = choice;
    why("");
    let answer = null;
    if (parts.includes(part)) {
      if (!next.length && moves.length === 1) return play(moves[0]);
      answer = await ask(parts.filter((other) => other !== part));
      // Where the order of parts matters, those after it go as well.
      if (answer && !answer.next.length && !answer.moves.length) answer = await ask(parts.slice(0, parts.indexOf(part)));
    } else if (next.includes(part)) answer = await ask([...parts, part]);
    else if (beginning.next.includes(part)) answer = await ask([part]);
    else why(`No legal move has ${[...parts, part].join(" and ")}.`);
    if (!answer) return;
    choice = answer;
    showChoice();
  }

  async function send(line) {
    if (isSending) return false;
    isSending = true;
    why("");
    try {
      const answer = await act({ line });
      why(answer.why);
      return !answer.why;
    } catch {
      why("The server did not answer.");
      return false;
    } finally {
      isSending = false;
    }
  }

  async function play(move) {
    for (const button of one("moves").querySelectorAll("button")) button.disabled = true;
    if (!(await send(move)) && view.asked) begin();
  }

  function chosenText() {
    if (!choice) return "";
    const { parts, moves, next } = choice;
    if (!parts.length && !moves.length) return next.length ? "Choose on the board." : "Type a move.";
    const before = parts.length ? `Chosen: ${parts.join(" ")}. ` : "";
    if (next.length) return `${before}${moves.length ? "Choose more, or play:" : "Choose more."}`;
    return `${before}${parts.length && moves.length === 1 ? "Play it, or choose it once more:" : "Choose the move:"}`;
  }

  function moveButton(move) {
    const button = make("button", [clicks.thumbnail(move), make("span", move)].filter(Boolean), { type: "button" });
    for (const name of ["pointerenter", "focus"]) button.addEventListener(name, () => clicks.near(move, true));
    for (const name of ["pointerleave", "blur"]) button.addEventListener(name, () => clicks.near(move, false));
    button.addEventListener("click", () => play(move));
    return make("li", [button]);
  }

  function showChoice() {
    clicks.show(choice, beginning);
    fitBoard();
    say(one("chosen"), chosenText());
    one("clear").disabled = !choice?.parts.length;
    one("moves").replaceChildren(...(choice?.moves ?? []).map(moveButton));
  }

  function clear() {
    if (!choice?.parts.length) return;
    why("");
    asking++;
    choice = beginning;
    showChoice();
  }

  // ---------------------------------------------------------------- controls

  one("typed").addEventListener("submit", async (event) => {
    event.preventDefault();
    const line = field.value.trim();
    if (!line || !(await send(line))) return;
    field.value = "";
  });
  field.addEventListener("input", () => why(""));
  one("clear").addEventListener("click", clear);
  root.addEventListener("keydown", (event) => event.key === "Escape" && clear());
  one("back").addEventListener("click", () => send("back 1"));
  one("hint").addEventListener("click", async () => {
    one("hint").disabled = true;
    await send("hint");
    one("hint").disabled = !view.asked;
  });

  /** Asks whether the person is sure to resign, or no longer. */
  function isSure(isAsked) {
    one("sure").hidden = !isAsked;
    one("resign").hidden = isAsked;
  }
  one("resign").addEventListener("click", () => {
    isSure(true);
    one("stay").focus();
  });
  one("stay").addEventListener("click", () => {
    isSure(false);
    one("resign").focus();
  });
  one("leave").addEventListener("click", () => send("resign"));
  one("yes").addEventListener("click", () => send("yes"));
  one("no").addEventListener("click", () => send("no"));

  // ---------------------------------------------------------------- the connection

  let source = null;
  let timer = 0;
  const connection = document.querySelector(".connection");
  const tell = (text, isLost) => {
    say(connection, text);
    connection.classList.toggle("lost", isLost);
  };
  const listenFor = () => {
    clearTimeout(timer);
    timer = setTimeout(lost, SILENT_MS);
  };
  const lost = () => {
    clearTimeout(timer);
    source?.close();
    if (view?.over) return;
    tell("The connection to the server is lost. Trying again.", true);
    timer = setTimeout(connect, AGAIN_MS);
  };
  function take(change) {
    const position = () => view && [view.asked, view.moves, view.at, view.over].join();
    const before = position();
    const hand = change.hand ? patchedBoard(view?.hand, change.hand) : view?.hand;
    view = { ...patchedBoard(view, change), hand };
    clock.hear(view.now);
    show();
    if (position() === before) clicks.refresh();
    else begin();
  }
  function connect() {
    source = new EventSource(`${address}/events`);
    source.addEventListener("view", (event) => {
      listenFor();
      tell("", false);
      take(JSON.parse(event.data));
    });
    source.addEventListener("beat", listenFor);
    source.addEventListener("error", lost);
    listenFor();
  }
  new ResizeObserver(() => clicks.refresh()).observe(one("board"));
  setInterval(() => view && !view.over && board.tick(), matchMedia("(prefers-reduced-motion: reduce)").matches ? 1000 : 100);
  addEventListener("pagehide", () => source?.close());
  addEventListener("pageshow", (event) => {
    if (event.persisted) connect();
  });
  tell("Connecting.", false);
  connect();
}
