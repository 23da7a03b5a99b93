"""`incognote layout generate | train | export | choose | evaluate`: from drawn pages to the layout detector."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incognote.cli import options
from incognote.cli.help import App
from incognote.cli.shell import say
from incognote.cli.tables import bars, print_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

app = App(help="Make the layout detector: draw pages, train, evaluate, export.")
Folder = Annotated[Path, typer.Option("--out", "-o", help="The folder to write.", metavar="FOLDER", show_default=False)]
Pages = Annotated[
    Path, typer.Argument(metavar="PAGES", help="A folder that `generate` wrote.", show_default=False)
]
Run = Annotated[Path, typer.Argument(metavar="RUN", help="A folder that `train` wrote.", show_default=False)]


@app.command("generate")
def generate_(
    out: Folder,
    n: Annotated[int, typer.Option("-n", help="Number of pages.", min=1, metavar="N")] = 5000,
    seed: Annotated[int, typer.Option(help="The same seed draws the same pages.", metavar="N")] = 1,
    html: Annotated[
        Path | None, typer.Option(help="Draw the HTML pages of this folder instead of random ones.", metavar="FOLDER")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Draw random clinical pages with a browser: pictures, and their regions in COCO's format.

    Example:
        incognote layout generate -n 5000 --seed 1 -o pages
    """
    from incognote_training.layout import data
    from incognote_training.layout.generate import draw, generate

    with _watched("draw", n if html is None else len(list(html.glob("*.html")))) as watch:
        if html is None:
            generate(out, n, seed, watch)
        else:
            draw(html, out, watch=watch)
    pages = data.read(out)
    figures = {"pages": len(pages), "regions": sum(len(page.regions) for page in pages)}
    if as_json:
        say("layout", figures)
        return
    typer.echo(f"{figures['pages']:,} pages, {figures['regions']:,} regions")


@app.command("train")
def train_(
    pages: Annotated[
        list[Path], typer.Argument(metavar="PAGES...", help="Folders that `generate` wrote.", show_default=False)
    ],
    out: Folder,
    network: Annotated[str, typer.Option(help="small, or the image paper's yolov3-dla.", metavar="NAME")] = "small",
    epochs: Annotated[
        int | None, typer.Option(help="Times that each page is seen. Default: 20; 250 for yolov3-dla.", min=1)
    ] = None,
    minutes: Annotated[float | None, typer.Option(help="End earlier, after this time.", min=0.01, metavar="N")] = None,
    batch: Annotated[int | None, typer.Option(help="Pages in a step. Default: 16; 8 for yolov3-dla.", min=1)] = None,
    rate: Annotated[float | None, typer.Option(help="Highest rate of learning.", min=0, metavar="X")] = None,
    width: Annotated[float, typer.Option(help="Multiplies the channels of the network.", min=0.05)] = 1.0,
    begin: Annotated[
        Path | None, typer.Option(help="Begin with the weights of this training.", metavar="RUN")
    ] = None,
    threads: Annotated[int, typer.Option(help="Threads of torch.", min=1)] = 1,
    bf16: Annotated[bool, typer.Option(help="Multiply matrices in bfloat16.")] = True,
    seed: Annotated[int, typer.Option(help="Seed of weights, order, and effects.", metavar="N")] = 1,
    as_json: options.AsJson = False,
) -> None:
    """Train a network. After a kill, the same command continues where it was.

    Example:
        incognote layout train pages -o run --minutes 60
    """
    from incognote.errors import UsageError
    from incognote_training.layout.networks import NAMES

    _torch()
    from incognote_training.layout.loop import PAPER, Plan, train

    if network not in NAMES:
        raise UsageError(f"--network: name one of {', '.join(NAMES)}")
    plan = replace(
        Plan() if network == "small" else PAPER, width=width, minutes=minutes, threads=threads, seed=seed
    )
    if network == "small":
        plan = replace(plan, bf16=bf16)
    plan = replace(
        plan, epochs=epochs or plan.epochs, batch=batch or plan.batch, rate=plan.rate if rate is None else rate
    )
    with _watched("train", 1000) as watch:
        made = train(plan, pages, out, begin=begin, watch=lambda share, figures: watch(int(1000 * share)))
    figures = {"parameters": sum(each.numel() for each in made.parameters())}
    if as_json:
        say("layout", figures)
        return
    typer.echo(f"{figures['parameters']:,} parameters trained")


