"""The words of OpenCL C that operators may use: types, constants and built-in functions."""

from __future__ import annotations

import re

_TYPE = r"(?:bool|char|uchar|short|ushort|int"
_TYPE += r"|uint|long|ulong|float|double)(?:2|3|4|8|16)?"

TYPES = re.compile(_TYPE, re.ASCII)

CONSTANTS = re.compile(
    r"true|false|CHAR_BIT|SCHAR_MAX|SCHAR_MIN|UCHAR_MAX|SHRT_MAX|SHRT_MIN|USHRT_MAX|INT_MAX|INT_MIN|UINT_MAX|LONG_MAX|LONG_MIN|ULONG_MAX|INFINITY|NAN|"
    r"MAXFLOAT|FLT_MAX|FLT_MIN|FLT_EPSILON|DBL_MAX|DBL_MIN|DBL_EPSILON|M_PI|M_PI_F|M_E|M_E_F",
    re.ASCII,
)

# Pure functions of their arguments, none of which takes a pointer.
BUILT_IN = re.compile(
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
RESERVED = re.compile(
    r"auto|break|case|complex|const|constant|continue|default|do|else|enum|extern|for|global|goto|"
    r"half|if|image1d_t|image2d_t|image3d_t|imaginary|inline|int8_t|intptr_t|kernel|local|main|"
    r"private|ptrdiff_t|quad|read_only|read_write|register|restrict|return|sampler_t|signed|"
    r"size_t|sizeof|static|struct|switch|typedef|typeof|uintptr_t|uniform|union|unsigned|void|"
    r"volatile|while|write_only|event_t|vec_step|printf|barrier|mem_fence|prefetch|defined|asm|"
    r"true|false",
    re.ASCII,
)


def is_type(word: str) -> bool:
    """Whether a word is a scalar or vector type of OpenCL C that operators may use."""
    return TYPES.fullmatch(word) is not None
