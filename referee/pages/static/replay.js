// Replays games. The page includes `player.html`, the other scripts of replays, and the data of a game as `referee/pages/game_data.py`
// describes it, in a `<script type="application/json">`: as it is, or as a text that is deflated.
//
// An element with `data-replay="ID"` shows the game in the script with this id as soon as the page is loaded,
// and keeps the step and the view in the page's address; with `data-beside`, the game in that script is shown beside
// it. For another use:
//
//     const player = mountReplay(element, await replayData("game-3"), {step: 12, keys: dialog});
//     player.close();
"use strict";

/** The data in the element with this id. Raises an error where the browser cannot inflate it. */
async function replayData(id) {
  const value = JSON.parse(document.getElementById(id).textContent);
  if (typeof value !== "string") return value;
  const bytes = Uint8Array.from(atob(value), (character) => character.charCodeAt(0));
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(inflated).text());
}

/**
 * Shows a game in an element, whose content it replaces.
 * @param {Element} element
 * @param {object} game the data of the game
 * @param {object} options `step` and `view` (the number of a seat, 0 for all) to begin with; `keys`, whose key
 *   events are obeyed (the document, if nothing is given; null for none); `told`, whether the page says elsewhere how
 *   the game ended; `moved`, called with the step and the view after each change; `flipped`, called after the board was
 *   turned round
 * @returns {{go(step: number): void, step(): number, look(view: number): void, flip(): void, close(): void}}
 */
