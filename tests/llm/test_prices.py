from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from incognote.errors import SettingError
from incognote.llm.base import Message, Reply, Request, Usage
from incognote.llm.prices import FREE, Price, Priced, Prices

ROWS = Prices(
    {
        "openai/gpt-4o": Price(2.5, 10, 1.25, date(2026, 1, 1)),
        "openai/gpt-4o-mini": Price(0.15, 0.6, 0.075, date(2026, 1, 1)),
        "bedrock/anthropic.claude-x-1": Price(3, 15, 0.3, date(2026, 1, 1)),
    }
)


@pytest.mark.parametrize(
    ("model", "row"),
    [
        ("openai/gpt-4o", 2.5),
        ("openai/gpt-4o-2024-08-06", 2.5),
        ("openai/gpt-4o-latest", 2.5),
        ("openai/gpt-4o-mini", 0.15),
        ("openai/gpt-4o-mini-2024-07-18", 0.15),
        ("bedrock/anthropic.claude-x-1-20250929-v1:0", 3),
        ("openai/gpt-4o-ultra", None),
        ("openai/gpt-4", None),
        ("openai/gpt-4omni", None),
        ("azure/gpt-4o", None),
    ],
)
def test_the_longest_row_that_names_the_model_or_its_release_counts(model: str, row: float | None) -> None:
    price = ROWS.of(model)
    assert (price and price.input) == row


def test_cached_tokens_are_charged_at_their_own_price() -> None:
    assert Price(2.0, 8.0, 0.5).of(Usage(1_000_000, 250_000, 400_000)) == pytest.approx(1.2 + 0.2 + 2.0)
    assert FREE.of(Usage(10**9, 10**9)) == 0.0


def test_every_shipped_row_is_dated_and_plausible() -> None:
    shipped = Prices.load()
    assert len(shipped) >= 25
    for name, price in shipped._rows.items():
        assert "/" in name
        assert price.as_of is not None
        assert 0 < price.cached <= price.input <= price.output < 200


def test_a_file_of_ones_own_overrides_row_by_row(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[models]\n"openai/gpt-4o" = { input = 1, output = 2, as_of = 2026-02-03 }\n')
    prices = Prices.load(own)
    assert prices.of("openai/gpt-4o") == Price(1.0, 2.0, 1.0, date(2026, 2, 3))
    assert prices.of("openai/gpt-4o-mini") == Prices.load().of("openai/gpt-4o-mini")


@pytest.mark.parametrize(
    "text",
    ["[models", '[models]\n"a/b" = 3\n', '[models]\n"a/b" = {input=1, output=2}\n', "models = 3\n",
     '[models]\n"a/b" = {input=-1, output=2, as_of=2026-01-01}\n'],
)  # fmt: skip
def test_a_malformed_table_is_a_setting_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(SettingError, match="prices"):
        Prices.load(tmp_path / "own.toml")


@pytest.mark.parametrize(("price", "usd"), [(Price(1, 1, 1), 0.003), (None, None)])
async def test_a_priced_model_fills_in_the_money(price: Price | None, usd: float | None) -> None:
    class Two:
        name = "a/b"

        async def complete(self, request: Request) -> Reply:
            return Reply("x", usage=Usage(1000, 2000, 0, 1))

        async def aclose(self) -> None: ...

    reply = await Priced(Two(), price).complete(Request((Message("user", "?"),)))
    assert reply.usage == Usage(1000, 2000, 0, 1, usd)
