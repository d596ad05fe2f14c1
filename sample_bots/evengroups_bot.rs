//! Plays Even Groups by exact search of the end, in Rust: rustc -O -o evengroups_bot evengroups_bot.rs
//!
//!     evengroups_bot --playouts 400
//!     evengroups_bot --time 200
//!
//! Every turn either keeps or swaps who would win if the game ended now, so that only its end decides. Before it
//! can be searched completely, moves are compared by playouts: random moves until few cells are empty, and from
//! there the exact result. Their number is fixed, so that the same seed plays the same game; with `--time` there
//! are as many as there is time for, in milliseconds.
//!
//! What matters of a group of stones is only which empty cells are beside it: stones placed there join it. So a
//! position is a set of empty cells and, for each colour, a list of such sets, and many positions are the same.

use std::env;
use std::io::{self, BufRead, Write};
use std::time::{Duration, Instant};

/// With at most so many empty cells, playouts end with the exact result.
const SOLVED_CELLS: u32 = 8;

/// With at most so many empty cells, it tries to find the exact result of each move.
const SEARCHED_CELLS: u32 = 16;

/// The most positions that this may take: about 0.2 s.
const POSITIONS: u64 = 1_000_000;

/// With more empty cells than this, it moves at random: too much will happen before the end.
const COMPARED_CELLS: u32 = 24;

/// The number of moves that are compared by playouts.
const CANDIDATES: usize = 32;

const TABLE: usize = 1 << 20;

const COLOURS: [char; 2] = ['W', 'O'];

/// SplitMix64: small, and the same everywhere.
struct Random(u64);

fn mixed(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xBF58476D1CE4E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D049BB133111EB);
    z ^ (z >> 31)
}

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E3779B97F4A7C15);
        mixed(self.0)
    }

    fn below(&mut self, most: usize) -> usize {
        (self.next() % most as u64) as usize
    }
}

/// Cell and colour: 0 for white, 1 for orange.
type Stone = (usize, usize);

/// The board with its stones, of any size.
struct Board {
    names: Vec<String>,
    near: Vec<Vec<usize>>,
    colours: Vec<Option<usize>>,
}

impl Board {
    fn new(side: usize) -> Board {
        let side = side as i32;
        let offset = |row: i32| (side - 1 - row).abs();
        let places: Vec<(i32, i32)> = (0..2 * side - 1)
            .flat_map(|row| (0..2 * side - 1 - offset(row)).map(move |i| (row, i)))
            .collect();
        let beside = |(row, i): (i32, i32), (other, k): (i32, i32)| {
            // In units of half a cell, neighbours are 2 apart in a row, and 1 apart in adjacent rows.
            let across = (2 * i + offset(row) - 2 * k - offset(other)).abs();
            (row == other && across == 2) || ((row - other).abs() == 1 && across == 1)
        };
        Board {
            names: places
                .iter()
                .map(|(row, i)| format!("{}{}", (b'A' + *row as u8) as char, i + 1))
                .collect(),
            near: places
                .iter()
                .map(|&place| (0..places.len()).filter(|&other| beside(place, places[other])).collect())
                .collect(),
            colours: vec![None; places.len()],
        }
    }

    fn empty(&self) -> Vec<usize> {
        (0..self.colours.len()).filter(|&cell| self.colours[cell].is_none()).collect()
    }

    /// The stone that a part of a move such as `O:E5` names.
    fn stone(&self, part: &str) -> Option<Stone> {
        let (colour, name) = part.split_once(':')?;
        let cell = self.names.iter().position(|other| other == name)?;
        Some((cell, if colour == "O" { 1 } else { 0 }))
    }

    fn written(&self, stones: &[Stone]) -> String {
        let parts: Vec<String> = stones
            .iter()
            .map(|&(cell, colour)| format!("{}:{}", COLOURS[colour], self.names[cell]))
            .collect();
        parts.join(" ")
    }