function mountReplay(element, game, { step = 0, view = 0, keys = document, told = false, moved = () => {}, flipped = () => {} } = {}) {
  const PLAY = "M7 4v16l13-8z";
  const PAUSE = "M6 5h4v14H6zM14 5h4v14h-4z";
  /** The pixels above the first step of the list and below the last one. */
  const GAP = 4;
  /** How far a finger moves at least to turn a step. */
  const SWIPE = 40;
  const listening = new AbortController();
  const { signal } = listening;
  const root = document.getElementById("player").content.firstElementChild.cloneNode(true);
  const part = (name) => root.querySelector(`.${name}`);
  const [picture, slider, moves] = ["picture", "slider", "moves"].map(part);
  const board = mountBoard(root, game);
  const status = part("status");
  const play = part("play");
  const stamp = part("stamp");
  /** The view that is shown, what each step shows in it, and after each the reserves and the marks. */
  let shown, steps, reserves, marks;
  /** The number of each step: positions on the way to one have its number. */
  let numbers;
  let graph = null;
  let at = 0;
  let timer = 0;
  let typed = "";
  let drawnSteps = [];
  /** Whether the news of a step are unfolded. */
  let opensNews = false;

  const linesOf = (number) => (steps[number].lines ?? []).map((index) => game.lines[index]);

  /** What is said of a step where nothing happened that the view knows. */
  const nothing = (number) => (number ? "nothing that this seat knows" : "the beginning");

  /** A step in words, for those who do not see the page. */
  function words(number) {
    const lines = linesOf(number).map((line) => line.words.split("\n")[0]);
    const said = lines.length ? lines : (steps[number].news ?? [nothing(number)]);
    const last = number === steps.length - 1 ? [game.result] : [];
    return `Step ${numbers[number]} of ${numbers.at(-1)}: ${[...said, ...last].join(". ")}`;
  }

  /** The line of the list for a step; where two play in turn, each has a column. */
  function row(number) {
    const lines = linesOf(number);
    const seats = new Set(lines.map((line) => line.seat));
    const isPlaced = game.bots.length === 2 && seats.size > 0 && !seats.has(undefined);
    const made = make("li", "", { class: !isPlaced ? "" : seats.size === 1 ? `column${[...seats][0]}` : "both" });
    const button = stepRow(
      game, steps[number - 1]?.more ? "" : numbers[number], lines, steps[number].news, nothing(number), marks[number], isPlaced,
    );
    if (steps[number].written) button.append(writtenSign(steps[number].written));
    made.append(button);
    button.addEventListener("click", () => choose(number));
    return made;
  }

  /** Everything that is known of the current step, beside the board. */
  function now() {
    opensNews = part("of-news")?.open ?? opensNews; // as the reader left it
    const expected = steps[at].expected ?? [];
    const here = linesSaid(game, linesOf(at), expected.map((one) => one.seat));
    const analysed = (shown.analysis?.said[numbers[at]] ?? []).map((text) => make("p", text, { class: "analysis" }));
    here.splice(1, 0, ...analysed); // below the move, above what its bot said of it
    here.push(...expectedBy(game, expected, showExpected));
    here.push(...saidWrong(game, steps[at].wrong));
    here.push(...decided(marks[at]));
    const news = steps[at].news ?? [];
    if (news.length) {
      const list = make("ul", "", { class: "news" });
      list.append(...news.map((text) => make("li", text)));
      if (here.length) {
        const told = folded("News of this step", list);
        told.className = "of-news";
        told.open = opensNews;
        here.push(told);
      } else {
        here.push(list);
      }
    }
    if (at === steps.length - 1 && game.damage) {
      here.push(make("p", `The record is damaged here: ${game.damage}`, { class: "bad" }));
    }
    if (!here.length) here.push(make("p", nothing(at), { class: "soft" }));
    here.push(...writtenBy(game, steps[at].written));
    part("now").replaceChildren(...here);
  }

  /** Shows on the board what is expected, until another step is chosen. */
  function showExpected(move) {
    stop();
    board.show(move);
    stamp.hidden = true;
    status.textContent = `expected: ${move.text}`;
    picture.setAttribute("aria-label", `Position. Expected: ${move.text}`);
  }

  /** Copies the address of this page at this step. */
  async function copyLink() {
    try {
      await navigator.clipboard.writeText(location.href);
      tell("link copied");
    } catch {
      tell(location.href);
    }
  }

  function tell(text) {
    part("told").textContent = text;
    setTimeout(() => (part("told").textContent = ""), 4000);
  }

  /** The last line of a seat up to the current step that has something. */
  function lastWith(seat, name) {
    for (let number = at; number >= 0; number--) {
      const found = linesOf(number).findLast((line) => line.seat === seat && line[name] !== undefined);
      if (found) return found;
    }
    return undefined;
  }

  function seats() {
    const isLast = at === steps.length - 1;
    part("seats").replaceChildren(
      ...game.bots.map((_, index) => {
        const seat = index + 1;
        return seatCard(game, seat, {
          last: lastWith(seat, "used_us"),
          late: lastWith(seat, "late"),
          isOut: steps.slice(0, at + 1).some((_, number) => linesOf(number).some((line) => line.kind === "left" && line.seat === seat)),
          reserve: reserves[at][index],
          most: Math.max(1, ...reserves.map((all) => all[index] ?? 0)),
          value: lastWith(seat, "value")?.value,
          toMove: !isLast && (steps[at].turn ?? []).includes(seat),
          rank: isLast ? game.end?.ranks[index] : undefined,
        });
      }),
    );
  }

  /** Scrolls the list, and it alone, so that the current step is in view and the topmost one is whole. */
  function scroll(current) {
    const [high, row] = [moves.clientHeight, current.offsetHeight];
    const above = current.offsetTop - moves.scrollTop;
    const isSeen = above >= row && above <= high - 2 * row;
    const last = drawnSteps.at(-1);
    const end = last.offsetTop + last.offsetHeight + GAP;
    const wanted = Math.min(isSeen ? moves.scrollTop : current.offsetTop - (high - row) / 2, end - high);
    const top = (drawnSteps.find((one) => one.offsetTop - GAP > wanted - 1) ?? last).offsetTop - GAP;
    moves.style.setProperty("--after", `${Math.max(0, top + high - end)}px`); // so that it can be scrolled so far
    moves.scrollTop = top;
  }

  /** Where the current step is, in numbers. */
  const place = () => `${numbers[at]} / ${numbers.at(-1)}`;

  /** The position after the step with this number; those beyond the ends are the ends. */
  function after(number) {
    const whole = Math.trunc(number) || 0;
    return whole <= 0 ? 0 : whole > numbers.at(-1) ? steps.length - 1 : numbers.lastIndexOf(whole);
  }

  /** Shows a step; numbers beyond the ends are those of the ends. */
  function go(number) {
    const before = drawnSteps[at]?.firstChild;
    const hadFocus = before !== undefined && before === document.activeElement;
    before?.parentNode.removeAttribute("aria-current");
    if (before) before.tabIndex = -1;
    at = Math.max(0, Math.min(steps.length - 1, Math.trunc(number) || 0));
    board.show(steps[at]);
    const current = drawnSteps[at];
    current.setAttribute("aria-current", "step");
    current.firstChild.tabIndex = 0;
    if (hadFocus) current.firstChild.focus({ preventScroll: true });
    const text = words(at);
    picture.setAttribute("aria-label", `Position. ${text}`);
    slider.value = at;
    slider.setAttribute("aria-valuetext", text);
    part("count").textContent = place();
    // Buttons without effect keep the focus and the keys of those who use them.
    for (const name of ["first", "back"]) part(name).ariaDisabled = at === 0;
    for (const name of ["next", "last"]) part(name).ariaDisabled = at === steps.length - 1;
    if (!timer) status.textContent = text;
    now();
    seats();
    graph.at(at);
    const isBefore = at < steps.length - 1;
    stamp.hidden = isBefore || !game.end || (told && !game.end.fault);
    document.body.classList.toggle("before-end", isBefore);
    scroll(current);
    if (steps[at].position !== undefined) part("position").querySelector("pre").textContent = steps[at].position;
    moved(numbers[at], shown.seat ?? 0);
  }

  /** Shows the game as a seat knew it, or as a spectator for 0: the step with a number, or the current one. */
  function look(seat, number) {
    shown = game.views.find((one) => (one.seat ?? 0) === seat) ?? game.views[0];
    steps = shown.steps;
    let count = -1;
    numbers = steps.map((_, index) => (steps[index - 1]?.more ? count : ++count));
    let last = game.bots.map(() => null);
    reserves = steps.map((one) => (last = one.reserves ?? last));
    board.look(shown);
    slider.max = steps.length - 1;
    const stepLines = steps.map((_, number) => linesOf(number));
    marks = marksOf(stepLines, numbers.indexOf(shown.deciding?.step), shown.deciding?.words);
    for (const [step, seat, isProved] of shown.analysis?.costly ?? []) {
      const text = isProved ? "gave away what was proved" : "gave away much, as is estimated";
      marks[numbers.indexOf(step)]?.push({ seat, sign: "?", kind: isProved ? "bad" : "warn", text });
    }
    graph?.close();
    graph = mountGraph(part("graph"), game, shown, numbers, stepLines, marks, choose);
    part("about-graph").textContent = graphTitle(game, shown, stepLines);
    part("trouble").hidden = !marks.some((each) => each.length);
    drawnSteps = steps.map((_, number) => row(number));
    moves.replaceChildren(...drawnSteps);
    for (const input of root.querySelectorAll(".views input")) {
      input.checked = Number(input.value) === (shown.seat ?? 0);
    }
    part("faults").hidden = !shown.faults.length;
    part("faults").querySelector("pre").textContent = shown.faults.join("\n");
    const written = writtenBy(game, shown.written);
    part("written").hidden = !written.length;
    part("written").replaceChildren(part("written").firstElementChild, ...written);
    part("position").hidden = steps[0].position === undefined;
    go(number === undefined ? at : after(number));
  }

  function stop() {
    clearTimeout(timer);
    timer = 0;
    name(play, "Play", PLAY);
  }

  function name(button, text, path) {
    button.setAttribute("aria-label", text);
    button.querySelector("path").setAttribute("d", path);
  }

  /** Goes on by itself after the time that the speed asks for, until the last step. */
  function goOn() {
    const speed = Number(part("speed").querySelector("select").value);
    const used = Math.max(0, ...linesOf(Math.min(at + 1, steps.length - 1)).map((line) => line.used_us ?? 0));
    timer = setTimeout(
      () => {
        go(at + 1);
        if (at < steps.length - 1) goOn();
        else pause();
      },
      speed ? 1000 / speed : Math.max(100, Math.min(used / 1000, 2 ** 31 - 1)),
    );
  }

  /** Stops playing, and says where. */
  function pause() {
    stop();
    status.textContent = words(at);
  }

  function playOrPause() {
    if (timer) return pause();
    if (at === steps.length - 1) go(0);
    name(play, "Pause", PAUSE);
    goOn();
  }

  /** A step that a person chose: it ends the playing. */
  function choose(number) {
    stop();
    go(number);
  }

  function nextView() {
    const index = game.views.indexOf(shown);
    look(game.views[(index + 1) % game.views.length].seat ?? 0);
  }

  /** The number that is being typed, shown in the place of the current one. */
  function type(text) {
    typed = text;
    part("count").textContent = typed ? `go to ${typed}` : place();
  }

  /** The next step that has a mark, after the last one the first. */
  function trouble() {
    const found = marks.map((each, number) => (each.length ? number : -1)).filter((number) => number >= 0);
    if (found.length) choose(found.find((number) => number > at) ?? found[0]);
  }

  /** Stamps on the board how the game ended; it moves to the edge of the board once. */
  function addStamp() {
    if (!game.end) return;
    const best = game.end.ranks.indexOf(1);
    const isShared = game.end.ranks.filter((rank) => rank === 1).length !== 1;
    stamp.classList.add(isShared ? "shared" : `of-seat${best + 1}`);
    stamp.classList.toggle("fault", game.end.fault);
    stamp.append(make("strong", stampWords(game)), make("span", game.end.why));
    stamp.classList.toggle("long", stamp.textContent.length > 50); // as wide as the board, it cannot be larger
    stamp.addEventListener("animationend", () => stamp.classList.add("settled"));
  }

  /** On a board, a finger that moves sideways turns a step. */
  function addSwipe() {
    let from = null;
    const place = part("board");
    place.addEventListener("pointerdown", (event) => {
      from = event.pointerType === "mouse" ? null : event.clientX;
    });
    place.addEventListener("pointerup", (event) => {
      const by = from === null ? 0 : event.clientX - from;
      from = null;
      if (Math.abs(by) >= SWIPE) choose(at + (by < 0 ? 1 : -1));
    });
  }

  function flip() {
    board.flip();
    flipped();
  }

  const actions = {
    ArrowLeft: () => choose(at - 1),
    ArrowRight: () => choose(at + 1),
    PageUp: () => choose(at - 10),
    PageDown: () => choose(at + 10),
    Home: () => choose(0),
    End: () => choose(steps.length - 1),
    " ": playOrPause,
    v: nextView,
    n: trouble,
    l: copyLink,
    i: () => board.save(`${game.bots.join(" - ")} ${numbers[at]}`),
    f: flip,
  };

  /** What a key does, if it is not for the element that has the focus. */
  function action(key, target) {
    if (/^[0-9]$/.test(key) && !target.matches("select")) return () => type((typed + key).slice(-6));
    if (typed && key === "Enter") return () => choose(after(Number(typed)));
    if (typed && key === "Escape") return () => type("");
    if (moves.contains(target) && key === "ArrowUp") return actions.ArrowLeft;
    if (moves.contains(target) && key === "ArrowDown") return actions.ArrowRight;
    if (target.matches("select, textarea, input:not([type=range])")) return undefined;
    if (key === " " && target.closest("button, summary, a")) return undefined;
    return actions[key];
  }

  function pressed(event) {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
    const target = event.target instanceof Element ? event.target : document.body;
    const found = action(event.key, target);
    if (!found) return;
    event.preventDefault();
    const wasTyping = typed;
    found();
    if (wasTyping && typed === wasTyping) type("");
  }

  function addViews() {
    if (game.views.length < 2) return;
    const group = `view-${Math.random().toString(36).slice(2)}`;
    part("views").hidden = false;
    for (const one of game.views) {
      const choice = part("views").appendChild(make("label"));
      const input = choice.appendChild(make("input"));
      Object.assign(input, { type: "radio", name: group, value: one.seat ?? 0 });
      input.addEventListener("change", () => look(one.seat ?? 0));
      choice.append(make("span", one.seat ? `seat ${one.seat} ${game.bots[one.seat - 1]}` : "all"));
    }
  }

  /** Over the columns of the list, whose they are. */
  function addHeads() {
    part("heads").hidden = game.bots.length !== 2;
    game.bots.forEach((name, index) => {
      const head = part("heads").appendChild(make("span", "", { class: "head" }));
      head.append(seatMark(game, index + 1), make("span", name, { class: "name" }));
    });
    moves.classList.toggle("two", game.bots.length === 2);
  }

  addViews();
  addHeads();
  addStamp();
  addSwipe();
  play.addEventListener("click", playOrPause);
  slider.addEventListener("input", () => choose(Number(slider.value)));
  part("first").addEventListener("click", actions.Home);
  part("back").addEventListener("click", actions.ArrowLeft);
  part("next").addEventListener("click", actions.ArrowRight);
  part("last").addEventListener("click", actions.End);
  part("trouble").addEventListener("click", trouble);
  part("link").addEventListener("click", actions.l);
  part("image").addEventListener("click", actions.i);
  part("flip").addEventListener("click", actions.f);
  moves.addEventListener("click", stop);
  keys?.addEventListener("keydown", pressed, { signal });
  element.replaceChildren(root);
  look(view, step);
  const watching = new ResizeObserver(() => scroll(drawnSteps[at]));
  watching.observe(moves);
  return {
    go: (number) => choose(after(number)),
    step: () => numbers[at],
    look,
    flip,
    close() {
      stop();
      board.close();
      graph.close();
      watching.disconnect();
      listening.abort();
      element.replaceChildren();
    },
  };
}

/** Shows the games of an element with `data-replay`, with the step and the view in the page's address. */
async function startReplay(element) {
  const { replay, beside } = element.dataset;
  const game = await replayData(replay);
  const place = () => {
    const found = new URLSearchParams(location.hash.slice(1));
    return { step: found.has("step") ? Number(found.get("step")) : undefined, view: found.has("view") ? Number(found.get("view")) : undefined };
  };
  const moved = (step, view) => {
    const hash = game.views.length > 1 ? `#step=${step}&view=${view}` : `#step=${step}`;
    try {
      if (location.hash !== hash && (step || view || location.hash)) history.replaceState(null, "", hash);
    } catch {
      // Browsers limit how often the address changes.
    }
  };
  const options = { ...place(), told: true, moved };
  const player = beside ? mountPair(element, [game, await replayData(beside)], options) : mountReplay(element, game, options);
  addEventListener("hashchange", () => {
    const { step, view } = place();
    if (view !== undefined) player.look(view);
    player.go(step ?? 0);
  });
}

for (const element of document.querySelectorAll("[data-replay]")) startReplay(element);
