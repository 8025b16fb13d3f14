"""What every text that a user reads can do: be shown where it is read."""

from __future__ import annotations

import shutil
import sys
from typing import Any, TextIO

from pyrev.ir.diagnostics import ArgumentError
from pyrev.report.shown.styled import (
    Line,
    ansi,
    has_colour,
    is_notebook,
    is_session,
    is_terminal,
    plain,
)
from pyrev.runtime.error_boundary import guarded
from pyrev.runtime.options import flag


class Shown:
    """Text in colour on a terminal that has it, as HTML in a notebook.

    `str` and `print` give it plain, always.
    """

    def _lines(self, width: int | None) -> list[Line]:
        """The lines, for a terminal of so many columns if they are to fit one."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """The text as a notebook shows it."""
        raise NotImplementedError

    def __rich__(self) -> Any:
        """The text as rich prints it, which asks for this and is there then."""
        from rich.text import Text  # noqa: PLC0415

        return Text.from_ansi(ansi(self._lines(None)).removesuffix("\n"))

    def show(self, file: TextIO | None = None, colour: bool | None = None) -> None:
        """Print the text, in colour where there is colour.

        That is on a terminal, unless it is dumb or `NO_COLOR` is set, and everywhere
        where `FORCE_COLOR` is; `colour` decides otherwise. `file` is where to print,
        `sys.stdout` if it is not given; `ArgumentError` if it takes no text.
        """
        where = sys.stdout if file is None else file
        chosen = has_colour(where) if colour is None else flag("colour", colour)
        text = self._text(where, chosen).removesuffix("\n")
        try:
            where.write(f"{text}\n")
        except (AttributeError, TypeError) as error:
            raise ArgumentError(
                f"show: a {type(where).__name__} takes no text ({error}); give a file"
                " that is open for text"
            ) from error

    @guarded
    def _text(self, file: TextIO, colour: bool) -> str:
        """The text as it is printed there."""
        fitted = is_terminal(file) and not is_notebook()
        lines = self._lines(shutil.get_terminal_size().columns if fitted else None)
        return ansi(lines) if colour else plain(lines)

    def _said(self) -> str:
        """What `repr` gives where no value is shown to somebody who types."""
        return str(self)

    def _typed(self) -> str:
        """What somebody who types is shown, who gets a newline behind it."""
        colour = has_colour(sys.stdout) and not is_notebook()
        return self._text(sys.stdout, colour).removesuffix("\n")

    def __repr__(self) -> str:
        return self._typed() if is_session() else self._said()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What IPython prints; a notebook has it beside the HTML."""
        printer.text(self._typed())