    /// The colour and the stones of each group.
    fn groups(&self) -> Vec<(usize, Vec<usize>)> {
        let mut found: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut seen = vec![false; self.colours.len()];
        for first in 0..self.colours.len() {
            let colour = match self.colours[first] {
                Some(colour) => colour,
                None => continue,
            };
            if seen[first] {
                continue;
            }
            seen[first] = true;
            let mut group = vec![first];
            let mut done = 0;
            while done < group.len() {
                for &cell in &self.near[group[done]] {
                    if self.colours[cell] == Some(colour) && !seen[cell] {
                        seen[cell] = true;
                        group.push(cell);
                    }
                }
                done += 1;
            }
            found.push((colour, group));
        }
        found
    }

    /// Which of the empty cells are beside some of these cells, as bits of their numbers in the list.
    fn beside(&self, cells: &[usize], empty: &[usize]) -> u64 {
        (0..empty.len())
            .filter(|&number| cells.iter().any(|&cell| self.near[cell].contains(&empty[number])))
            .fold(0, |bits, number| bits | 1 << number)
    }

    /// A random legal move, by trial: about half of all placements are legal.
    fn random_move(&mut self, random: &mut Random) -> Vec<Stone> {
        let empty = self.empty();
        loop {
            let stones = two_stones(&empty, random);
            for (cell, colour) in stones {
                self.colours[cell] = Some(colour);
            }
            let odd = self.groups().len() % 2 == 1;
            for (cell, _) in stones {
                self.colours[cell] = None;
            }
            if odd {
                return stones.to_vec();
            }
        }
    }
}

/// Two stones of any colours on different cells.
fn two_stones(cells: &[usize], random: &mut Random) -> [Stone; 2] {
    let one = random.below(cells.len());
    let other = (one + 1 + random.below(cells.len() - 1)) % cells.len();
    let colours = random.below(4);
    [(cells[one], colours / 2), (cells[other], colours % 2)]
}

/// A position with at most 64 empty cells, which are numbered from 0.
#[derive(Clone)]
struct Position {
    empty: u64,
    /// By colour, for each group that can still grow: the empty cells beside it.
    groups: [Vec<u64>; 2],
    /// By colour, whether the number of groups is odd.
    odd: [bool; 2],
    /// The colour of the seat to move.
    mover: usize,
}

impl Position {
    /// The position on a board, for the seat of a colour to move.
    fn new(board: &Board, empty: &[usize], mover: usize) -> Position {
        let mut position = Position { empty: 0, groups: [Vec::new(), Vec::new()], odd: [false; 2], mover };
        for number in 0..empty.len() {
            position.empty |= 1 << number;
        }
        for (colour, group) in board.groups() {
            let beside = board.beside(&group, empty);
            position.odd[colour] ^= true;
            if beside != 0 {
                position.groups[colour].push(beside);
            }
        }
        position
    }

    /// Places a stone: it is a new group, or joins the groups beside it.
    fn place(&mut self, (cell, colour): Stone, near: &[u64]) {
        let bit = 1 << cell;
        self.empty ^= bit;
        let mut joined = near[cell];
        let mut odd = self.odd[colour] ^ true;
        self.groups[colour].retain(|&group| {
            if group & bit != 0 {
                joined |= group;
                odd ^= true;
            }
            group & bit == 0
        });
        self.odd[colour] = odd;
        joined &= self.empty;
        if joined != 0 {
            self.groups[colour].push(joined);
        }
        self.groups[1 - colour].retain_mut(|group| {
            *group &= !bit;
            *group != 0
        });
    }

    /// The position after a move, if it is legal: if the number of groups is odd then.
    fn after(&self, stones: [Stone; 2], near: &[u64]) -> Option<Position> {
        let mut position = self.clone();
        position.place(stones[0], near);
        position.place(stones[1], near);
        position.mover = 1 - self.mover;
        (position.odd[0] != position.odd[1]).then_some(position)
    }

