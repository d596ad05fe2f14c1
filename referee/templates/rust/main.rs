//! @NAME@: a bot for the referee, in Rust. Your own idea goes into `choose`; the rest is the protocol.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};

/// How many legal moves to ask for; if there are more, a random sample comes (up to 2000).
const MOST: usize = 200;

/// The game as the bot knows it.
#[allow(dead_code)] // remove this line when your idea uses them all
#[derive(Default)]
struct Game {
    /// Which game it is.
    slug: String,
    /// This bot's seat, from 1 to `seats`.
    seat: usize,
    seats: usize,
    options: HashMap<String, String>,
    /// All news of this game, oldest first, each line split into words.
    news: Vec<Vec<String>>,
    random: Random,
    /// The number of the open question.
    question: u64,
    /// What remains of the time for this move, and for the whole game.
    allowance_ms: u64,
    reserve_ms: u64,
    /// Why the last answer was rejected, if it was.
    rejected: Option<String>,
}

impl Game {
    /// Prepares for a game; its clock does not run yet. Each game has a new `Game`, so nothing of the last
    /// one is left.
    fn start(&mut self) {}

    /// Follows the last line of news, such as `["move", "1", "L:D4", "D:D6"]` in Blooms: update your position
    /// here. The news is explained by @DOCS@. It includes the bot's own moves, and the
    /// first question may come in the middle of a game, so rely on the news alone.
    fn hear(&mut self) {}

    /// The move to make. Your idea: take the best of these moves instead. The line
    /// "info value 0.62 depth 4" has your chance to win drawn in replays.
    fn choose(&mut self, moves: &[String]) -> String {
        if let Some(reason) = &self.rejected {
            eprintln!("rejected: {reason}"); // stderr does no harm; the referee shows it if the game is lost
        }
        moves[self.random.below(moves.len())].clone()
    }
}

/// Random numbers by SplitMix64: the referee's seed gives the same game again.
#[derive(Default)]
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

/// The first word of a text and the rest.
fn cut(text: &str) -> (&str, &str) {
    let (word, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    (word, rest.trim())
}

/// The number at a place among the words; 0 where there is none.
fn number(words: &[&str], place: usize) -> u64 {
    words
        .get(place)
        .and_then(|word| word.parse().ok())
        .unwrap_or(0)
}

/// Sends a line at once.
fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

fn main() -> io::Result<()> {
    let mut game = Game::default();
    let mut lines = io::stdin().lock().lines();
    while let Some(line) = lines.next() {
        let line = line?;
        let (word, rest) = cut(&line);
        let words: Vec<&str> = rest.split_whitespace().collect();
        match word {
            "hello" => say("hello 1")?,
            "game" => {
                game = Game {
                    slug: cut(rest).0.to_string(),
                    seat: number(&words, 2) as usize,
                    seats: number(&words, 3) as usize,
                    ..Game::default()
                }
            }
            "option" => {
                let (name, value) = cut(rest);
                game.options.insert(name.to_string(), value.to_string());
            }
            "seed" => game.random = Random(number(&words, 0)),
            "prepare" => {
                game.start();
                say("ready")?;
            }
            "news" => {
                game.news
                    .push(words.iter().map(|word| word.to_string()).collect());
                game.hear();
            }
            // The same question follows, with the next number.
            "rejected" => game.rejected = Some(rest.to_string()),
            "ask" => {
                game.question = number(&words, 0);
                game.allowance_ms = number(&words, 1);
                game.reserve_ms = number(&words, 2);
                say(&format!("list {} {MOST}", game.question))?;
            }
            "legal" => {
                let mut moves = Vec::new();
                for line in lines.by_ref().take(number(&words, 2) as usize) {
                    moves.push(cut(&line?).1.to_string()); // choice MOVE
                }
                if moves.is_empty() {
                    break; // the input has ended
                }
                let chosen = game.choose(&moves);
                say(&format!("move {} {chosen}", game.question))?;
                game.rejected = None;
            }
            "quit" => break,
            _ => {} // unknown words are ignored
        }
    }
    Ok(())
}
