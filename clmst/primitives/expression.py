"""The grammar of operators: the OpenCL C that a caller may write in a Monoid, Predicate or Map.

The text becomes part of a program, so it is first parsed token by token. It may contain expressions
of known names, numbers and operators, elements of known arrays, and functions that consist of
expressions. Everything else is refused: pointers, loops, address spaces, directives, comments and
strings.

::

    function    = ["static"] ["inline"] type name "(" type name {"," type name} ")" body
    body        = "{" {type name ["=" expression] ";" | name {member} "=" expression ";"}
                  "return" expression ";" "}"
    expression  = operand {operator operand} ["?" expression ":" expression]
    operand     = {"+" | "-" | "!" | "~" | "(" type ")"} (number | name | element | [name] list)
                  {member}
    element     = name "[" expression "]"
    list        = "(" expression {"," expression} ")"
    member      = "." (field | "lo" | "hi" | "even" | "odd" | letters of xyzw | "s" digits)

Elements of structured dtypes are called records. A member of a record is a field, by its name in
NumPy. If the fields of a record have one type and fill 2, 4, 8 or 16 components, the record is also
a vector, and has the members of a vector. ``record`` is the type of the elements, and ``result`` is
the type of a map's results. ``record(1, 2.5f)`` creates a record from one value per field. The
parser keeps track of which values are records, and translates their members and constructors to
OpenCL C.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from clmst.core.arguments import check_text, shown
from clmst.core.errors import InvalidArgumentError
from clmst.primitives.element import element_of

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
# Operators of C that expressions must not contain: increments, comments, assignments with an
# operation, trigraphs and digraphs.
_TWICE = re.compile(r"\+\+|--|->|//|/\*|[-+*/%&|^]=(?!=)|<<=|>>=|\?\?|<:|:>|<%|%>|%:")
_MEMBER = re.compile(r"lo|hi|even|odd|[xyzw]{1,4}|[sS][0-9a-fA-F]{1,16}", re.ASCII)
_TWO_NAMES = re.compile(r"\?\s*(\w+)\s*:\s*(\w+)\s*", re.ASCII)
_OWN_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}", re.ASCII)
_BINARY = re.compile(r"[-+*/%&|^<>]|<<|>>|<=|>=|==|!=|&&|\|\|")
_ARITHMETIC = frozenset("+-*/%&|^") | {"<<", ">>"}
_UNARY = frozenset("+-!~")

# Words that operators may use: types, constants and built-in functions.
_TYPE = r"(?:bool|u?(?:char|short|int|long)|float|double)(?:2|3|4|8|16)?"
_TYPES = re.compile(_TYPE, re.ASCII)
_CONSTANTS = re.compile(
    r"true|false|CHAR_BIT|SCHAR_M(?:AX|IN)|SHRT_M(?:AX|IN)|INT_M(?:AX|IN)|LONG_M(?:AX|IN)|"
    r"U(?:CHAR|SHRT|INT|LONG)_MAX|INFINITY|NAN|MAXFLOAT|(?:FLT|DBL)_(?:MAX|MIN|EPSILON)|"
    r"M_PI|M_PI_F|M_E|M_E_F",
    re.ASCII,
)

# Built-in functions without side effects, none of which takes a pointer.
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


# The dtype of a value if the value is a record. None for any other value, whose type is not
# tracked.
Value: TypeAlias = np.dtype[Any] | None


class Read(NamedTuple):
    """A parsed expression."""

    text: str  # as the caller wrote it
    code: str  # translated to OpenCL C
    value: Value  # the dtype of its value, if that is a record
    # The condition in OpenCL C and the two names, if the expression only chooses between two names,
    # such as "a.x < b.x ? a : b". Otherwise None.
    choice: tuple[str, str, str] | None


class Functions(NamedTuple):
    """The parsed OpenCL C functions that a caller has written."""

    text: str  # as the caller wrote them
    code: str  # translated to OpenCL C
    values: Mapping[str, Value]  # the type of the value that each function returns, by its name


NO_FUNCTIONS = Functions("", "", {})


# The beginning of the names of macros that read an element of an array of records. The name of the
# array follows.
ARRAY_READER = "AT_"


class RecordType(NamedTuple):
    """The record type that the word ``record`` or ``result`` stands for in the grammar."""

    dtype: np.dtype[Any]
    name: str  # in OpenCL C


Types: TypeAlias = Mapping[str, RecordType]
_NONE: Mapping[str, Any] = {}


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


class _Reader:
    """Parses one text. Raises InvalidArgumentError at the first token that the grammar forbids."""

    def __init__(
        self, what: str, text: object, names: Mapping[str, Value] = _NONE,
        functions: Mapping[str, Value] = _NONE, *, arrays: Mapping[str, Value] = _NONE,
        types: Types = _NONE, lines: bool = False,
    ) -> None:  # fmt: skip
        self.what, self.text = what, check_text(what, text)
        self.names, self.functions, self.arrays = dict(names), dict(functions), arrays
        self.types = types
        self.tokens = [*self._tokens(lines=lines), *[_Token("end", "", len(self.text))] * 2]
        self.position = self.depth = 0
        self.edits: list[tuple[int, int, str]] = []  # parts to replace: begin, end, OpenCL C text
        self.question: _Token | None = None  # the first "?" outside all brackets

    def code(self, until: _Token | None = None) -> str:
        """Return the text in OpenCL C, up to the token `until`, or all of it if that is None."""
        code, end, stop = "", 0, len(self.text) if until is None else until.at
        for begin, behind, new in sorted(self.edits):
            if begin < stop:
                code, end = code + self.text[end:begin] + new, behind
        return code + self.text[end:stop]

    @property
    def choice(self) -> tuple[str, str, str] | None:
        """The condition and the two names, if the expression only chooses between two names.

        Otherwise None.
        """
        if self.question is None:
            return None
        names = _TWO_NAMES.fullmatch(self.text, self.question.at)
        return (self.code(self.question), names[1], names[2]) if names else None

    def write(self, token: _Token, new: str) -> None:
        """Replace a token of the caller's text by `new` in the translation to OpenCL C."""
        self.edits.append((token.at, token.at + len(token.text), new))

    # ------------------------------------------------------------------- tokens

    def _tokens(self, *, lines: bool) -> Iterator[_Token]:
        """Yield the tokens of the text. Line breaks are allowed only if `lines` is true."""
        text, at = self.text, 0
        if len(text) > MAX_LENGTH:
            raise InvalidArgumentError(
                f"{self.what} has {len(text)} characters; it may have up to {MAX_LENGTH}"
            )
        while at < len(text):
            found, twice = _TOKEN.match(text, at), _TWICE.match(text, at)
            if found is None or twice or (not lines and "\n" in found[0]):
                sign = _Token("", twice[0] if twice else text[at], at)
                raise self.error(sign, "this character is not allowed in an expression")
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

    def expression(self) -> Value:
        """Parse an expression. Return the dtype of its value if that is a record, else None."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(self.next, f"brackets may be nested {MAX_DEPTH} deep")
        first = self.next
        value = self.operand()
        while self.next.kind == "operator" and _BINARY.fullmatch(self.next.text):
            operator, second = self.take().text, self.next
            other = self.operand()
            self.check_is_number(value, first)
            self.check_is_number(other, second)
            value = _common(value, other) if operator in _ARITHMETIC else None
        question = self.next
        if self.accept("?"):
            self.check_is_number(value, first)
            self.question = question if self.depth == 1 and not self.question else self.question
            second = self.next
            value = self.expression()
            self.expect(":")
            other = self.expression()
            if value != other and (_is_struct(value) or _is_struct(other)):
                raise self.error(second, "both choices must be records of one dtype")
            value = value if value == other else None
        self.depth -= 1
        return value

    def check_is_number(self, value: Value, token: _Token) -> None:
        """Raise InvalidArgumentError if a value is a record that OpenCL C has as a struct.

        Operators do not take structs, only their fields. The error points at `token`, where the
        value begins.
        """
        if value is not None and _is_struct(value):
            raise self.error(
                token,
                "what begins there is a whole record; operators and built-in functions take one of "
                f"its fields: {element_of(value).listed}",
            )

    def operand(self) -> Value:
        changes = is_cast = False
        while True:
            if self.next.kind == "operator" and self.next.text in _UNARY:
                self.take()
            elif self.next.text == "(" and _is_type(self.tokens[self.position + 1].text):
                self.position += 2
                self.expect(")")
                is_cast = True
            else:
                break
            changes = True
        token, value = self.take(), None
        if token.kind == "name":
            value = self.named(token)
        elif token.text == "(":
            value = self.expressions()[-1]  # as in C, the last expression in brackets is the value
        elif token.kind != "number":
            raise self.error(token, "a number, a name or a bracket must stand there")
        value = self.members(value)
        if changes:
            self.check_is_number(value, token)
        return None if is_cast else value

    def expressions(self) -> list[Value]:
        values = [self.expression()]
        while self.accept(","):
            values.append(self.expression())
        self.expect(")")
        return values

    def named(self, token: _Token) -> Value:
        name = token.text
        if self.accept("("):
            return self.called(token)
        if name in self.arrays:
            value, bracket = self.arrays[name], self.next
            self.expect("[")
            first = self.next
            self.check_is_number(self.expression(), first)
            if value is not None and element_of(value).is_struct:
                self.write(token, f"{ARRAY_READER}{name}")
                self.write(bracket, "(")
                self.write(self.next, ")")
            self.expect("]")
            return _record_or_none(value)
        if name in self.names:
            return _record_or_none(self.names[name])
        if not _CONSTANTS.fullmatch(name):
            known = ", ".join(sorted({*self.names, *self.arrays}))
            raise self.error(token, f"the names there are {known}")
        return None

    def called(self, token: _Token) -> Value:
        """Parse the arguments of a function call, or of the constructor of a record.

        `token` is the name that has been called. Returns the dtype of the value if the value is a
        record, else None.
        """
        name, first = token.text, self.next
        if name in self.functions:
            self.expressions()
            return self.functions[name]
        if name in self.types:
            return self.made(token)
        if not _BUILT_IN.fullmatch(name):
            raise self.error(token, "this is not a function that an operator may call")
        values = self.expressions()
        for value in values:
            self.check_is_number(value, first)
        return None if name.startswith(("as_", "convert_")) else _common(*values)

    def made(self, token: _Token) -> Value:
        """Parse the arguments of a record's constructor, and translate the call to OpenCL C.

        The arguments are a value for each field. `token` is the name of the constructor. Returns
        the dtype of the record.
        """
        record = self.types[token.text]
        element, first = element_of(record.dtype), self.next
        values = self.expressions()
        for value in values:
            self.check_is_number(value, first)
        if len(values) != len(element.fields):
            raise self.error(
                token, f"it must be given a value for each of its fields: {element.listed}"
            )
        if element.is_struct:
            self.write(token, f"{record.name}_OF")
        else:
            self.write(token, f"(({record.name})")
            bracket = self.tokens[self.position - 1]
            self.write(bracket, "))")
        return record.dtype

    def members(self, value: Value) -> Value:
        while self.next.text == ".":
            point, token = self.take(), self.take()
            if value is not None and token.kind == "name" and token.text in (value.names or ()):
                value = self.field(value, point, token)
                continue
            if value is not None and _is_struct(value):
                raise self.error(
                    token,
                    f"a field must stand there: {element_of(value).listed} (the record is not a "
                    "vector, which has 2, 4, 8 or 16 fields of one type without gaps)",
                )
            if token.kind != "name" or not _MEMBER.fullmatch(token.text):
                own = (
                    f"the record has the fields {', '.join(value.names or ())}, and "
                    if value
                    else ""
                )
                raise self.error(token, f"{own}a vector has members such as .x, .s0 and .lo")
            value = None
        return value

    def field(self, record: np.dtype[Any], point: _Token, token: _Token) -> Value:
        """Translate a field of a record to OpenCL C.

        The field becomes a member of a struct, a component of a vector, or the whole scalar.
        `record` is the dtype of the record, `point` is the token ``.``, and `token` the name of the
        field. Returns None, because a field is a number.
        """
        element, k = element_of(record), (record.names or ()).index(token.text)
        if element.is_struct:
            self.write(token, element.member(element.fields[k]))
        elif len(element.fields) == 1:
            self.write(point, "")
            self.write(token, "")
        else:
            component = _components(token.text, len(element.fields))
            if component not in (None, [k]):
                raise self.error(
                    token,
                    f"that is field {k} of the record and another part of the vector; write "
                    f".s{k:x} for the field, or the part by its digits",
                )
            self.write(token, f"s{k:x}")
        return None

    # ----------------------------------------------------------------- functions

    def function(self) -> None:
        self.accept("static")
        self.accept("inline")
        self.names = {}
        value = self.type()
        name = self.own_name()
        self.expect("(")
        while not self.names or self.accept(","):
            of = self.type()
            self.names[self.own_name()] = of
        self.expect(")")
        self.expect("{")
        while not self.accept("return"):
            self.statement()
        first = self.next
        found = self.expression()
        if _is_struct(value) != _is_struct(found) or (_is_struct(value) and value != found):
            raise self.error(first, f"{name} must return {_described(value)}")
        self.expect(";")
        self.expect("}")
        self.functions[name] = value

    def statement(self) -> None:
        if self.is_type(self.next.text):
            of = self.type()
            name = self.own_name()
            if self.accept("="):
                self.assigned(of)
            self.names[name] = of
        else:
            token = self.take()
            if token.text not in self.names:
                raise self.error(token, "a declaration, an assignment or 'return' must stand there")
            value = self.members(self.names[token.text])
            self.expect("=")
            self.assigned(value)
        self.expect(";")

    def assigned(self, value: Value) -> None:
        """Parse the expression that is assigned to a variable or member of type `value`."""
        first = self.next
        found = self.expression()
        if _is_struct(value) != _is_struct(found) or (_is_struct(value) and value != found):
            raise self.error(first, f"{_described(value)} must stand there")

    def is_type(self, word: str) -> bool:
        return _is_type(word) or (word in self.types and word not in self.names)

    def type(self) -> Value:
        token = self.take()
        if token.text in self.types:
            record = self.types[token.text]
            self.write(token, record.name)
            return _record_or_none(record.dtype)
        if not _is_type(token.text):
            raise self.error(token, "a type must stand there: a scalar or vector of OpenCL C")
        return None

    def own_name(self) -> str:
        token = self.take()
        if token.kind != "name" or not _is_own_name(token.text):
            raise self.error(
                token, "a name of one's own must stand there: lower-case, and none of OpenCL C"
            )
        return token.text


def _record_or_none(value: Value) -> Value:
    """Return the dtype of a value if the value is a record, else None."""
    return value if value is not None and value.names else None


def _is_struct(value: Value) -> bool:
    return value is not None and element_of(value).is_struct


def _described(value: Value) -> str:
    return (
        "a number or vector" if value is None or not _is_struct(value) else f"a record of {value}"
    )


def _common(*values: Value) -> Value:
    """Return the dtype that all records among `values` have.

    Returns None if `values` does not contain a record, or if the records have different dtypes.
    `values` has the dtype of each record, and None for each other value.
    """
    records = {value for value in values if value is not None}
    return records.pop() if len(records) == 1 else None


def _components(member: str, length: int) -> list[int] | None:
    """Return the indices of the components that a member of a vector, such as ``xy``, stands for.

    `length` is the number of components of the vector. Returns None if OpenCL C does not know the
    member.
    """
    if not _MEMBER.fullmatch(member):
        return None
    parts = {
        "lo": range(length // 2),
        "hi": range(length // 2, length),
        "even": range(0, length, 2),
        "odd": range(1, length, 2),
    }
    if member in parts:
        return [*parts[member]]
    is_digits = member[0] in "sS"
    found = [int(one, 16) if is_digits else "xyzw".index(one) for one in member[is_digits:]]
    return found if max(found) < length else None


def _is_type(word: str) -> bool:
    return _TYPES.fullmatch(word) is not None


def _is_own_name(text: str) -> bool:
    taken = _RESERVED.fullmatch(text) or _is_type(text) or _BUILT_IN.fullmatch(text)
    return not taken and _OWN_NAME.fullmatch(text) is not None


def check_functions(what: str, text: object, types: Types = _NONE) -> Functions:
    """Parse a text that consists of functions. Raise InvalidArgumentError for anything else.

    `what` is the name of the text in messages. `types` maps the words ``record`` and ``result`` to
    the records that they stand for.
    """
    reader = _Reader(what, text, types=types, lines=True)
    while reader.next.kind != "end":
        reader.function()
    return Functions(reader.text, reader.code(), reader.functions)


def check_expression(
    what: str,
    text: object,
    names: Mapping[str, Value],
    functions: Functions = NO_FUNCTIONS,
    *,
    arrays: Mapping[str, Value] = _NONE,
    types: Types = _NONE,
    value: Value = None,
) -> Read:
    """Parse a text that is one expression on one line. Raise InvalidArgumentError for other texts.

    Parameters
    ----------
    what : str
        The name of the text in messages.
    text : str
        The expression.
    names : mapping of str to dtype or None
        The names that the expression may contain. The value is the dtype if the name stands for a
        record, else None.
    functions : Functions
        The functions that it may call, in addition to the built-in ones.
    arrays : mapping of str to dtype
        The names of arrays whose elements it may read.
    types : mapping of str to RecordType
        The record types that the words ``record`` and ``result`` stand for.
    value : dtype, optional
        The record type that the expression's value must have. None if the value is a number.

    Returns
    -------
    Read
        The expression as written and in OpenCL C.
    """
    reader = _Reader(what, text, names, functions.values, arrays=arrays, types=types)
    found = reader.expression()
    if reader.next.kind != "end":
        raise reader.error(reader.next, "an operator or the end of the expression must stand there")
    if _is_struct(found) != _is_struct(value) or (_is_struct(value) and found != value):
        word = next((word for word, one in [*types.items()][::-1] if one.dtype == value), "")
        made = f", such as {word}(...) makes of a value for each field" if word else ""
        raise InvalidArgumentError(
            f"{what} is {shown(reader.text)}, whose value is {_described(found)}; it must be "
            f"{_described(value)}{made}"
        )
    return Read(reader.text, reader.code(), found, reader.choice)


def check_name(what: str, text: object) -> str:
    """Check that `text` can be the name of an argument in OpenCL C, and return `text`.

    `what` is the name of `text` in messages.
    """
    name = check_text(what, text)
    if not _is_own_name(name):
        raise InvalidArgumentError(
            f"{what} is {shown(name)}; it must be lower-case letters, digits and underscores, "
            "and not a word of OpenCL C"
        )
    return name


def check_title(what: str, text: object) -> str:
    """Check that `text` can be the name of an operator, and return `text`.

    The name is written to a #line directive, so that compilers' messages show it. `what` is the
    name of `text` in messages.
    """
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
