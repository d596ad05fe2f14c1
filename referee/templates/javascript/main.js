// @NAME@: a bot for the referee, in JavaScript. Your own idea goes into `choose`; the rest is the protocol.
"use strict";

const readline = require("node:readline");

/** How many legal moves to ask for; if there are more, a random sample comes (up to 2000). */
const MOST = 200;

/** The game as the bot knows it; each game has a new one, so nothing of the last one is left. */
class Game {
  constructor(slug, seat, seats) {
    this.slug = slug; // which game it is
    this.seat = seat; // this bot's seat, from 1 to seats
    this.seats = seats;
    this.options = {}; // such as { size: "4" }
    this.news = []; // all news of this game, oldest first, each line split into words
    this.seed = 0;
    this.question = ""; // the number of the open question
    this.allowanceMs = 0; // what remains of the time for this move
    this.reserveMs = 0; // and for the whole game
    this.rejected = ""; // why the last answer was rejected; empty if it was not
    this.expected = 0; // how many legal moves are listed
    this.moves = []; // those that have come
  }

  /** A random number below n, by mulberry32: the referee's seed gives the same game again. */
  below(n) {
    this.seed = (this.seed + 0x6d2b79f5) >>> 0;
    let z = this.seed;
    z = Math.imul(z ^ (z >>> 15), z | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) % n;
  }

  /** Prepares for the game; its clock does not run yet. */
  start() {}

  /**
   * Follows a line of news, such as ["move", "1", "L:D4", "D:D6"] in Blooms: update your position here.
   * The news is explained by @DOCS@. It includes the bot's own moves, and the first question may
   * come in the middle of a game, so rely on the news alone.
   */
  hear(words) {}

  /**
   * The move to make. Your idea: take the best of these moves instead. The line "info value 0.62 depth 4" has
   * your chance to win drawn in replays.
   */
  choose(moves) {
    if (this.rejected) {
      console.error("rejected: " + this.rejected); // stderr does no harm; the referee shows it after a loss
    }
    return moves[this.below(moves.length)];
  }
}

/** The first word of a text and the rest. */
function cut(text) {
  const [, word, rest] = /^\s*(\S*)\s*(.*?)\s*$/.exec(text);
  return [word, rest];
}

function say(line) {
  process.stdout.write(line + "\n"); // console.log would do as well
}

let game = new Game("", 0, 0);
const input = readline.createInterface({ input: process.stdin });

input.on("line", (line) => {
  const [word, rest] = cut(line);
  const words = rest.split(/\s+/);
  switch (word) {
    case "hello":
      say("hello 1");
      break;
    case "game":
      game = new Game(words[0], Number(words[2]), Number(words[3]));
      break;
    case "option":
      game.options[words[0]] = cut(rest)[1];
      break;
    case "seed":
      game.seed = Number(words[0]) >>> 0;
      break;
    case "prepare":
      game.start();
      say("ready");
      break;
    case "news":
      game.news.push(words);
      game.hear(words);
      break;
    case "rejected": // the same question follows, with the next number
      game.rejected = rest;
      break;
    case "ask":
      [game.question, game.allowanceMs, game.reserveMs] = words.map(Number);
      say(`list ${game.question} ${MOST}`);
      break;
    case "legal": // that many lines `choice MOVE` follow
      game.expected = Number(words[2]);
      game.moves = [];
      break;
    case "choice":
      game.moves.push(rest);
      if (game.moves.length === game.expected) {
        say(`move ${game.question} ${game.choose(game.moves)}`);
        game.rejected = "";
      }
      break;
    case "quit":
      input.close(); // nothing is left to do then, so the program ends
      break;
    default: // unknown words are ignored
  }
});
