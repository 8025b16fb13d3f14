"""Which parts of Python text are what, as Pygments knows; plain text without it."""

from __future__ import annotations

from pyrev.report.shown.styled import Line, in_one_kind, split


def highlighted(text: str) -> list[Line]:
    """The lines of Python text, each character of it in one span.

    Generated CUDA modules are Python text, too: their kernels are strings in it.
    """
    try:
        from pygments.lexers.python import PythonLexer
        from pygments.token import Token
    except ImportError:
        return in_one_kind(text.split("\n"))
    kinds = {
        Token.Comment: "comment",
        Token.Keyword: "keyword",
        Token.Operator.Word: "keyword",
        Token.Name.Function: "definition",
        Token.Name.Builtin: "builtin",
        Token.Literal.Number: "number",
        Token.Literal.String: "string",
    }
    # `get_tokens` would drop empty lines at the ends.
    found = PythonLexer().get_tokens_unprocessed(text)
    return split(
        (next((kind for one, kind in kinds.items() if token in one), ""), part)
        for _, token, part in found
    )
