"""The games as environments of PettingZoo, for training, with the extra `pettingzoo` of the package.

    from referee.pettingzoo import env

    game = env("blooms", size=4)
    game.reset(seed=42)
    for agent in game.agent_iter():
        observation, reward, termination, truncation, info = game.last()
        over = termination or truncation
        game.step(None if over else game.action_space(agent).sample(observation["action_mask"]))

`docs/KIT.md` describes actions, observations and rewards.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, Space
from numpy.typing import NDArray
from pettingzoo import AECEnv  # type: ignore[import-untyped]
from pettingzoo.utils import wrappers  # type: ignore[import-untyped]

from referee import kit
from referee.core.errors import UsageError
from referee.encoding import encoding_of

Observation = dict[str, NDArray[Any]]

SEED_BITS = 64

ILLEGAL_REWARD = -1.0


def env(
    slug: str, *, render_mode: str | None = None, view: int | None = None, **options: int | str
) -> AECEnv:
    """A game as an environment with the usual checks: an illegal action ends the game with a reward of −1 for
    its agent, and calls in a wrong order raise what PettingZoo says.

    `render_mode` is `ansi`, so that `render` returns the picture, or `human`, so that it is printed after
    every turn. `view` is the seat whose view it shows, counted from 0; None shows everything. Raises
    `UsageError` for an unknown game, or one that has no encoding, and `GameOptionError` for its options.
    """
    raw = raw_env(slug, render_mode=render_mode, view=view, **options)
    illegal = wrappers.TerminateIllegalWrapper(raw, illegal_reward=ILLEGAL_REWARD)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(illegal))


class raw_env(AECEnv):  # type: ignore[misc]  # noqa: N801  PettingZoo's name
    """A game as an environment without checks; an illegal action raises `ValueError`.

    Seats that act at once are asked one after the other, and none of them sees what another has submitted.
    """

    def __init__(
        self, slug: str, *, render_mode: str | None = None, view: int | None = None, **options: int | str
    ) -> None:
        super().__init__()
        if render_mode not in (None, "ansi", "human"):
            raise UsageError(f"render mode `{render_mode}`, expected `ansi` or `human`")
        self.metadata = {
            "name": f"referee_{slug}",
            "render_modes": ["ansi", "human"],
            "is_parallelizable": False,
            "render_fps": 1,
        }
        self.render_mode = render_mode
        self._view = view
        self._slug, self._given = slug, options
        self.position = kit.new(slug, options, seed=0)
        """The position, all of it; whoever trains on it sees what is hidden."""
        self.encoding = encoding_of(self.position.game, self.position.options)
        """How actions and observations are made."""
        self.begun: tuple[int, ...] = ()
        """The actions of the move that is not complete yet."""
        self._submitted: dict[int, Any] = {}
        """The moves of seats that act at once with others that are still to be asked."""
        self._seeds = random.Random()
        self.possible_agents = [f"seat_{seat + 1}" for seat in range(self.position.seats)]
        self.agents: list[str] = []
        size, actions = self.encoding.size, self.encoding.actions
        # A space of its own for each agent, as each has its own random numbers.
        self.observation_spaces = {
            agent: Dict(
                {
                    "observation": Box(0, 1, (size,), np.float32),
                    "action_mask": Box(0, 1, (actions,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: Discrete(actions) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> Space[Any]:
        """The space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """The space of actions, the same for all agents."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins a game. After the same seed the same games follow; `options` has no meaning here."""
        if seed is not None:
            self._seeds.seed(seed)
        self.position = self._begun_game()
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.begun, self._submitted = (), {}
        self.agent_selection = self.possible_agents[self._seat_asked()]

    def _begun_game(self) -> kit.Position:
        """A new game in which a seat acts: a deal of The Tree for one player can be over at once."""
        while True:
            position = kit.new(self._slug, self._given, seed=self._seeds.getrandbits(SEED_BITS))
            if not position.is_over:
                return position

    def _seat_asked(self) -> int:
        """The seat that is asked next: the first of those that act and have not submitted a move."""
        return next(seat for seat in self.position.to_act() if seat not in self._submitted)

    def observe(self, agent: str) -> Observation:
        """What an agent knows, and its legal actions: none where another one is asked."""
        seat, state = self.possible_agents.index(agent), self.position.state
        asked = agent == self.agent_selection and not self.position.is_over
        begun = self.begun if asked else ()  # guard: begun-of-others
        mask = self.encoding.mask(state, seat, begun) if asked else np.zeros(self.encoding.actions, np.int8)
        return {"observation": self.encoding.observation(state, seat, begun), "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Takes an action of the agent that is asked. Raises `ValueError` for an illegal one."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        seat, state = self.possible_agents.index(agent), self.position.state
        if action is None or int(action) not in self.encoding.legal(state, seat, self.begun):
            raise ValueError(f"action {action} of `{agent}` is not legal here")
        self._cumulative_rewards[agent] = 0.0
        self.begun += (int(action),)
        move = self.encoding.move(state, seat, self.begun)
        if move is not None:
            self.begun = ()
            self._submitted[seat] = move
            if set(self._submitted) == set(self.position.to_act()):
                self._play()
        if not self.position.is_over:
            self.agent_selection = self.possible_agents[self._seat_asked()]

    def _play(self) -> None:
        self.position = self.position.play(self._submitted)
        self._submitted = {}
        outcome = self.position.outcome()
        if outcome is not None:
            self.rewards = dict(zip(self.agents, kit.rewards(outcome), strict=True))
            self._accumulate_rewards()
            self.terminations = dict.fromkeys(self.agents, True)
            for agent, rank, score in zip(self.agents, outcome.ranks, outcome.scores, strict=True):
                self.infos[agent] = {"rank": rank, "score": score, "sentence": outcome.sentence}
            self.agent_selection = self.agents[0]
        if self.render_mode == "human":
            print(self._picture(), end="\n\n")

    def render(self) -> str | None:
        """The picture of the position as text, for `ansi`; for `human` it is printed."""
        if self.render_mode == "human":
            print(self._picture())
        return self._picture() if self.render_mode == "ansi" else None

    def _picture(self) -> str:
        return self.position.picture(self._view)

    def close(self) -> None:
        """Nothing is open."""
