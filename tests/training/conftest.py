"""The command-line fixture of the command line's own tests."""

from ..cli.conftest import Run, run  # noqa: TID252 -- tests are not a package with an absolute name

__all__ = ["Run", "run"]
