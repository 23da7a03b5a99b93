"""`incognote pack`: a site's own patterns, lists and staff names."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Site packs: new, test.", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The pack's folder.", show_default=False)]
