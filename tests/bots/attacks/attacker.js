// An attacker in JavaScript: `node attacker.js ATTACK[,ATTACK ...] GAME`. See `__init__.py` of this folder.
'use strict';
const fs = require('fs');
const net = require('net');
const os = require('os');
const readline = require('readline');

const [names, game] = [process.argv[2].split(','), Number(process.argv[3])];
const t = {};
let games = 0, asks = 0, asked = 0, tried = false;

const report = (text) => fs.writeSync(2, `ATTACK ${text}\n`);
const secrets = (bytes) => {
  for (const secret of new Set(bytes.toString('latin1').match(/[A-Z]+-SECRET-[0-9a-f]+/g))) report(`read ${secret}`);
};

const attacks = {
  source: async () => secrets(fs.readFileSync(t.VICTIM_SOURCE)),
  renice: async () => os.setPriority(Number(t.VICTIM), 19),
  tcp: () => new Promise((done, failed) => {
    const socket = net.connect(Number(t.PORT), '127.0.0.1', () => socket.end(`${t.TOKEN}\n`, done));
    socket.on('error', failed);
  }),
  'results-read': async () => {
    for (const name of fs.readdirSync(t.RESULTS)) {
      const first = fs.readFileSync(`${t.RESULTS}/${name}`, 'latin1').split('\n')[0];
      report(`read ${name} ${first.slice(0, 20000)}`);
    }
  },
};

function readTargets() {
  for (;;) {
    try {
      const text = fs.readFileSync('targets', 'utf8');
      if (/^END=/m.test(text)) {
        for (const line of text.split('\n')) t[line.split('=')[0]] = line.slice(line.indexOf('=') + 1);
        return;
      }
    } catch (error) { /* not there yet */ }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  }
}

async function attack(name) {
  report(`tries ${name}`);
  try {
    await attacks[name]();
    report('did');
  } catch (error) {
    report(`failed ${error.code || error}`);
  }
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [word, ...rest] = line.trim().split(/\s+/);
    if (word === 'hello') console.log('hello 1');
    else if (word === 'game') { games += 1; asks = 0; }
    else if (word === 'prepare') { if (games === game) readTargets(); console.log('ready'); }
    else if (word === 'ask') {
      if (games === game && !tried) { tried = true; for (const name of names) await attack(name); }
      asked = rest[0];
      asks += 1;
      console.log(asks === 4 ? `resign ${asked}` : `list ${asked} 1`);
    } else if (word === 'choice') console.log(`move ${asked} ${rest.join(' ')}`);
    else if (word === 'quit') process.exit();
  }
}

main();
