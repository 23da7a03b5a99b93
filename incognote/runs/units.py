"""Durations, sizes and costs in readable form."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """Format a duration: `0.4 ms`, `12.5 s`, `3 min 20 s`, `2 h 14 min`, `3 d 4 h`."""
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    for large, names, most in ((60, ("min", "s"), 3600), (3600, ("h", "min"), 86400)):
        if round(seconds * 60 / large) * large // 60 < most:
            return _pair(round(seconds * 60 / large), 60, names)
    return _pair(round(seconds / 3600), 24, ("d", "h"))


def _pair(small: int, each: int, names: tuple[str, str]) -> str:
    whole, rest = divmod(small, each)
    return f"{whole:,} {names[0]}" + (f" {rest} {names[1]}" if rest else "")


def size(count: int) -> str:
    """Format a size in decimal units: `512 bytes`, `1.3 GB`."""
    if count < 1000:
        return f"{count} byte{'s' * (count != 1)}"
    value, units = count / 1000, ["kB", "MB", "GB", "TB"]
    while value >= 999.95 and len(units) > 1:
        value, _ = value / 1000, units.pop(0)
    return f"{value:,.1f} {units[0]}"


def dollars(usd: float | None) -> str:
    """Format a cost: `$4.10`, `$0.0042` for less than ten cents, `price unknown` for None."""
    if usd is None:
        return "price unknown"
    return f"${usd:,.4f}" if 0 < usd < 0.1 else f"${usd:,.2f}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """Format a count with its noun: `1 record`, `2,000 records`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def passes_shown(passes: int | str) -> str:
    """Format the setting `passes`: `passes by need`, `1 pass`, `2 passes`."""
    return "passes by need" if isinstance(passes, str) else counted(passes, "pass", "passes")
