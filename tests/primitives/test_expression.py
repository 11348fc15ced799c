"""The grammar of operators: what may be part of a program, and what never is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmst.core.errors import InvalidArgumentError
from clmst.primitives import Monoid, Predicate
from clmst.primitives.expression import (
    MAX_DEPTH,
    MAX_LENGTH,
    check_expression,
    check_functions,
    check_title,
)

WHERE = r"^(combine|preamble) is .*; at .*column \d+ it "
GOOD = (
    "a",
    "a + b",
    "(a) + (b)",
    "-a - -b",
    "!a || ~b != 0",
    "a != 0 ? a : b",
    "a ? b : a ? b : 3",
    "min(a, b)",
    "select(a, b, (uint2)(0u, 0xFFu))",
    "(uint4)(a.x * b.x + a.y, a.s0, a.hi.x, a.lo.even.x)",
    "as_uint((float)a) << 3 >> 1u",
    "convert_uint4_sat_rte(a)",
    "1.5e-3f + .5 + 2. + 1e9 + 0x7fUL + 12u + 3L",
    "fma((float)(a), M_PI_F, INFINITY)",
    "a%2==1&&b<=3||a>=b^1|2&3",
    "\ta *\tb ",
)
# Each with the token at which it goes wrong.
BAD = {
    "": "ends",
    "   ": "ends",
    "a b": "'b'",
    "a +": "ends",
    "(a": "ends",
    "a)": "')'",
    "a; b": "';'",
    "a = b": "'='",
    "a += b": "'+='",
    "a++": "'++'",
    "{a}": "'{'",
    "a /* b */ + b": "'/*'",
    "a // b": "'//'",
    "*a": "'*'",
    "a * *b": "'*'",
    "&a": "'&'",
    "a & &b": "'&'",
    "a->x": "'->'",
    "a[0]": "'['",
    'a "b"': "'\"'",
    "a 'b'": '"\'"',
    "a \\ b": "'\\\\'",
    "# a": "'#'",
    "a @ b": "'@'",
    "a ?? b": "'??'",
    "a <: b": "'<:'",
    "a\nb": "'\\n'",
    "a\rb": "'\\r'",
    "a\0": "'\\x00'",
    "a + \u0435": "'\u0435'",
    "c": "'c'",
    "get_global_id(0)": "'get_global_id'",
    "barrier(1)": "'barrier'",
    "printf(a)": "'printf'",
    "vload4(0, a)": "'vload4'",
    "atomic_add(a, b)": "'atomic_add'",
    "sizeof(a)": "'sizeof'",
    "COMBINE(a, b)": "'COMBINE'",
    "__global": "'__global'",
    "(global uint)a": "'global'",
    "(uint *)a": "'*'",
    "(size_t)a": "'size_t'",
    "a.read": "'read'",
    "a.x.": "ends",
    "min()": "')'",
    "min(a,)": "')'",
    "1x": "'1'",
    "0x": "'0'",
    "1..2": "'1'",
    "a ? b": "ends",
    "as_image2d(a)": "'as_image2d'",
    "a(b)": "'a'",
}
FUNCTION = "static inline uint2 f(uint2 p, uint q) {\n  uint r = q * 2;\n  p.x = r;\n  return p;\n}"
BAD_FUNCTIONS = {
    "uint f();": "')'",
    "uint f(uint p) { return p }": "'}'",
    "uint f(uint p) { p; return p; }": "';'",
    "uint f(uint p) { while (p) p = 0; return p; }": "'while'",
    "uint f(uint p) { for (;;) p = 0; return p; }": "'for'",
    "uint f(uint p) { return f(p); }": "'f'",
    "uint f(uint p) { return q; }": "'q'",
    "uint f(uint *p) { return p; }": "'*'",
    "kernel void f(uint p) { return p; }": "'kernel'",
    "void f(uint p) { return p; }": "'void'",
    "uint kernel(uint p) { return p; }": "'kernel'",
    "uint min(uint p) { return p; }": "'min'",
    "uint T(uint p) { return p; }": "'T'",
    "uint __f(uint p) { return p; }": "'__f'",
    "uint f(uint float4) { return 1; }": "'float4'",
    "uint f(uint p) { return p; } x": "'x'",
    "uint f(uint p) { return p;": "ends",
    "#define uint ulong": "'#'",
    "uint g = 3;": "'='",
}


@pytest.mark.parametrize("text", GOOD)
def test_expressions(text: str) -> None:
    assert check_expression("combine", text, {"a", "b"}) == text


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_expression(text: str) -> None:
    """The message names the text's part, where it stands, and the token."""
    with pytest.raises(
        InvalidArgumentError, match=r"^combine is .*; at .*column \d+ it "
    ) as raised:
        check_expression("combine", text, {"a", "b"})
    assert f" {BAD[text]}, and " in str(raised.value).replace("it has", "it")