@app.command("evaluate")
def evaluate_(
    pages: Pages,
    network: Annotated[
        Path | None, typer.Option(help="A folder that `export` wrote. Default: the shipped network.", metavar="FOLDER")
    ] = None,
    worn: Annotated[bool, typer.Option("--worn", help="Scan, fax, or copy the pages before, at random.")] = False,
    read: Annotated[
        bool, typer.Option("--read", help="Read the words of the pages, and use the network that `choose` wrote.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Precision, recall, and F1 of regions by class, at an overlap of 0.5.

    Example:
        incognote layout evaluate held-out --network network
    """
    import numpy as np

    from incognote.evaluation.regions import rows, scored
    from incognote.pages.layout import LayoutDetector
    from incognote.pages.regions import RegionFinder
    from incognote_training.layout import effects, evaluate

    detector = RegionFinder(network) if read else LayoutDetector(network)
    find = evaluate.reader(detector) if isinstance(detector, RegionFinder) else detector.find

    def change(page: NDArray[np.uint8], number: int) -> NDArray[np.uint8]:
        return effects.worn(page, np.random.default_rng(number)) if worn else page

    lines = rows(scored(evaluate.on_folder(find, pages, change)))
    head = ("kind", "regions", "precision", "recall", "f1")
    cells = [[str(row[name]) for name in head] for row in lines]
    print_rows("layout", {"version": detector.version, "scores": lines}, head, cells, as_json=as_json)


@app.command("export")
def export_(
    run: Run,
    pages: Annotated[
        Path, typer.Option(help="Pages apart from the training's, of `generate`.", metavar="PAGES", show_default=False)
    ],
    out: Folder,
    int8: Annotated[bool, typer.Option(help="Convolutions in integers.")] = True,
    as_json: options.AsJson = False,
) -> None:
    """Write `layout.onnx` and its card `layout.json`, and compare the integers with fp32 on pages.

    Example:
        incognote layout export run --pages held-out -o network
    """
    _torch()
    from incognote_training.layout import loop
    from incognote_training.layout.export import export

    _, network = loop.trained(run)
    made = export(network, pages, out, int8=int8)
    if as_json:
        say("layout", {"bytes": made.bytes, "int8": made.int8, "fp32": made.fp32, "same": made.same})
        return
    typer.echo(f"{made.bytes:,} bytes; F1 {made.int8:.3f}, in fp32 {made.fp32:.3f}; {made.same:.1%} of regions kept")


@app.command("choose")
def choose_(
    pages: Annotated[
        list[Path], typer.Argument(metavar="PAGES...", help="Folders that `generate` wrote.", show_default=False)
    ],
    out: Folder,
    epochs: Annotated[int, typer.Option(help="Times that each page is seen.", min=1)] = 6,
    minutes: Annotated[float | None, typer.Option(help="End earlier, after this time.", min=0.01, metavar="N")] = None,
    seed: Annotated[int, typer.Option(help="Seed of weights, order, and effects.", metavar="N")] = 1,
    as_json: options.AsJson = False,
) -> None:
    """Train the network that says which candidates are regions: `regions.onnx` and its card `regions.json`.

    Example:
        incognote layout choose pages -o network
    """
    _torch()
    from incognote_training.layout import choosing

    made = list(choosing.examples(pages, seed))
    with _watched("choose", 1000) as watch:
        network, lowest = choosing.train(
            made, epochs, minutes, seed=seed, watch=lambda share: watch(int(1000 * share))
        )
    size = choosing.export(network, lowest, out)
    if as_json:
        say("layout", {"pages": len(made), "bytes": size})
        return
    typer.echo(f"{len(made):,} pages; {size:,} bytes")


def _torch() -> None:
    """Raise MissingExtra if torch is not installed."""
    from incognote.errors import MissingExtra

    if importlib.util.find_spec("torch") is None:
        raise MissingExtra("train", "training the layout detector")


@contextmanager
def _watched(name: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error, if it is a terminal. Yields a function that takes the number done."""
    with bars() as progress:
        bar = progress.add_task(name, total=total)
        yield lambda done: progress.update(bar, completed=done)
