"""Numbers in text, a column of tokens at once.

Integers are computed one decimal digit at a time, for all tokens together; they are exact up to 64
bits. Tokens that are no numbers are found afterwards, one at a time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from clmst.core.errors import FileFormatError
from clmst.core.weight_keys import Array
from clmst.io.blocks import Block

_PLUS, _MINUS = b"+-"
_SAFE_DIGITS = 18  # all numbers of so many digits are below 2**63
_DIGITS_OF_32_BITS = 9  # below 2**31
_FLOATS_AT_ONCE = 1 << 20  # bytes of the table that floats are parsed from


def integers(block: Block, tokens: Array | slice) -> tuple[Array, Array]:
    """Read tokens as integers. A slice is quicker than the same tokens one by one.

    Returns
    -------
    values : ndarray of int64, or of uint64 where a value needs it
    bad : ndarray of bool
        Which tokens are no integers, or too large; their values are undefined.
    """
    starts, ends = block.starts[tokens], block.ends[tokens]
    first = block.text[starts]
    negative = first == _MINUS
    lengths = ends - starts
    lengths -= negative | (first == _PLUS)
    values, bad = _sum_digits(block.text, ends, lengths)
    np.negative(values, out=values, where=negative)
    long = np.flatnonzero(lengths > _SAFE_DIGITS)
    if long.size:
        if isinstance(tokens, slice):
            tokens = np.arange(tokens.start, tokens.stop)
        return _with_long(block, tokens, values, bad, long)
    return values, bad


def _sum_digits(text: Array, ends: Array, lengths: Array) -> tuple[Array, Array]:
    """Sum up the last 18 digits of numbers, one digit at a time."""
    n_digits = min(int(lengths.max(initial=0)), _SAFE_DIGITS)
    dtype = np.int64 if n_digits > _DIGITS_OF_32_BITS else np.int32
    values: Array = np.zeros(ends.size, dtype)
    bad = lengths == 0
    for digit in range(n_digits):
        digits = text.take(ends - (digit + 1), mode="clip") - np.uint8(ord("0"))
        digits[lengths <= digit] = 0
        if digits.max() > 9:
            bad |= digits > 9
        values += np.multiply(digits, 10**digit, dtype=dtype)  # in older NumPy 8 bits stay 8
    return values.astype(np.int64, copy=False), bad


def _with_long(
    block: Block, tokens: Array, values: Array, bad: Array, long: Array
) -> tuple[Array, Array]:
    """Store the values of numbers of 19 digits and more, as uint64 if necessary."""
    exact = [_exact_integer(block.word(int(tokens[at]))) for at in long]
    fits_signed = all(number is None or number < 1 << 63 for number in exact)
    bad[long] = [number is None for number in exact]
    if not fits_signed and not (values < 0).any() and all(n is None or n >= 0 for n in exact):
        values = values.astype(np.uint64)
        fits_signed = True
    for at, number in zip(long.tolist(), exact, strict=True):
        if number is None or not (fits_signed or number < 1 << 63):
            bad[at] = True
        else:
            values[at] = number
    return values, bad


def _exact_integer(word: str) -> int | None:
    """Return the value of `word` if it is an integer of 64 bits, signed or unsigned."""
    digits = word[1:] if word[0] in "+-" else word
    significant = digits.lstrip("0")
    if not (digits.isascii() and digits.isdigit()) or len(significant) > 20:
        return None
    value = int(significant or "0") * (-1 if word[0] == "-" else 1)
    return value if -(1 << 63) <= value < 1 << 64 else None


def numbers(block: Block, tokens: Array) -> Array:
    """Read tokens as integers if all are, else as float64.

    Raises
    ------
    FileFormatError
        A token is no number, or an integer or float that 64 bits cannot hold.
    """
    values, bad = integers(block, tokens)
    if not bad.any():
        return values
    for at in np.flatnonzero(bad & (block.ends[tokens] - block.starts[tokens] > _SAFE_DIGITS)):
        if block.word(int(tokens[at])).lstrip("+-").isdigit():
            raise block.token_error(
                int(tokens[at]),
                "does not fit into 64 bits; integers must, together with the others",
            )
    return floats(block, tokens)


def floats(block: Block, tokens: Array) -> npt.NDArray[np.float64]:
    """Read tokens as float64, correctly rounded; NaN and infinities pass.

    Raises
    ------
    FileFormatError
        A token is no number, or beyond the range of float64.
    """
    values = np.empty(tokens.size, np.float64)
    widest = int((block.ends[tokens] - block.starts[tokens]).max(initial=1))
    step = max(_FLOATS_AT_ONCE // widest, 1)
    for start in range(0, tokens.size, step):
        part = slice(start, start + step)
        values[part] = _floats_at_once(block, tokens[part])
    return values


def _floats_at_once(block: Block, tokens: Array) -> npt.NDArray[np.float64]:
    starts, ends = block.starts[tokens], block.ends[tokens]
    lengths = (ends - starts)[:, None]
    columns = np.arange(int(lengths.max()))
    table = block.text.take(starts[:, None] + columns, mode="clip")
    table[columns >= lengths] = 0
    try:
        if (table == ord("_")).any():  # Python reads 1_000 as a number
            raise ValueError  # noqa: TRY301
        values = table.view(f"S{columns.size}").ravel().astype(np.float64)
    except ValueError:
        raise _first_no_float(block, tokens) from None
    for at in np.flatnonzero(np.isinf(values)):
        if block.word(int(tokens[at])).lstrip("+-")[0] not in "iI":
            raise block.token_error(int(tokens[at]), "is beyond the range of float64")
    return values


def _first_no_float(block: Block, tokens: Array) -> FileFormatError:
    """Find the first token that is no number, one token at a time; slow."""
    for token in tokens.tolist():
        word = block.word(token).encode("latin-1")  # in a str, float() knows spaces beyond ASCII
        try:
            if b"_" not in word:
                float(word)
                continue
        except ValueError:
            pass
        return block.token_error(token, "is not a number")
    raise AssertionError("the table of floats was refused, but every token is a number")


def join(parts: list[Array]) -> Array:
    """Join the values of blocks; their common dtype holds each of them as it was read.

    Raises
    ------
    FileFormatError
        Some values need uint64 and others are negative.
    """
    kinds = {part.dtype.kind for part in parts}
    if kinds == {"i", "u"}:  # NumPy would make floats of them
        low = min(int(part.min()) for part in parts if part.size)
        if low < 0:
            high = max(int(part.max()) for part in parts if part.size)
            raise FileFormatError(
                f"the integers range from {low} to {high}; "
                "all must fit into int64, or all into uint64"
            )
        parts = [part.astype(np.uint64) for part in parts]
    return np.concatenate(parts)
