"""Trains a bot for a game in which the seats move in turn, in less than a minute, with NumPy alone.

    python sample_bots/train_value.py blooms size=3 -o weights.json

The trainer plays against itself. It learns to tell from what a seat observes after its move how the game will
end for it: the reward, from −1 to 1, by a network of one hidden layer. It moves by its own advice: of some
random legal moves it plays the one that the network values most, and now and then, so that it sees more of
the game, any one of them. `value_bot.py` plays with what was learned.

All that it knows of a game comes from `referee.kit` and `referee.encoding`.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee import kit
from referee.encoding import Encoding, encoding_of

Floats = NDArray[np.float64]

HIDDEN = 32
"""Nodes of the hidden layer."""

CANDIDATES = 24
"""How many moves are compared, at most."""

EXPLORE = 0.15
"""The share of moves that are played at random."""

REMEMBERED = 6000
"""How many observations of the last games are learned from."""

BATCH = 64
RATE = 0.003
"""The learning rate."""


class Network:
    """A network of one hidden layer: from an observation to the reward that is expected."""

    def __init__(self, layers: list[Floats]) -> None:
        self.layers = layers
        self._mean = [np.zeros_like(layer) for layer in layers]
        self._square = [np.zeros_like(layer) for layer in layers]
        self._steps = 0

    @classmethod
    def fresh(cls, inputs: int, random: np.random.Generator) -> "Network":
        """A network that knows nothing."""
        into = random.normal(0, inputs**-0.5, (inputs, HIDDEN))
        return cls([into, np.zeros(HIDDEN), random.normal(0, HIDDEN**-0.5, HIDDEN), np.zeros(1)])

    @classmethod
    def load(cls, file: Path) -> "Network":
        """A network from a file."""
        return cls([np.array(layer) for layer in json.loads(file.read_text())["layers"]])

    def value(self, observations: Floats) -> Floats:
        """The reward that is expected, for each of several observations."""
        into, bias, out, offset = self.layers
        return np.tanh(np.tanh(observations @ into + bias) @ out + offset)

    def learn(self, observations: Floats, rewards: Floats) -> None:
        """One step of Adam towards these rewards."""
        into, bias, out, offset = self.layers
        hidden = np.tanh(observations @ into + bias)
        value = np.tanh(hidden @ out + offset)
        error = (value - rewards) * (1 - value**2) / len(rewards)
        back = np.outer(error, out) * (1 - hidden**2)
        slopes = [observations.T @ back, back.sum(0), hidden.T @ error, error.sum(keepdims=True)]
        self._steps += 1
        for layer, slope, mean, square in zip(self.layers, slopes, self._mean, self._square, strict=True):
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope**2 - square)
            bias_of = (1 - 0.9**self._steps, 1 - 0.999**self._steps)
            layer -= RATE * (mean / bias_of[0]) / (np.sqrt(square / bias_of[1]) + 1e-8)


class Choice(NamedTuple):
    """A move, the position after it, and what the seat that moved observes there."""

    move: Any
    after: kit.Position
    observation: NDArray[np.float32]


def choices(position: kit.Position, encoding: Encoding[Any], rng: kit.Random) -> list[Choice]:
    """Some legal moves."""
    seat, found = position.turn, []
    for move in position.some_legal(CANDIDATES, rng).moves:
        after = position.play(move)
        found.append(Choice(move, after, encoding.observation(after.state, seat)))
    return found


def best(network: Network, found: list[Choice], seat: int) -> Choice:
    """The choice of the highest value; the end of the game has the value that it has."""
    values = network.value(np.array([choice.observation for choice in found], np.float64))
    for number, choice in enumerate(found):
        rewards = choice.after.rewards()
        if rewards:
            values[number] = 2 * rewards[seat]
    return found[int(values.argmax())]


class Trainer:
    """Plays against itself, and learns from that."""

    def __init__(self, slug: str, options: dict[str, str], seed: int) -> None:
        self.slug, self.options = slug, options
        self._rng = kit.Quick(seed)
        self._random = np.random.default_rng(seed)
        start = kit.new(slug, options, seed=seed)
        self._encoding = encoding_of(start.game, start.options)
        self.network = Network.fresh(self._encoding.size, self._random)
        self._observations = np.zeros((REMEMBERED, self._encoding.size))
        self._rewards = np.zeros(REMEMBERED)
        self._stored = 0

    def play(self) -> None:
        """Plays one game, and stores what was observed with how it ended."""
        position = kit.new(self.slug, self.options, seed=self._rng.below(1 << 53))
        observed = []
        while not position.is_over:
            seat, found = position.turn, choices(position, self._encoding, self._rng)
            explores = self._random.random() < EXPLORE
            choice = self._rng.choice(found) if explores else best(self.network, found, seat)
            observed.append((seat, choice.observation))
            position = choice.after
        rewards = position.rewards() or ()
        for seat, observation in observed:
            place = self._stored % REMEMBERED
            self._observations[place], self._rewards[place] = observation, rewards[seat]
            self._stored += 1

    def learn(self, steps: int) -> None:
        """Learns from some of what is stored."""
        known = min(self._stored, REMEMBERED)
        for _ in range(steps if known else 0):
            chosen = self._random.integers(known, size=BATCH)
            self.network.learn(self._observations[chosen], self._rewards[chosen])

    def save(self, file: Path) -> None:
        """Writes what a bot needs to play."""
        layers = [np.round(layer, 4).tolist() for layer in self.network.layers]
        file.write_text(json.dumps({"game": self.slug, "options": self.options, "layers": layers}) + "\n")

    def score(self, games: int) -> float:
        """The mean reward against random moves, in either seat in turn."""
        total = 0.0
        for number in range(games):
            position = kit.new(self.slug, self.options, seed=number)
            own = number % position.seats
            while not position.is_over:
                if position.turn == own:
                    found = choices(position, self._encoding, self._rng)
                    position = best(self.network, found, own).after
                else:
                    position = position.play(position.sample(self._rng))
            total += (position.rewards() or ())[own]
        return total / games


def main() -> None:
    parser = argparse.ArgumentParser(description="Trains a bot for a game in which the seats move in turn.")
    parser.add_argument("game", help="such as `blooms`")
    parser.add_argument("options", nargs="*", help="options of the game, such as `size=3`")
    parser.add_argument("--games", type=int, default=400, help="games against itself (default: 400)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="file to write the weights to"
    )
    given = parser.parse_args()
    trainer = Trainer(given.game, dict(option.split("=", 1) for option in given.options), given.seed)
    began = time.monotonic()
    for number in range(1, given.games + 1):
        trainer.play()
        trainer.learn(8)
        if number % max(1, given.games // 5) == 0 or number == given.games:
            seconds = time.monotonic() - began
            print(f"{number} games in {seconds:.0f} s: mean reward {trainer.score(20):+.2f} against random")
    trainer.save(given.output)


if __name__ == "__main__":
    main()
