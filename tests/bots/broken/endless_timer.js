// Keeps a timer that never ends.
const readline = require("node:readline");
let empty = [];
setInterval(() => {}, 1000);

function cells(side) {
  const rows = 2 * side - 1;
  const all = [];
  for (let r = 0; r < rows; r++)
    for (let i = 1; i <= rows - Math.abs(side - 1 - r); i++) all.push(String.fromCharCode(65 + r) + i);
  return all;
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const [word, ...rest] = line.split(" ");
  if (word === "hello") console.log("hello 1");
  else if (word === "option" && rest[0] === "size") empty = cells(Number(rest[1]));
  else if (word === "prepare") console.log("ready");
  else if (word === "news" && rest[0] === "captured") empty.push(...rest.slice(2));
  else if (word === "news") empty = empty.filter((cell) => !rest.slice(2).some((part) => part.endsWith(":" + cell)));
  else if (word === "ask") console.log(`move ${rest[0]} L:${empty[0]}`);
});
