// Takes every chunk of its input for a line.
process.stdin.on("data", (chunk) => {
  const [word, ...rest] = chunk.toString().trim().split(/\s+/);
  if (word === "hello") console.log("hello 1");
  else if (word === "prepare") console.log("ready");
  else if (word === "ask") console.log(`move ${rest[0]} L:A1`);
  else if (word === "quit") process.exit(0);
});
