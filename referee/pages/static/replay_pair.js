// Two games beside each other, in step: a step chosen in one is shown in both.
"use strict";

/** What happened in each step of a game, as texts. */
function happenedIn(game) {
  const found = [];
  let isOnTheWay = false;
  for (const step of game.views[0].steps) {
    if (!isOnTheWay) found.push([]);
    isOnTheWay = step.more;
    const lines = (step.lines ?? []).map((index) => game.lines[index]).filter((line) => line.kind !== "rejected");
    found.at(-1).push(...lines.map((line) => [line.kind, line.seat, line.text]), ...(step.news ?? []).map((text) => ["news", 0, text]));
  }
  return found;
}

/** What happened in a step as a short text; nothing where the game was over. */
function shortly(happened) {
  if (!happened) return "the game is over";
  return happened.filter(([kind]) => kind !== "news").map((one) => one[2]).join(", ") || happened.map((one) => one[2]).join(", ");
}

/**
 * Shows two games beside each other in an element, whose content it replaces.
 * @param {object[]} games the data of both
 * @param {object} options `step` to begin with, the first that differs if none is given; `keys` as `mountReplay` takes
 *   them; `moved`, called with the step after each change
 * @returns {{go(step: number): void, look(view: number): void, close(): void}} as `mountReplay` returns
 */
function mountPair(element, games, { step, view = 0, keys = document, moved = () => {} } = {}) {
  const happened = games.map(happenedIn);
  const [one, other] = happened;
  const longer = other.length > one.length ? 1 : 0;
  const differs = happened[longer].findIndex((_, number) => JSON.stringify(one[number]) !== JSON.stringify(other[number]));
  const pair = make("div", "", { class: "pair" });
  const apart = pair.appendChild(make("p", "", { class: "apart" }));
  const players = [];
  /** Whether a game is only shown the step of the other. */
  let isFollowing = true;

  /** Shows in the other game the step that was chosen in one; a game that is over waits for the longer one. */
  const follow = (index) => (number, seat) => {
    if (isFollowing) return;
    isFollowing = true;
    const other = players[1 - index];
    if (number < happened[index].length - 1 || other.step() < number) other.go(number);
    isFollowing = false;
    moved(Math.max(number, other.step()), seat);
  };

  /** Turns the board of the other game round with that of one. */
  const flipped = (index) => () => {
    if (isFollowing) return;
    isFollowing = true;
    players[1 - index].flip();
    isFollowing = false;
  };

  const first = differs < 0 ? 0 : differs;
  for (const [index, game] of games.entries()) {
    // The controls of the longer game are those of both.
    const half = pair.appendChild(make("section", "", { class: index === longer ? "half" : "half following" }));
    half.ariaLabel = `game ${game.id}`;
    const head = half.appendChild(make("h2", `${game.id} `));
    head.append(make("span", game.result, { class: "soft small" }));
    const options = { step: step ?? first, view, keys: index === longer ? keys : null, told: true, moved: follow(index), flipped: flipped(index) };
    players.push(mountReplay(half.appendChild(make("div")), game, options));
  }
  isFollowing = false;
  if (differs < 0) apart.append("Both games are the same from the first step to the last.");
  else {
    const button = make("button", `Step ${differs}`, { class: "small" });
    button.type = "button";
    button.addEventListener("click", () => players[longer].go(differs));
    apart.append(button, " is the first that differs: ");
    for (const [index, game] of games.entries()) {
      apart.append(make("strong", shortly(happened[index][differs])), ` in ${game.id}`, index ? "." : ", ");
    }
  }
  element.replaceChildren(pair);
  return {
    go: (number) => players[longer].go(number),
    look: (seat) => players.forEach((player) => player.look(seat)),
    close() {
      for (const player of players) player.close();
      element.replaceChildren();
    },
  };
}