    /// The legal moves, and the position after each.
    fn moves(&self, near: &[u64]) -> Vec<([Stone; 2], Position)> {
        let cells = members(self.empty);
        let mut moves = Vec::new();
        for (i, &one) in cells.iter().enumerate() {
            for colour in 0..2 {
                let mut half = self.clone();
                half.place((one, colour), near);
                for &other in &cells[i + 1..] {
                    for other_colour in 0..2 {
                        let mut position = half.clone();
                        position.place((other, other_colour), near);
                        position.mover = 1 - self.mover;
                        if position.odd[0] != position.odd[1] {
                            moves.push(([(one, colour), (other, other_colour)], position));
                        }
                    }
                }
            }
        }
        moves
    }

    /// A number that positions share only if they are the same: the order of groups makes no difference.
    fn key(&self) -> u64 {
        let mut sum = mixed(self.empty).wrapping_add(self.odd[0] as u64);
        for colour in 0..2 {
            for group in &self.groups[colour] {
                sum = sum.wrapping_add(mixed(group.wrapping_add(0x9E3779B97F4A7C15 << colour)));
            }
        }
        mixed(sum)
    }
}

fn members(mut cells: u64) -> Vec<usize> {
    let mut found = Vec::with_capacity(cells.count_ones() as usize);
    while cells != 0 {
        found.push(cells.trailing_zeros() as usize);
        cells &= cells - 1;
    }
    found
}

/// Finds who wins with the best play, and remembers it.
struct Solver {
    near: Vec<u64>,
    /// By the first bits of a position's key: the other bits, and whether the seat to move wins.
    known: Vec<u64>,
    /// How many positions may still be looked at.
    budget: u64,
    /// When the search ends in any case.
    deadline: Instant,
}

impl Solver {
    fn known(&self, key: u64) -> Option<bool> {
        let entry = self.known[key as usize % TABLE];
        (entry & !1 == key & !1 && entry != 0).then_some(entry & 1 == 1)
    }

    /// Whether the seat to move wins; None where the budget is spent before that is known.
    fn wins(&mut self, position: &Position) -> Option<bool> {
        let key = position.key();
        if let Some(win) = self.known(key) {
            return Some(win);
        }
        let moves = position.moves(&self.near);
        self.budget = self.budget.saturating_sub(1 + moves.len() as u64);
        if self.budget == 0 || Instant::now() > self.deadline {
            return None;
        }
        let win = if moves.is_empty() { !position.odd[position.mover] } else { self.some_move_wins(&moves)? };
        self.known[key as usize % TABLE] = key & !1 | win as u64;
        Some(win)
    }

