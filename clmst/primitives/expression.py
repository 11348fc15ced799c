"""The grammar of operators: the OpenCL C that a caller may write in a Monoid, Predicate or Map.

Such text becomes part of a program, so it is parsed first, token by token. Legal are expressions of
known names, numbers and operators, elements of known arrays, and functions made of such
expressions. All else is refused: pointers, loops, address spaces, directives, comments and strings.

::

    function    = ["static"] ["inline"] type name "(" type name {"," type name} ")" body
    body        = "{" {type name ["=" expression] ";" | name {member} "=" expression ";"}
                  "return" expression ";" "}"
    expression  = operand {operator operand} ["?" expression ":" expression]
    operand     = {"+" | "-" | "!" | "~" | "(" type ")"} (number | name | element | [name] list)
                  {member}
    element     = name "[" expression "]"
    list        = "(" expression {"," expression} ")"
    member      = "." ("lo" | "hi" | "even" | "odd" | letters of xyzw | "s" digits)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from clmst.core.arguments import check_text, shown
from clmst.core.errors import InvalidArgumentError

MAX_LENGTH = 10_000  # characters
MAX_DEPTH = 64  # brackets within brackets
MAX_NAME = 100  # characters of an operator's name

_TOKEN = re.compile(
    r"""(?P<space>[ \t\n]+)
    |(?P<number>(?:0[xX][0-9a-fA-F]+[uUlL]{0,2}
        |(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?[fF]?
        |[0-9]+[uUlL]{0,2})(?![\w.]))
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<operator><<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&|^!~?:().,{};=\[\]])""",
    re.VERBOSE | re.ASCII,
)
_TWICE = re.compile(r"\+\+|--|->|//|/\*|[-+*/%&|^]=(?!=)|<<=|>>=|\?\?|<:|:>|<%|%>|%:")
_MEMBER = re.compile(r"lo|hi|even|odd|[xyzw]{1,4}|[sS][0-9a-fA-F]{1,16}", re.ASCII)
_OWN_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}", re.ASCII)
_BINARY = re.compile(r"[-+*/%&|^<>]|<<|>>|<=|>=|==|!=|&&|\|\|")
_UNARY = frozenset("+-!~")

# The words that operators may use: types, constants and built-in functions.
_TYPE = r"(?:bool|u?(?:char|short|int|long)|float|double)(?:2|3|4|8|16)?"
_TYPES = re.compile(_TYPE, re.ASCII)
_CONSTANTS = re.compile(
    r"true|false|CHAR_BIT|SCHAR_M(?:AX|IN)|SHRT_M(?:AX|IN)|INT_M(?:AX|IN)|LONG_M(?:AX|IN)|"
    r"U(?:CHAR|SHRT|INT|LONG)_MAX|INFINITY|NAN|MAXFLOAT|(?:FLT|DBL)_(?:MAX|MIN|EPSILON)|"
    r"M_PI|M_PI_F|M_E|M_E_F",
    re.ASCII,
)

# Pure functions of their arguments, none of which takes a pointer.
_BUILT_IN = re.compile(
    r"abs|abs_diff|add_sat|hadd|rhadd|clamp|clz|mad_hi|mad_sat|mad24|max|min|mul24|mul_hi|"
    r"popcount|rotate|sub_sat|upsample|acos|acosh|acospi|asin|asinh|asinpi|atan|atan2|atan2pi|"
    r"atanh|atanpi|cbrt|ceil|copysign|cos|cosh|cospi|erf|erfc|exp|exp10|exp2|expm1|fabs|fdim|"
    r"floor|fma|fmax|fmin|fmod|hypot|ilogb|ldexp|log|log10|log1p|log2|logb|mad|maxmag|minmag|"
    r"nextafter|pow|pown|powr|remainder|rint|rootn|round|rsqrt|sin|sinh|sinpi|sqrt|tan|tanh|tanpi|"
    r"trunc|degrees|mix|radians|sign|smoothstep|step|cross|distance|dot|length|normalize|all|any|"
    r"bitselect|isequal|isfinite|isgreater|isgreaterequal|isinf|isless|islessequal|islessgreater|"
    r"isnan|isnormal|isnotequal|isordered|isunordered|select|signbit|shuffle|shuffle2"
    rf"|as_{_TYPE}|convert_{_TYPE}(?:_sat)?(?:_rt[ezpn])?",
    re.ASCII,
)

# Names that functions and variables must not have: keywords and reserved words of OpenCL C.
_RESERVED = re.compile(
    r"auto|break|case|complex|const|constant|continue|default|do|else|enum|extern|for|global|goto|"
    r"generic|half|if|image[123]d\w*_t|imaginary|inline|int8_t|intptr_t|kernel|local|main|"
    r"private|ptrdiff_t|quad|read_only|read_write|register|restrict|return|sampler_t|signed|"
    r"size_t|sizeof|static|struct|switch|typedef|typeof|uintptr_t|uniform|union|unsigned|void|"
    r"volatile|while|write_only|event_t|vec_step|printf|barrier|mem_fence|prefetch|defined|asm|"
    r"true|false",
    re.ASCII,
)


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


class _Reader:
    """Parses one text; raises at the first token that the grammar does not allow there."""

    def __init__(
        self, what: str, text: object, names: Iterable[str] = (), functions: Iterable[str] = (),
        arrays: Iterable[str] = (), *, lines: bool = False,
    ) -> None:  # fmt: skip
        self.what, self.text = what, check_text(what, text)
        self.names, self.functions, self.arrays = set(names), set(functions), set(arrays)
        self.tokens = [*self._tokens(lines=lines), *[_Token("end", "", len(self.text))] * 2]
        self.position = self.depth = 0

    # ------------------------------------------------------------------- tokens

    def _tokens(self, *, lines: bool) -> Iterator[_Token]:
        """Yield the tokens of the text, which goes over several `lines` or stands on one."""
        text, at = self.text, 0
        if len(text) > MAX_LENGTH:
            raise InvalidArgumentError(
                f"{self.what} has {len(text)} characters; it may have up to {MAX_LENGTH}"
            )
        while at < len(text):
            found, twice = _TOKEN.match(text, at), _TWICE.match(text, at)
            if found is None or twice or (not lines and "\n" in found[0]):
                sign = _Token("", twice[0] if twice else text[at], at)
                raise self.error(sign, "operators have no such sign")
            if found.lastgroup != "space":
                yield _Token(str(found.lastgroup), found[0], at)
            at = found.end()

    @property
    def next(self) -> _Token:
        return self.tokens[self.position]

    def take(self) -> _Token:
        token = self.next
        self.position += token.kind != "end"
        return token

    def accept(self, text: str) -> bool:
        found = self.next.text == text and self.next.kind != "end"
        self.position += found
        return found

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.error(self.next, f"{text!r} must stand there")

    def error(self, token: _Token, rule: str) -> InvalidArgumentError:
        before = self.text[: token.at]
        line, column = before.count("\n") + 1, token.at - before.rfind("\n")
        where = f"column {column}" if "\n" not in self.text else f"line {line}, column {column}"
        there = "it ends" if token.at >= len(self.text) else f"it has {shown(token.text)}"
        return InvalidArgumentError(
            f"{self.what} is {shown(self.text)}; at {where} {there}, and {rule}"
        )

    # --------------------------------------------------------------- expressions

    def expression(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(self.next, f"brackets may be {MAX_DEPTH} deep")
        self.operand()
        while self.next.kind == "operator" and _BINARY.fullmatch(self.next.text):
            self.take()
            self.operand()
        if self.accept("?"):
            self.expression()
            self.expect(":")
            self.expression()
        self.depth -= 1

    def operand(self) -> None:
        while True:
            if self.next.kind == "operator" and self.next.text in _UNARY:
                self.take()
            elif self.next.text == "(" and _is_type(self.tokens[self.position + 1].text):
                self.position += 2
                self.expect(")")
            else:
                break
        token = self.take()
        if token.kind == "name":
            self.named(token)
        elif token.text == "(":
            self.expressions()  # of a vector; in brackets, the last one is the value
        elif token.kind != "number":
            raise self.error(token, "a number, a name or a bracket must stand there")
        self.members()

    def expressions(self) -> None:
        self.expression()
        while self.accept(","):
            self.expression()
        self.expect(")")

    def named(self, token: _Token) -> None:
        name = token.text
        if self.accept("("):
            if name not in self.functions and not _BUILT_IN.fullmatch(name):
                raise self.error(token, "it is no function that an operator may call")
            self.expressions()
        elif name in self.arrays:
            self.expect("[")
            self.expression()
            self.expect("]")
        elif name not in self.names and not _CONSTANTS.fullmatch(name):
            known = ", ".join(sorted({*self.names, *self.arrays}))
            raise self.error(token, f"the names there are {known}")

    def members(self) -> None:
        while self.accept("."):
            token = self.take()
            if token.kind != "name" or not _MEMBER.fullmatch(token.text):
                raise self.error(token, "a vector has members such as .x, .s0 and .lo")

    # ----------------------------------------------------------------- functions

    def function(self) -> None:
        self.accept("static")
        self.accept("inline")
        self.type()
        name = self.own_name()
        self.expect("(")
        self.names = set()
        while not self.names or self.accept(","):
            self.type()
            self.names.add(self.own_name())
        self.expect(")")
        self.expect("{")
        while not self.accept("return"):
            self.statement()
        self.expression()
        self.expect(";")
        self.expect("}")
        self.functions.add(name)

    def statement(self) -> None:
        if _is_type(self.next.text):
            self.take()
            name = self.own_name()
            if self.accept("="):
                self.expression()
            self.names.add(name)
        else:
            token = self.take()
            if token.text not in self.names:
                raise self.error(token, "a declaration, an assignment or 'return' must stand there")
            self.members()
            self.expect("=")
            self.expression()
        self.expect(";")

    def type(self) -> None:
        token = self.take()
        if not _is_type(token.text):
            raise self.error(token, "a type must stand there: a scalar or vector of OpenCL C")

    def own_name(self) -> str:
        token = self.take()
        if token.kind != "name" or not _is_own_name(token.text):
            raise self.error(
                token, "a name of one's own must stand there: lower-case, and none of OpenCL C"
            )
        return token.text


def _is_type(word: str) -> bool:
    return _TYPES.fullmatch(word) is not None


def _is_own_name(text: str) -> bool:
    taken = _RESERVED.fullmatch(text) or _is_type(text) or _BUILT_IN.fullmatch(text)
    return not taken and _OWN_NAME.fullmatch(text) is not None


def check_functions(what: str, text: object) -> tuple[str, frozenset[str]]:
    """Return a text and the names of its functions; raise unless it has only functions."""
    reader = _Reader(what, text, lines=True)
    while reader.next.kind != "end":
        reader.function()
    return reader.text, frozenset(reader.functions)


def check_expression(
    what: str,
    text: object,
    names: set[str],
    functions: frozenset[str] = frozenset(),
    *,
    arrays: frozenset[str] = frozenset(),
) -> str:
    """Return a text; raise unless it is one expression of `names` on one line.

    It may call `functions`, in addition to the built-in ones, and read elements of `arrays`.
    """
    reader = _Reader(what, text, names, functions, arrays)
    reader.expression()
    if reader.next.kind != "end":
        raise reader.error(reader.next, "the expression must end or go on by an operator")
    return reader.text


def check_name(what: str, text: object) -> str:
    """Return the name of an argument; raise unless it may be one in OpenCL C."""
    name = check_text(what, text)
    if not _is_own_name(name):
        raise InvalidArgumentError(
            f"{what} is {shown(name)}; it must be lower-case letters, digits and underscores, and "
            "no word of OpenCL C"
        )
    return name


def check_title(what: str, text: object) -> str:
    """Return the name of an operator; raise unless it is legal in a line directive."""
    text = check_text(what, text)
    if not text.strip() or not text.isprintable() or set(text) & {'"', "\\"}:
        raise InvalidArgumentError(
            f"{what} is {shown(text)}; it must be one line, not empty, without quotes and "
            "backslashes"
        )
    if len(text) > MAX_NAME:
        raise InvalidArgumentError(
            f"{what} has {len(text)} characters; it may have up to {MAX_NAME}"
        )
    return text
