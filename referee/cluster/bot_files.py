"""Bots' files to be sent: which they are, with their hashes, as one value."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from referee.core.errors import UsageError
from referee.core.files import FileHashes, open_regular
from referee.core.text import shown
from referee.processes import needs
from referee.processes.program import Program
from referee.records.amendments import LeftOut
from referee.records.header import ALL_FILES
from referee.tournament.file.file_list import (
    File,
    FileList,
    digest_of,
    file_list,
    hashes_of_words,
    manifest,
    paths_in,
)
from referee.tournament.plan import BotOrigin
from referee.tournament.run.readiness import refused

PART_BYTES = 4 << 20
"""Number of bytes that are read and sent at once; a part may have less than twice as many."""


@dataclass(frozen=True)
class BotFiles:
    """What a machine needs in order to play with a bot."""

    bot: Program  # as it is configured: its paths are those of the referee's machine
    shared: bool  # whether each machine has the bot already, so that nothing is sent
    needs: tuple[str, ...]  # programs that a machine must have
    build: tuple[str, ...]  # the command that builds it; empty where there is none
    files: tuple[File, ...]  # what is sent
    cwd: str
    """The bot's working directory, relative to the root of the files; empty where it is the one that its
    table names, on every machine.
    """
    words: tuple[tuple[str, str], ...]
    """The hashes of the files named in its command, as far as the referee knows them."""
    places: tuple[tuple[str, str], ...]
    """Absolute paths in its command, environment and so on that name what is sent, each with the path
    relative to the root.
    """
    is_plain: bool = False  # whether `words` are all files, and the same that a run without a cluster hashes
    build_network: bool = False  # whether it has a network as it is built

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of all files together, with the command that builds them and the folder where."""
        return digest_of(self.files, self.cwd, self.build)

    @property
    def hashes(self) -> dict[str, str] | None:
        """The hashes that the header of a run has of the bot; None where the referee knows none.

        They are the same as in a run without a cluster, where the bot is nothing but the files that its
        command names.
        """
        if self.shared:
            return dict(self.words) or None
        if self.is_plain:
            return dict(self.words)
        return {**dict(self.words), ALL_FILES: self.digest}


@dataclass(frozen=True)
class SentFiles:
    """The files of all bots of a tournament, as they are sent to machines."""

    bots: tuple[BotFiles, ...]
    sources: Mapping[str, Path]  # where the content of each hash lies on this machine
    unfit: tuple[LeftOut, ...] = ()  # the bots whose files are missing, or too many to be sent

    def hashes_of(self, bot: Program) -> dict[str, str] | None:
        """Returns the hashes of a bot's files as the header of a run has them, for `Programs`."""
        files = self._by_name.get(bot.name)
        return files.hashes if files else None

    def parts(self, digest: str) -> Iterator[tuple[int, bytes]]:
        """The archive of the bot with this digest, in parts: the offset of each, and its bytes. It is the
        content of the bot's files, one after another. Raises `UsageError` where a file cannot be read, or has
        changed since it was hashed.
        """
        files = next(files.files for files in self.bots if files.digest == digest)
        offset, part = 0, bytearray()
        for file in files:
            for content in self._content(file):
                part += content
                if len(part) >= PART_BYTES:
                    yield offset, bytes(part)
                    offset += len(part)
                    part.clear()
        if part or not offset:
            yield offset, bytes(part)

    def _content(self, file: File) -> Iterator[bytes]:
        path, digest, size = self.sources[file.sha256], hashlib.sha256(), 0
        try:
            with open_regular(path) as opened:
                while size < file.size and (content := opened.read(min(PART_BYTES, file.size - size))):
                    digest.update(content)
                    size += len(content)
                    yield content
                has_grown = bool(opened.read(1))
        except OSError as error:
            raise UsageError(f"cannot read `{shown(str(path))}`: {error.strerror}") from None
        if has_grown or digest.hexdigest() != file.sha256:
            raise UsageError(
                f"`{shown(str(path))}` belongs to a bot and has changed since the run began, expected files "
                "that do not change; list the ones that belong to the bot in its `files`"
            )

    @cached_property
    def _by_name(self) -> dict[str, BotFiles]:
        return {files.bot.name: files for files in self.bots}