    /// Whether one of the moves leads to a position that the other side loses.
    fn some_move_wins(&mut self, moves: &[([Stone; 2], Position)]) -> Option<bool> {
        if moves.iter().any(|(_, after)| self.known(after.key()) == Some(false)) {
            return Some(true);
        }
        for (_, after) in moves {
            if !self.wins(after)? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Whether the seat to move wins when both move at random until few cells are empty.
    fn playout(&mut self, position: &Position, random: &mut Random) -> bool {
        let mut position = position.clone();
        while position.empty.count_ones() > SOLVED_CELLS {
            let stones = two_stones(&members(position.empty), random);
            if let Some(after) = position.after(stones, &self.near) {
                position = after;
            }
        }
        self.budget = u64::MAX;
        self.wins(&position).unwrap_or(false)
    }
}

/// How long it may search for a move.
struct Limits {
    playouts: usize,
    /// None: the number of playouts is what counts.
    time: Option<Duration>,
}

/// The move after which the other side wins the fewest playouts. In each round every move gets as many, and the
/// better half goes on to the next (sequential halving).
fn best_by_playouts(
    solver: &mut Solver,
    mut moves: Vec<([Stone; 2], Position)>,
    limits: &Limits,
    random: &mut Random,
) -> [Stone; 2] {
    let began = Instant::now();
    moves.truncate(CANDIDATES);
    let rounds = moves.len().next_power_of_two().trailing_zeros().max(1);
    let mut compared: Vec<(usize, [Stone; 2], Position)> =
        moves.into_iter().map(|(stones, after)| (0, stones, after)).collect();
    let (mut tries, mut each) = (0, 0);
    for round in 1..=rounds {
        let games = (limits.playouts / rounds as usize / compared.len()).max(1);
        let mut played = 0;
        loop {
            for (lost, _, after) in &mut compared {
                *lost += solver.playout(after, random) as usize;
                tries += 1;
            }
            played += 1;
            each += 1;
            let enough = match limits.time {
                Some(time) => began.elapsed() > time * round / rounds,
                None => played == games,
            };
            if enough || Instant::now() > solver.deadline {
                break;
            }
        }
        compared.sort_by_key(|&(lost, ..)| lost);
        compared.truncate((compared.len() / 2).max(1));
    }
    println!("info value {:.2} of {} playouts", 1.0 - compared[0].0 as f64 / each as f64, tries);
    compared[0].1
}

fn choose(
    board: &mut Board,
    mover: usize,
    limits: &Limits,
    most: Duration,
    random: &mut Random,
) -> Vec<Stone> {
    let empty = board.empty();
    if empty.len() == board.colours.len() {
        return vec![(random.below(empty.len()), 1)];
    }
    if empty.len() as u32 > COMPARED_CELLS {
        return board.random_move(random);
    }
    let near = empty.iter().map(|&cell| board.beside(&[cell], &empty)).collect();
    let deadline = Instant::now() + most;
    let mut solver = Solver { near, known: vec![0; TABLE], budget: POSITIONS, deadline };
    let position = Position::new(board, &empty, mover);
    let on_board = |stones: &[Stone; 2]| stones.iter().map(|&(cell, colour)| (empty[cell], colour)).collect();
    let mut moves = position.moves(&solver.near);
    for i in (1..moves.len()).rev() {
        moves.swap(i, random.below(i + 1));
    }
    if position.empty.count_ones() <= SEARCHED_CELLS {
        let mut unknown = Vec::new();
        for (stones, after) in &moves {
            match solver.wins(after) {
                Some(false) => {
                    println!("info value 1 nodes {}", POSITIONS - solver.budget);
                    return on_board(stones);
                }
                Some(true) => (),
                None => unknown.push((*stones, after.clone())),
            }
        }
        println!(
            "info {} of {} moves lose, {} positions",
            moves.len() - unknown.len(),
            moves.len(),
            POSITIONS - solver.budget
        );
        if unknown.is_empty() {
            return on_board(&moves[0].0);
        }
        moves = unknown;
    }
    on_board(&best_by_playouts(&mut solver, moves, limits, random))
}

fn main() {
    let mut limits = Limits { playouts: 400, time: None };
    let words: Vec<String> = env::args().skip(1).collect();
    for pair in words.chunks(2) {
        match (pair[0].as_str(), pair.get(1).and_then(|text| text.parse().ok())) {
            ("--playouts", Some(number)) => limits.playouts = number,
            ("--time", Some(ms)) => limits.time = Some(Duration::from_millis(ms as u64)),
            _ => {
                eprintln!("usage: evengroups_bot [--playouts N | --time MILLISECONDS]");
                std::process::exit(2);
            }
        }
    }
    let mut board = Board::new(5);
    let mut mover = 0;
    let mut random = Random(0);
    for line in io::stdin().lock().lines() {
        let line = match line {
            Ok(line) => line,
            Err(_) => break,
        };
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |i: usize| words.get(i).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        match words.first().copied().unwrap_or("") {
            "hello" => println!("hello 1"),
            "game" => mover = number(3).saturating_sub(1) as usize,
            "option" if words.get(1) == Some(&"size") => board = Board::new(number(2) as usize),
            "seed" => random = Random(number(1)),
            "prepare" => println!("ready"),
            "news" => {
                for part in &words[3..] {
                    if let Some((cell, colour)) = board.stone(part) {
                        board.colours[cell] = Some(colour);
                    }
                }
            }
            "ask" => {
                // However many playouts it may make: never more than half of what it has for a move.
                let most = Duration::from_millis((number(2) + number(3) / 20) / 2);
                let stones = choose(&mut board, mover, &limits, most, &mut random);
                println!("move {} {}", number(1), board.written(&stones));
            }
            "quit" => break,
            _ => (),
        }
        let _ = io::stdout().flush();
    }
}
