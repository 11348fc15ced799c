"""The grammar of operators: what may be part of a program, and what never is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmst.core.errors import InvalidArgumentError
from clmst.primitives import Map, Monoid, Predicate
from clmst.primitives.expression import (
    MAX_DEPTH,
    MAX_LENGTH,
    check_expression,
    check_functions,
    check_title,
)

PAIR = dict.fromkeys("ab")  # names of numbers
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
    assert check_expression("combine", text, PAIR).text == text


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_expression(text: str) -> None:
    """The message names the text's part, where it stands, and the token."""
    with pytest.raises(
        InvalidArgumentError, match=r"^combine is .*; at .*column \d+ it "
    ) as raised:
        check_expression("combine", text, PAIR)
    assert f" {BAD[text]}, and " in str(raised.value).replace("it has", "it")


def test_functions() -> None:
    two = f"{FUNCTION}\nuint g(uint p) {{ return f(p, p).x; }}"
    functions = check_functions("preamble", two)
    assert (functions.text, {*functions.values}) == (two, {"f", "g"})
    assert check_functions("preamble", " \n").values == {}
    check_expression("combine", "f(a, 1u).x", PAIR, functions)


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
    check_expression("combine", "(" * (MAX_DEPTH - 1) + "a" + ")" * (MAX_DEPTH - 1), PAIR)
    with pytest.raises(InvalidArgumentError, match=f"brackets may be nested {MAX_DEPTH} deep"):
        check_expression("combine", "(" * 10**3 + "a", PAIR)
    with pytest.raises(InvalidArgumentError, match=f"it may have up to {MAX_LENGTH}"):
        check_expression("combine", "-" * (MAX_LENGTH + 1), PAIR)


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
        check_expression("combine", text, dict.fromkeys("abx"))
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


# ----------------------------------------------------------------------------- records

EDGE = np.dtype([("weight", "f4"), ("id", "u4")])
NAMED = "weight (float32), id (uint32)"
QUATERNION = np.dtype([("w", "f4"), ("x", "f4"), ("y", "f4"), ("z", "f4")])
# Of a dtype and an expression, what the error says.
NO_RECORDS = [
    (EDGE, "x.s0 < 0.5f", f"it has 's0', and a field must stand there: {NAMED} (the record is not"),
    (EDGE, "x.x", "it has 'x', and a field must stand there"),
    (EDGE, "x.lo", "it has 'lo', and a field must stand there"),
    (EDGE, "x.wieght", "it has 'wieght', and a field must stand there"),
    (EDGE, "x + 1", f"it has 'x', and what begins there is a whole record; operators .*: {NAMED}"),
    (EDGE, "1 < x", "it has 'x', and what begins there is a whole record"),
    (EDGE, "!x", "it has 'x', and what begins there is a whole record"),
    (EDGE, "x ? 1 : 2", "it has 'x', and what begins there is a whole record"),
    (EDGE, "as_ulong(x)", "it has 'x', and what begins there is a whole record"),
    (EDGE, "(uint)x", "it has 'x', and what begins there is a whole record"),
    (EDGE, "other[x].id", "it has 'x', and what begins there is a whole record"),
    (EDGE, "x.id > 1 ? x : 3", "both choices must be records of one dtype"),
    (EDGE, "record(1)", f"it must be given a value for each of its fields: {NAMED}"),
    (EDGE, "record(1, 2, 3)", f"it must be given a value for each of its fields: {NAMED}"),
    (EDGE, "record(x, 2)", "a whole record"),
    (EDGE, "x", r"whose value is a record of .*; it must be a number or vector$"),
    (EDGE, "x.id.weight", "it has 'weight', and a vector has members such as .x, .s0 and .lo"),
    (QUATERNION, "x.w > 0", "that is field 0 of the record and another part of the vector; write "),
    (QUATERNION, "x.weight", "the record has the fields w, x, y, z, and a vector has members"),
    (
        np.dtype("u4,u4,u4"),
        "x.s2",
        "it has 's2', and a field must stand there: f0 (uint32), f1 (uint32), f2",
    ),
]


@pytest.mark.parametrize(("dtype", "text", "message"), NO_RECORDS)
def test_what_is_no_expression_of_a_record(dtype: np.dtype[Any], text: str, message: str) -> None:
    message = message.replace("(", r"\(").replace(")", r"\)")
    with pytest.raises(InvalidArgumentError, match=message):
        Predicate(dtype=dtype, expression=text, arrays={"other": EDGE})


def test_results_are_what_they_are_said_to_be() -> None:
    with pytest.raises(InvalidArgumentError, match=r"^expression is 'x.id', whose value is a numb"):
        Map(dtype=EDGE, expression="x.id")
    with pytest.raises(InvalidArgumentError, match=r"such as result\(...\) makes of a value for"):
        Map(dtype=EDGE, result=np.dtype("f4,u4,u4"), expression="record(x.weight, x.id)")
    with pytest.raises(InvalidArgumentError, match=r"^identity is '0', whose value is a number"):
        Monoid(dtype=EDGE, combine="a", identity="0")
    with pytest.raises(InvalidArgumentError, match="it has 'b', and f must return a record of"):
        Monoid(
            dtype=EDGE, combine="f(a, b.id)", identity="record(0, 0)",
            preamble="record f(record a, uint b) { return b; }",
        )  # fmt: skip
    with pytest.raises(InvalidArgumentError, match="and a number or vector must stand there"):
        Predicate(
            dtype=EDGE, expression="f(x)", preamble="uint f(record a) { uint b = a; return b; }"
        )


def test_names_of_ones_own_go_before_records() -> None:
    """Texts that have a variable or a function of these names go on to mean these."""
    for preamble in (
        "uint f(uint result) { uint record = result; record = 2 * record; return record; }",
        "uint record(uint a) { return a; } uint f(uint a) { return record(a); }",
    ):
        Map(dtype=EDGE, result=np.dtype("u4"), expression="f(x.id)", preamble=preamble)
