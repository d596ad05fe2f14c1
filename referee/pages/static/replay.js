// Replays games. The page includes `player.html`, and the data of a game as `referee/pages/game_data.py`
// describes it, in a `<script type="application/json">`: as it is, or as a text that is deflated.
//
// An element with `data-replay="ID"` shows the game in the script with this id as soon as the page is loaded,
// and keeps the step and the view in the page's address. For another use:
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
 *   events are obeyed (the document, if nothing is given; null for none); `moved`, called with the step and
 *   the view after each change
 * @returns {{go(step: number): void, look(view: number): void, close(): void}}
 */
function mountReplay(element, game, { step = 0, view = 0, keys = document, moved = () => {} } = {}) {
  const PLAY = "M7 4v16l13-8z";
  const PAUSE = "M6 5h4v14H6zM14 5h4v14h-4z";
  /** What stands beside a line by its kind, where that is not the kind itself. */
  const LABELS = { move: "", left: "", default: "time was up", unplayed: "does not count" };
  const listening = new AbortController();
  const { signal } = listening;
  const root = document.getElementById("player").content.firstElementChild.cloneNode(true);
  const part = (name) => root.querySelector(`.${name}`);
  const [ground, pieces, slider, moves] = ["ground", "pieces", "slider", "moves"].map(part);
  const picture = part("picture");
  const status = part("status");
  const play = part("play");
  /** The view that is shown, what each step shows in it, and the reserves after each. */
  let shown, steps, reserves;
  let at = 0;
  let timer = 0;
  let typed = "";
  let drawnSteps = [];

  /** A new element with a class and a text. */
  function make(tag, name = "", text = "") {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.textContent = text;
    return made;
  }

  /** A time as a person reads it. */
  function time(us) {
    if (us < 1000) return `${us} µs`;
    if (us < 1e6) return `${us < 1e4 ? (us / 1e3).toFixed(1) : Math.round(us / 1e3)} ms`;
    if (us < 9e7) return `${us < 1e7 ? (us / 1e6).toFixed(1) : Math.round(us / 1e6)} s`;
    return `${Math.round(us / 6e7)} min`;
  }

  /** The mark of a seat: its number in its colour. */
  function mark(seat) {
    const made = make("span", `seat seat${seat}`, seat);
    made.title = `seat ${seat} ${game.bots[seat - 1]}`;
    return made;
  }

  const linesOf = (number) => (steps[number].lines ?? []).map((index) => game.lines[index]);

  /** What is said of a step where nothing happened that the view knows. */
  const nothing = (number) => (number ? "nothing that this seat knows" : "the beginning");

  /** A step in words, for those who do not see the page. */
  function words(number) {
    const lines = linesOf(number).map((line) => line.words.split("\n")[0]);
    const said = lines.length ? lines : (steps[number].news ?? [nothing(number)]);
    const last = number === steps.length - 1 ? [game.result] : [];
    return `Step ${number} of ${steps.length - 1}: ${[...said, ...last].join(". ")}`;
  }

  /** The line of the list for a step. */
  function row(number) {
    const made = make("li");
    const button = made.appendChild(make("button", "row"));
    button.type = "button";
    button.tabIndex = -1;
    button.append(make("span", "number", number));
    const what = button.appendChild(make("span", "what"));
    for (const line of linesOf(number)) {
      const one = what.appendChild(make("span", `line ${line.kind}`));
      if (line.seat) one.append(mark(line.seat), " ");
      one.append(make("span", "text", line.text));
      const label = LABELS[line.kind] ?? line.kind;
      if (label) one.append(" ", make("span", "kind", label));
      if (line.used_us !== undefined) {
        const used = one.appendChild(make("span", "time", time(line.used_us)));
        const clock = game.clocks[line.seat - 1];
        if (clock?.move_us && line.used_us > clock.move_us / 50) {
          used.style.setProperty("--share", Math.min(1, line.used_us / clock.move_us));
          used.classList.toggle("over", line.used_us > clock.move_us);
        }
      }
    }
    if (!what.childNodes.length) {
      what.append(make("span", "line news", steps[number].news?.join(" · ") ?? nothing(number)));
    }
    button.addEventListener("click", () => choose(number));
    return made;
  }

  /** Everything that is known of the current step, beside the board. */
  function now() {
    const here = [];
    for (const line of linesOf(at)) {
      const one = make("p", `line ${line.kind}`);
      const [first, ...rest] = line.words.split("\n");
      one.append(first, ...rest.map((text) => make("small", "soft", text.trim())));
      here.push(one);
    }
    const news = steps[at].news ?? [];
    if (news.length) {
      const list = make("ul", "news");
      list.append(...news.map((text) => make("li", "", text)));
      here.push(list);
    }
    if (at === steps.length - 1) {
      if (game.damage) here.push(make("p", "bad", `The record is damaged here: ${game.damage}`));
      here.push(make("p", "end", game.result));
    }
    if (!here.length) here.push(make("p", "soft", nothing(at)));
    part("now").replaceChildren(...here);
  }

  /** The last timed move of a seat up to the current step. */
  function lastMove(seat) {
    for (let number = at; number >= 0; number--) {
      const found = linesOf(number).find((line) => line.seat === seat && line.used_us !== undefined);
      if (found) return { line: found, isNew: number === at };
    }
    return null;
  }

  /** A bar that is filled by a share, with a text. */
  function bar(name, share, text, title) {
    const made = make("div", `bar ${name}`);
    made.title = title;
    made.append(make("span", "label", text));
    made.style.setProperty("--share", Math.max(0, Math.min(1, share)));
    return made;
  }

  function seats() {
    part("seats").replaceChildren(
      ...game.bots.map((name, index) => {
        const card = make("li");
        const acted = linesOf(at).some((line) => line.seat === index + 1);
        card.classList.toggle("acted", acted);
        const who = card.appendChild(make("div", "who"));
        who.append(mark(index + 1), make("span", "name", name));
        const clock = game.clocks[index];
        who.append(make("span", "clock soft small", clock ? clock.text : "no clock"));
        const last = lastMove(index + 1);
        if (last) {
          const share = clock?.move_us ? last.line.used_us / clock.move_us : 0;
          const of = clock?.move_us ? ` of ${time(clock.move_us)}` : "";
          const text = `${time(last.line.used_us)}${of}`;
          card.append(bar(`move${share > 1 ? " over" : ""}`, share, text, `last move: ${text}`));
        }
        const reserve = reserves[at][index];
        if (reserve !== null && (clock?.reserve_us || reserve)) {
          const most = Math.max(...reserves.map((all) => all[index] ?? 0));
          card.append(bar("reserve", reserve / most, `reserve ${time(reserve)}`, "reserve of the whole game"));
        }
        return card;
      }),
    );
  }

  /** Scrolls the list, and it alone, so that the current step is in view. */
  function scroll(current) {
    const above = current.offsetTop - moves.scrollTop;
    if (above < current.offsetHeight || above > moves.clientHeight - 2 * current.offsetHeight) {
      moves.scrollTop = current.offsetTop - (moves.clientHeight - current.offsetHeight) / 2;
    }
  }

  /** Shows a step; numbers beyond the ends are those of the ends. */
  function go(number) {
    const before = drawnSteps[at]?.firstChild;
    const hadFocus = before !== undefined && before === document.activeElement;
    before?.parentNode.removeAttribute("aria-current");
    if (before) before.tabIndex = -1;
    at = Math.max(0, Math.min(steps.length - 1, Math.trunc(number) || 0));
    pieces.innerHTML = steps[at].draw.map((index) => game.elements[index]).join("");
    const current = drawnSteps[at];
    current.setAttribute("aria-current", "step");
    current.firstChild.tabIndex = 0;
    if (hadFocus) current.firstChild.focus({ preventScroll: true });
    const text = words(at);
    picture.setAttribute("aria-label", `Position. ${text}`);
    slider.value = at;
    slider.setAttribute("aria-valuetext", text);
    part("count").textContent = `${at} / ${steps.length - 1}`;
    // Buttons without effect keep the focus and the keys of those who use them.
    for (const name of ["first", "back"]) part(name).ariaDisabled = at === 0;
    for (const name of ["next", "last"]) part(name).ariaDisabled = at === steps.length - 1;
    if (!timer) status.textContent = text;
    now();
    seats();
    scroll(current);
    if (steps[at].position !== undefined) part("position").querySelector("pre").textContent = steps[at].position;
    moved(at, shown.seat ?? 0);
  }

  /** Shows the game as a seat knew it, or as a spectator for 0. */
  function look(seat) {
    shown = game.views.find((one) => (one.seat ?? 0) === seat) ?? game.views[0];
    steps = shown.steps;
    let last = game.bots.map(() => null);
    reserves = steps.map((one) => (last = one.reserves ?? last));
    picture.setAttribute("viewBox", shown.box);
    const [, , width, height] = shown.box.split(" ").map(Number);
    picture.style.setProperty("--ratio", width / height);
    picture.style.setProperty("--width", `${width}px`);
    ground.innerHTML = shown.ground;
    slider.max = steps.length - 1;
    drawnSteps = steps.map((_, number) => row(number));
    moves.replaceChildren(...drawnSteps);
    for (const input of root.querySelectorAll(".views input")) {
      input.checked = Number(input.value) === (shown.seat ?? 0);
    }
    part("faults").hidden = !shown.faults.length;
    part("faults").querySelector("pre").textContent = shown.faults.join("\n");
    const written = Object.entries(shown.written).map(([seat, lines]) => {
      const one = make("div");
      const title = one.appendChild(make("h3"));
      title.append(mark(seat), " ", game.bots[seat - 1]);
      one.append(make("pre", "", lines.join("\n")));
      return one;
    });
    part("written").hidden = !written.length;
    part("written").replaceChildren(part("written").firstElementChild, ...written);
    part("position").hidden = steps[0].position === undefined;
    go(at);
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
    part("count").textContent = typed ? `go to ${typed}` : `${at} / ${steps.length - 1}`;
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
  };

  /** What a key does, if it is not for the element that has the focus. */
  function action(key, target) {
    if (/^[0-9]$/.test(key) && !target.matches("select")) return () => type((typed + key).slice(-6));
    if (typed && key === "Enter") return () => choose(Number(typed));
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
      choice.append(make("span", "", one.seat ? `seat ${one.seat} ${game.bots[one.seat - 1]}` : "all"));
    }
  }

  addViews();
  play.addEventListener("click", playOrPause);
  slider.addEventListener("input", () => choose(Number(slider.value)));
  part("first").addEventListener("click", actions.Home);
  part("back").addEventListener("click", actions.ArrowLeft);
  part("next").addEventListener("click", actions.ArrowRight);
  part("last").addEventListener("click", actions.End);
  moves.addEventListener("click", stop);
  keys?.addEventListener("keydown", pressed, { signal });
  element.replaceChildren(root);
  at = step;
  look(view);
  return {
    go: choose,
    look,
    close() {
      stop();
      listening.abort();
      element.replaceChildren();
    },
  };
}

/** Shows the game of an element with `data-replay`, with the step and the view in the page's address. */
async function startReplay(element) {
  const game = await replayData(element.dataset.replay);
  const place = () => {
    const found = new URLSearchParams(location.hash.slice(1));
    return { step: Number(found.get("step")), view: found.has("view") ? Number(found.get("view")) : undefined };
  };
  const moved = (step, view) => {
    const hash = game.views.length > 1 ? `#step=${step}&view=${view}` : `#step=${step}`;
    try {
      if (location.hash !== hash && (step || view || location.hash)) history.replaceState(null, "", hash);
    } catch {
      // Browsers limit how often the address changes.
    }
  };
  const player = mountReplay(element, game, { ...place(), moved });
  addEventListener("hashchange", () => {
    const { step, view } = place();
    if (view !== undefined) player.look(view);
    player.go(step);
  });
}

for (const element of document.querySelectorAll("[data-replay]")) startReplay(element);