def test_functions() -> None:
    two = f"{FUNCTION}\nuint g(uint p) {{ return f(p, p).x; }}"
    assert check_functions("preamble", two) == (two, frozenset({"f", "g"}))
    assert check_functions("preamble", " \n") == (" \n", frozenset())
    check_expression("combine", "f(a, 1u).x", {"a"}, frozenset({"f"}))


@pytest.mark.parametrize("text", BAD_FUNCTIONS)
def test_what_is_no_function(text: str) -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"^preamble is .*; at .*column \d+ it "
    ) as raised:
        check_functions("preamble", text)
    assert f" {BAD_FUNCTIONS[text]}, and " in str(raised.value).replace("it has", "it")


def test_position_in_a_text_of_several_lines() -> None:
    with pytest.raises(InvalidArgumentError, match=r"at line 2, column 10 it has 'nothing'"):
        check_functions("preamble", "uint f(uint p) {\n  return nothing;\n}")


def test_limits() -> None:
    check_expression("combine", "(" * (MAX_DEPTH - 1) + "a" + ")" * (MAX_DEPTH - 1), {"a"})
    with pytest.raises(InvalidArgumentError, match=f"brackets may be {MAX_DEPTH} deep"):
        check_expression("combine", "(" * 10**3 + "a", {"a"})
    with pytest.raises(InvalidArgumentError, match=f"it may have up to {MAX_LENGTH}"):
        check_expression("combine", "-" * (MAX_LENGTH + 1), {"a"})


@pytest.mark.parametrize("name", ["", " ", "a\nb", 'a"b', "a\\b", "a\0", "a\u2028b", "x" * 101, 3])
def test_names_of_operators(name: str) -> None:
    """They stand in a line directive, between quotes."""
    assert check_title("name", "minimum of (u, v), 2**3 %d?") == "minimum of (u, v), 2**3 %d?"
    with pytest.raises(InvalidArgumentError, match=r"^name "):
        check_title("name", name)


SIGNS = st.sampled_from([*"abxy0123456789+-*/%<>=&|^!~?:;.,(){}[]#\"'\\ \n\t@$", "min", "uint2"])


@given(st.lists(SIGNS, max_size=30).map("".join))
def test_whatever_passes_stays_in_its_place(text: str) -> None:
    """In a macro it is one expression: brackets match, and nothing ends or changes the line."""
    try:
        check_expression("combine", text, {"a", "b", "x"})
    except InvalidArgumentError:
        return
    assert not set(text) & set("\n;{}[]#\"'\\@$")
    assert not any(mark in text for mark in ("//", "/*", "->", "++", "--"))
    depth = 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        assert depth >= 0
    assert depth == 0


def test_operators_are_read_before_anything_is_built() -> None:
    with pytest.raises(InvalidArgumentError, match=r"combine is .* it has 'c'.* are a, b$"):
        Monoid(dtype=np.dtype("u4"), combine="c", identity="0")
    with pytest.raises(InvalidArgumentError, match="identity is 'a'"):
        Monoid(dtype=np.dtype("u4"), combine="a", identity="a")
    with pytest.raises(InvalidArgumentError, match="preamble is '#include"):
        Monoid(dtype=np.dtype("u4"), combine="a", identity="0", preamble='#include "/etc/passwd"')
    with pytest.raises(InvalidArgumentError, match=r"expression is .* it has 'a'.* are i, x$"):
        Predicate(dtype=np.dtype("u4"), expression="a")
    with pytest.raises(InvalidArgumentError, match="preamble is"):
        Predicate(dtype=np.dtype("u4"), expression="x", preamble="kernel void f() {}")
    for name in ("", "a\nb", 'a"b'):
        with pytest.raises(InvalidArgumentError, match=r"^name is "):
            Monoid(dtype=np.dtype("u4"), combine="a", identity="0", name=name)
        with pytest.raises(InvalidArgumentError, match=r"^name is "):
            Predicate(dtype=np.dtype("u4"), expression="x", name=name)
