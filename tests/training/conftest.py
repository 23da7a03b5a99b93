"""The command line as its own tests call it."""

from ..cli.conftest import Run, run  # noqa: TID252 -- tests are no package to name absolutely

__all__ = ["Run", "run"]