def sent_files(
    bots: Sequence[Program], origins: Mapping[str, BotOrigin], private: Collection[Path]
) -> SentFiles:
    """The files of the bots of a tournament, persons left out; `private`, such as the folder of the run,
    belongs to no bot and is never sent. The programs that other bots' commands name are not sent with a bot
    that does not list its files.
    """
    programs = [bot for bot in bots if not bot.is_person]
    hashes = FileHashes()
    named = {bot.name: set(_named(bot)) for bot in programs}
    found, unfit, sources = [], [], dict[str, Path]()
    for bot in programs:
        origin = origins.get(bot.name, BotOrigin())
        others = set[Path]().union(*(paths for name, paths in named.items() if name != bot.name))
        left_out = {path.resolve() for path in private}
        if origin.files is None:
            left_out |= others - named[bot.name]
        try:
            files, places = _bot_files(bot, origin, left_out, hashes)
        except UsageError as error:
            unfit.append(refused(bot, error))
            continue
        found.append(files)
        sources |= places
    return SentFiles(tuple(found), sources, tuple(unfit))


def _bot_files(
    bot: Program, origin: BotOrigin, left_out: Collection[Path], hashes: FileHashes
) -> tuple[BotFiles, dict[str, Path]]:
    """The files of a bot, and where the content of each hash lies. Raises `UsageError` where files are
    missing or too many.
    """
    words = hashes_of_words(bot, hashes)
    common = BotFiles(
        bot,
        origin.shared,
        origin.needs,
        origin.build,
        (),
        "",
        tuple(words.items()),
        (),
        build_network=origin.build_network,
    )
    if origin.shared:
        return replace(common, cwd="" if origin.has_cwd else "."), {}
    bot.check_folder()
    if not origin.build:
        bot.check_own_script()
    found = file_list(bot, origin, left_out)
    files = manifest(bot, found, hashes)
    sent = dict(_sent_words(bot, words, found))
    _check_program(bot, origin, found)
    plain = origin.files is None and not origin.build and sent == words
    plain = plain and {*found.files.values()} <= {*_named(bot)}
    files_of_bot = replace(
        common,
        files=files,
        cwd=found.cwd,
        words=tuple(sent.items()),
        places=tuple(sorted(_places(bot, origin, found))),
        is_plain=plain,
    )
    return files_of_bot, {file.sha256: found.files[file.path] for file in files}


def _named(bot: Program) -> Iterator[Path]:
    """The files that a bot's command names, without links."""
    for named in needs.named(bot.argv, bot.cwd, bot.environment()):
        if not named.place.is_dir():
            yield named.place


def _sent_words(bot: Program, words: Mapping[str, str], found: FileList) -> Iterator[tuple[str, str]]:
    for word, sha256 in words.items():
        path = Path(os.path.normpath(bot.cwd / word))
        if path.is_relative_to(found.root) and path.relative_to(found.root).as_posix() in found.files:
            yield word, sha256


def _check_program(bot: Program, origin: BotOrigin, found: FileList) -> None:
    """Raises `UsageError` where a program with a relative path is not sent, and no build makes it."""
    program = bot.command[0]
    if origin.build or "/" not in program or program.startswith("/"):
        return
    path = Path(os.path.normpath(bot.cwd / program))
    if not path.is_relative_to(found.root) or path.relative_to(found.root).as_posix() not in found.files:
        bot.check()
        raise UsageError(
            f"bot `{bot.name}`: its program `{shown(program)}` is not among the files that are sent to "
            "machines, expected it to be one of them or to be made by `build`"
        )


def _places(bot: Program, origin: BotOrigin, found: FileList) -> Iterator[tuple[str, str]]:
    """The absolute paths that name what is sent, each with the path relative to the root."""
    folders = (bot.cwd, *found.folders)
    words = (*bot.command, *origin.build, *(value for _, value in bot.env), *map(str, bot.read))
    for text in dict.fromkeys(part for word in words for part in paths_in(word)):
        if text.startswith("/") and "\0" not in text:
            for path in (Path(os.path.normpath(text)), Path(os.path.realpath(text))):
                if path.is_relative_to(found.root):
                    relative = path.relative_to(found.root).as_posix()
                    in_folder = any(path.is_relative_to(folder) for folder in folders)
                    if relative in found.files or (in_folder and _has_files(relative, found)):
                        yield text, relative
                        break


def _has_files(folder: str, found: FileList) -> bool:
    """Whether a folder has files that are sent; the working directory always counts."""
    beginning = "" if folder == "." else f"{folder}/"
    return folder == found.cwd or any(path.startswith(beginning) for path in found.files)
