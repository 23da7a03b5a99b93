"""The headers of compressed frames."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from incognote.errors import MalformedRecord
from incognote.formats.dicom.codestreams import coded_frame

PICTURE = Image.fromarray(np.arange(40 * 60, dtype=np.uint8).reshape(40, 60))


def _saved(kind: str, **options: Any) -> bytes:
    out = io.BytesIO()
    PICTURE.save(out, kind, **options)
    return out.getvalue()


def _runs(segment: bytes) -> bytes:
    """Return a frame of RLE with one segment."""
    return b"\1\0\0\0\x40" + bytes(59) + segment


def test_the_size_of_a_frame_is_in_its_header() -> None:
    assert coded_frame(_saved("JPEG"), 1, 1) == (40, 60, 1, True)
    assert coded_frame(_saved("JPEG2000", no_jp2=True), 1, 1) == (40, 60, 1, True)
    assert coded_frame(_saved("JPEG2000", no_jp2=False), 1, 1)[:3] == (40, 60, 1)
    assert coded_frame(_runs(b"\xf1\7" * 150), 40, 60) == (40, 60, None, True)


@pytest.mark.parametrize(
    "frame",
    [_saved("JPEG", comment="Okonkwo"), _saved("JPEG", exif=b"Exif\0\0Okonkwo"), _saved("JPEG") + b"Okonkwo",
     _saved("JPEG2000", no_jp2=True) + b"Okonkwo", _saved("JPEG2000", no_jp2=False),
     _saved("JPEG2000", no_jp2=True, comment="Okonkwo")],
)  # fmt: skip
def test_comments_and_bytes_after_the_end_are_seen(frame: bytes) -> None:
    assert not coded_frame(frame, 40, 60).is_bare


@pytest.mark.parametrize(
    "frame", [b"", b"Okonkwo", b"\xff\xd8\xff\xe0\0\1", b"\xff\xd8\xff\xc0\0\x40abc", b"\xff\x4f\xff\x51\0\1",
              b"\1\0\0\0\x40" + bytes(59), b"\1\0\0\0\x40" + bytes(59) + b"\xf1\7" * 151]
)  # fmt: skip
def test_what_is_no_frame_is_refused(frame: bytes) -> None:
    with pytest.raises(MalformedRecord):
        coded_frame(frame, 40, 60)
