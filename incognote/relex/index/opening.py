"""Open an index by its address."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from incognote.errors import KeyMissing, SettingError, UsageError, WrongKey
from incognote.keys import Keyring
from incognote.plugins import installed, load
from incognote.relex.index import moving
from incognote.relex.index.base import IndexStore, SurrogateIndex
from incognote.relex.index.moving import Tick
from incognote.relex.index.sealing import DIMENSION, Meta

if TYPE_CHECKING:
    from incognote.relex.index.vendors.opensearch import ClusterAddress
    from incognote.settings import Settings

_SWITCH = {"on": True, "off": False}
_ABOUT = {"originals", "vectors", "dimension", "embedder"}  # the options that define an index
_REACHING = {"tls", "ca", "engine", "replicas", "timeout", "attempts", "slots"}


async def open_index(
    url: str, keyring: Keyring, *, create: bool = False, password: str | None = None
) -> SurrogateIndex:
    """Open an index for use.

    Args:
        url: `sqlite:///FILE` (four slashes for an absolute path), or `opensearch://[USER@]HOST[:PORT]/PREFIX`. Options
            follow a `?`. They define the index (originals=off, vectors=off, dimension=N, embedder=VERSION) and, for
            OpenSearch, the connection (tls=off, ca=FILE, engine=faiss, replicas=N, timeout=SECONDS, attempts=N,
            slots=N).
        keyring: a persistent key.
        create: create the index if there is none. Otherwise a typing error would start a second index with other
            surrogates.
        password: the password of the user in the address.

    Raises:
        SettingError: the address is not valid, or contradicts how the index was made.
        KeyMissing: the key exists only in this process.
        WrongKey: the index is under another key.
        IndexUnavailable, IndexRejected, IndexBusy: it does not answer, does not exist, or is being rekeyed.
        MissingExtra: the extra `opensearch` is not installed.
    """
    index, _ = await _opened(url, keyring, None, create, password)
    return index


def check_address(url: str, password: str | None) -> None:
    """Check the form of an address without opening the index.

    Raises:
        SettingError: it has an unknown scheme, option or part.
    """
    options = _options(url)
    scheme = urlsplit(url).scheme
    if scheme == "sqlite":
        _file(url, options)
    elif scheme not in installed("incognote.index_stores"):
        _cluster(url, options, password)


async def open_configured(settings: Settings, *, create: bool = False) -> SurrogateIndex:
    """Open the index that is set in the settings.

    Raises:
        SettingError: no index is set; otherwise as in `open_index`.
    """
    if settings.index is None:
        raise SettingError(
            "No index is configured. Set INCOGNOTE_INDEX or --index to sqlite:///FILE or "
            "opensearch://USER@HOST:PORT/PREFIX."
        )
    return await open_index(
        settings.index, settings.keyring(persistent=True), create=create, password=password_of(settings)
    )


def password_of(settings: Settings) -> str | None:
    """The password of the index's user, from the variable or the file.

    Raises:
        SettingError: the file cannot be read.
    """
    if settings.index_password is not None:
        return settings.index_password.get_secret_value()
    if settings.index_password_file is None:
        return None
    try:
        return settings.index_password_file.expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise SettingError("index_password_file: the file cannot be read") from None


async def rekey(
    url: str, old: Keyring, new: Keyring, *, password: str | None = None, tick: Tick = lambda _: None
) -> int:
    """Put an index under another key, or finish an interrupted change -> number of documents sealed again.

    Raises:
        WrongKey: it is under neither key, or the change was begun with two others.
        UsageError: the keys are the same, or the index stores no originals.
    """
    try:
        index, _ = await _opened(url, old, None, False, password)
    except WrongKey:
        index, meta = await _opened(url, new, old, False, password)
        async with index:
            return await moving.end_rekey(index, old, tick) if meta.state == "rekeying" else 0
    async with index:
        return await moving.rekey(index, new, tick)


async def rekeyable(url: str, old: Keyring, new: Keyring, *, password: str | None = None) -> None:
    """Check that `rekey` could be begun or finished. Nothing is changed.

    Raises:
        WrongKey: it is under neither key, or the change was begun with two others.
        UsageError: it stores no originals.
    """
    try:
        index, _ = await _opened(url, old, None, False, password)
    except WrongKey:
        index, _ = await _opened(url, new, old, False, password)
    async with index:
        if not index.originals_kept:
            raise UsageError("it stores no originals, so its keys cannot be recomputed. Start a new index")


async def _opened(
    url: str, keyring: Keyring, former: Keyring | None, create: bool, password: str | None
) -> tuple[SurrogateIndex, Meta]:
    if not keyring.persistent:
        raise KeyMissing(
            "an index needs a persistent key. Set key_file (INCOGNOTE_KEY_FILE) to its key. Only for a new index, "
            "create one with `incognote key new`"
        )
    options = _options(url)
    store = await _store(url, options, _made(keyring, options) if create else None, password)
    try:
        index = await SurrogateIndex(store, keyring).open(begun_with=former)
        meta = index.sealer.meta
        _agree(options, meta)
    except BaseException:
        await store.aclose()
        raise
    return index, meta


async def _store(url: str, options: Mapping[str, str], meta: Meta | None, password: str | None) -> IndexStore:
    if url.startswith("sqlite:"):
        from incognote.relex.index.vendors.sqlite import SqliteStore

        return SqliteStore(_file(url, options), meta)
    scheme = urlsplit(url).scheme
    if scheme in installed("incognote.index_stores"):
        made: IndexStore = await load("incognote.index_stores", scheme)(url, meta, password)
        return made
    cluster = _cluster(url, options, password)
    from incognote.relex.index.vendors.opensearch import OpenSearchStore

    store = OpenSearchStore(cluster)
    try:
        if meta is not None:
            await store.create(meta)
        await store.prepare()
    except BaseException:
        await store.aclose()
        raise
    return store


def _options(url: str) -> dict[str, str]:
    options = dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))
    unknown = sorted(options.keys() - _ABOUT - _REACHING)
    if unknown and urlsplit(url).scheme not in installed("incognote.index_stores"):
        there = ", ".join(sorted(_ABOUT | _REACHING))
        raise SettingError(f"index: unknown option {unknown[0]!r}. Known: {there}")
    for name in ("tls", "originals", "vectors"):
        if options.get(name, "on") not in _SWITCH:
            raise SettingError(f"index: {name} must be on or off")
    return options


def _made(keyring: Keyring, options: Mapping[str, str]) -> Meta:
    return Meta.new(
        keyring,
        originals=_SWITCH[options.get("originals", "on")],
        dimension=_dimension(options),
        embedder=options.get("embedder", ""),
    )


def _dimension(options: Mapping[str, str]) -> int:
    if options.get("vectors") == "off":
        return 0
    return int(_number("dimension", options.get("dimension", str(DIMENSION))))


def _number(name: str, written: str) -> float:
    try:
        value = float(written)
    except ValueError:
        value = -1
    if value < 0 or (name != "timeout" and not value.is_integer()):
        raise SettingError(f"index: {name} must be a number")
    return value


def _agree(options: Mapping[str, str], meta: Meta) -> None:
    """Reject an address that contradicts how the index was made.

    Raises:
        SettingError: it does.
    """
    asked = {name for name in _ABOUT if name in options}
    wrong = [
        name
        for name, differs in (
            ("originals", _SWITCH[options.get("originals", "on")] != meta.originals),
            ("vectors", _SWITCH[options.get("vectors", "on")] != bool(meta.dimension)),
            ("dimension", _dimension(options) != meta.dimension),
            ("embedder", options.get("embedder") != meta.embedder),
        )
        if name in asked and differs
    ]
    if wrong:
        raise SettingError(f"index: it was created with a different {wrong[0]}. Omit that option, or use another index")


def _file(url: str, options: Mapping[str, str]) -> Path:
    parts = urlsplit(url)
    if parts.netloc or len(parts.path) < 2 or options.keys() & _REACHING:
        raise SettingError("index: use sqlite:///FILE, with four slashes for an absolute path")
    return Path(unquote(parts.path[1:])).expanduser()


def _cluster(url: str, options: Mapping[str, str], password: str | None) -> ClusterAddress:
    from incognote.relex.index.vendors.opensearch import ClusterAddress

    parts = urlsplit(url)
    prefix = parts.path.strip("/")
    try:
        port = parts.port or 9200
    except ValueError:
        port = 0
    if parts.scheme != "opensearch" or not parts.hostname or not prefix or "/" in prefix or not port:
        raise SettingError("index: use sqlite:///FILE or opensearch://USER@HOST:PORT/PREFIX")
    if prefix != prefix.lower() or prefix[0] in "_-+." or any(c in '\\*?"<>| ,#:' for c in prefix):
        raise SettingError("index: the prefix must be a lowercase name that OpenSearch accepts")
    if parts.password is not None:
        raise SettingError(
            "index: do not put the password in the address, where others can see it. Use INCOGNOTE_INDEX_PASSWORD "
            "or index_password_file"
        )
    words: dict[str, Any] = {
        name: int(_number(name, options[name])) for name in ("replicas", "attempts", "slots") if name in options
    }
    if "timeout" in options:
        words["timeout"] = _number("timeout", options["timeout"])
    if "ca" in options:
        words["ca"] = Path(options["ca"]).expanduser()
    if "engine" in options:
        words["engine"] = options["engine"]
    user = None if parts.username is None else unquote(parts.username)
    tls = _SWITCH[options.get("tls", "on")]
    return ClusterAddress(parts.hostname, prefix, port, tls, user, password if user else None, **words)
