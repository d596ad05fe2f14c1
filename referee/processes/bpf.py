"""Classic BPF, the language of filters of system calls: its instructions, and how a filter decides. Pure.

The form is that of seccomp(2); the numbers are those of the kernel's headers.
"""

from __future__ import annotations

import errno
import struct

LOAD, AND, EQUAL, AT_LEAST, ANY_BIT, JUMP, RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x05, 0x06
FAIL, ASK, TRACE, ALLOW = 0x00050000, 0x7FC00000, 0x7FF00000, 0x7FFF0000
"""What a filter returns: that the call fails, with the number of the error in the lower 16 bits; that the
process which listens to the filter says how it ends; that a tracer does, and without one the call fails with
ENOSYS; that it is made. Of several filters the first of these counts that one of them returns.
"""

_INSTRUCTION = struct.Struct("=HBBI")
SIZE = _INSTRUCTION.size
_WORD = struct.Struct("=I")


def instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """The bytes of an instruction."""
    return _INSTRUCTION.pack(code, if_true, if_false, value)


def instead(block: bytes, result: int) -> bytes:
    """The instructions that return this result where these let a call fail."""
    parts = []
    for code, if_true, if_false, value in _INSTRUCTION.iter_unpack(block):
        fails = code == RETURN and value & ~0xFFFF == FAIL
        parts.append(instruction(code, result if fails else value, if_true, if_false))
    return b"".join(parts)


def error_of(program: bytes, call: bytes) -> int:
    """The number of the error with which a filter lets a call fail; EPERM for one that it does not.

    `call`: what filters look at, the kernel's `struct seccomp_data`.
    """
    at = value = 0
    while True:
        code, if_true, if_false, operand = _INSTRUCTION.unpack_from(program, at * SIZE)
        at += 1
        if code == LOAD:
            (value,) = _WORD.unpack_from(call, operand)
        elif code == AND:
            value &= operand
        elif code == JUMP:
            at += operand
        elif code == EQUAL:
            at += if_true if value == operand else if_false
        elif code == AT_LEAST:
            at += if_true if value >= operand else if_false
        elif code == ANY_BIT:
            at += if_true if value & operand else if_false
        else:
            return operand & 0xFFFF if operand & ~0xFFFF == FAIL else errno.EPERM
