// Plays Blooms at random, in JavaScript: node js_bot.js
"use strict";

const readline = require("node:readline");

let empty = new Set();
let turns = 0;
let state = 0n;

const MASK = (1n << 64n) - 1n;

// SplitMix64: small, and the same everywhere.
function below(n) {
  state = (state + 0x9e3779b97f4a7c15n) & MASK;
  let z = state;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
  return Number((z ^ (z >> 31n)) % BigInt(n));
}

function cells(side) {
  const names = [];
  for (let row = 0; row < 2 * side - 1; row++) {
    const length = 2 * side - 1 - Math.abs(side - 1 - row);
    for (let i = 1; i <= length; i++) names.push(String.fromCharCode(65 + row) + i);
  }
  return names;
}

function hear([kind, , ...rest]) {
  if (kind === "move") {
    turns += 1;
    for (const part of rest) empty.delete(part.slice(2));
  } else {
    for (const cell of rest) empty.add(cell);
  }
}

function answer(question) {
  const free = [...empty].sort();
  const take = () => free.splice(below(free.length), 1)[0];
  const parts = ["L:" + take()];
  if (turns > 0 && free.length > 0) parts.push("D:" + take());
  say(`move ${question} ${parts.join(" ")}`);
}

function say(line) {
  process.stdout.write(line + "\n");
}

const input = readline.createInterface({ input: process.stdin });

input.on("line", (line) => {
  const [word, ...rest] = line.trim().split(/ +/);
  if (word === "hello") say("hello 1");
  else if (word === "game") turns = 0;
  else if (word === "option" && rest[0] === "size") empty = new Set(cells(Number(rest[1])));
  else if (word === "seed") state = BigInt(rest[0]);
  else if (word === "prepare") say("ready");
  else if (word === "news") hear(rest);
  else if (word === "ask") answer(rest[0]);
  else if (word === "quit") process.exit(0);
});
