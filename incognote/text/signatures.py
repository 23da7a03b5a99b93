"""Identify binary formats by their first bytes.

This is our own table, because no available library fits: puremagic reports an ODT as a DOCX, filetype supports no
text-based formats, and python-magic needs a C library that its wheel does not include. The values come from the
specifications of the formats, as listed by file(1) and in Gary Kessler's table of file signatures. A signature of
letters that may begin a note ("MZ twins", "BM normal", "PAR1 antagonist") counts only with the bytes that must follow.
"""

from __future__ import annotations

import re

HEAD = 8192
"""The number of bytes at the beginning that may contain a signature. The names in a ZIP or OLE file may come later."""

_AT: tuple[tuple[int, bytes, str], ...] = (
    (128, b"DICM", "DICOM image"),  # before the others: the 128 bytes may be the header of a TIFF (PS3.10 section 7.1)
    (0, b"%!PS", "PostScript"),
    (0, b"\xc5\xd0\xd3\xc6", "PostScript"),
    (0, b"\x89PNG\r\n\x1a\n", "PNG image"),
    (0, b"\xff\xd8\xff", "JPEG image"),
    (0, b"GIF87a", "GIF image"),
    (0, b"GIF89a", "GIF image"),
    (0, b"II*\x00", "TIFF image"),
    (0, b"MM\x00*", "TIFF image"),
    (0, b"II+\x00", "TIFF image"),
    (0, b"MM\x00+", "TIFF image"),
    (0, b"\x00\x00\x00\x0cjP  ", "JPEG 2000 image"),
    (0, b"\xff\x4f\xff\x51", "JPEG 2000 image"),
    (0, b"\x00\x00\x00\x0cJXL ", "JPEG XL image"),
    (0, b"8BPS\x00", "Photoshop image"),
    (0, b"AT&TFORM", "DjVu"),
    (0, b"\xd7\xcd\xc6\x9a", "WMF image"),
    (40, b" EMF\x00", "EMF image"),
    (344, b"n+1\x00", "NIfTI image"),
    (0, b"OggS\x00", "Ogg audio"),
    (0, b"fLaC\x00", "FLAC audio"),
    (0, b"#!AMR", "AMR audio"),
    (0, b".snd\x00", "AU audio"),
    (0, b"caff\x00\x01\x00\x00", "CAF audio"),
    (0, b"riff\x2e\x91\xcf\x11", "W64 audio"),
    (0, b"NIST_1A\n   1024\n", "SPHERE audio"),
    (0, b"Creative Voice File\x1a", "VOC audio"),
    (0, b"wvpk", "WavPack audio"),
    (0, b"\x02dss", "DSS dictation"),
    (0, b"\x03dss", "DSS dictation"),
    (0, b"\x03ds2", "DSS dictation"),
    (0, b"\x01ds2", "DSS dictation"),
    (0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "Windows Media"),
    (0, b"\x1aE\xdf\xa3", "Matroska video"),
    (0, b"FLV\x01", "Flash video"),
    (0, b"\x00\x00\x01\xba", "MPEG video"),
    (0, b"\x1f\x8b\x08", "gzip"),
    (0, b"\xfd7zXZ\x00", "xz"),
    (0, b"\x28\xb5\x2f\xfd", "Zstandard"),
    (0, b"\x04\x22\x4d\x18", "LZ4"),
    (0, b"LZIP\x01", "lzip"),
    (0, b"\x1f\x9d", "compress"),
    (0, b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
    (0, b"Rar!\x1a\x07", "RAR archive"),
    (0, b"MSCF\x00\x00\x00\x00", "cabinet archive"),
    (257, b"ustar", "tar archive"),
    (0, b"!<arch>\n", "ar archive"),
    (32769, b"CD001", "ISO 9660 image"),
    (0, b"SQLite format 3\x00", "SQLite"),
    (0, b"\x00\x01\x00\x00Standard ", "Access database"),
    (0, b"Obj\x01", "Avro"),
    (0, b"ARROW1\x00", "Arrow"),
    (0, b"\x89HDF\r\n\x1a\n", "HDF5"),
    (0, b"MATLAB 5.0 MAT-file", "MATLAB file"),
    (0, b"\x93NUMPY", "NumPy array"),
    (0, b"\x00" * 12 + b"\xc2\xea\x81\x60", "SAS data set"),
    (0, b"HEADER RECORD*******LIB", "SAS transport file"),
    (0, b"$FL2@(#)", "SPSS file"),
    (0, b"$FL3@(#)", "SPSS file"),
    (0, b"<stata_dta>", "Stata file"),
    (0, b"RDX2\nX\n", "R data"),
    (0, b"RDX3\nX\n", "R data"),
    (0, b"PGDMP", "PostgreSQL dump"),
    (0, b"!BDN", "Outlook mailbox"),
    (0, b"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d", "OneNote"),
    (0, b"\xffWPC", "WordPerfect"),
    (0, b"ITSF\x03", "CHM"),
    (0, b"\x7fELF", "program"),
)
_SHAPES: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (re.compile(rb"%PDF(?:-\d\.\d[ \t]*(?:[\n\r%]|\d+ \d+ obj|\Z)|-?\s*\Z)"), "PDF"),
    (re.compile(rb"PAR[1E](?:[\x00-\x1f]|.*PAR[1E]\Z)", re.DOTALL), "Parquet"),
    (re.compile(rb"MZ.{58}(?P<at>.{4})", re.DOTALL), "program"),
    (re.compile(rb"BM.{4}\x00{4}.{4}[\x0c\x28\x34\x38\x40\x6c\x7c]\x00{3}", re.DOTALL), "BMP image"),
    (re.compile(rb"ID3[\x02-\x04][\x00-\x0f]|\xff[\xe2\xe3\xf2-\xf5\xfa-\xfd][\x10-\xef]"), "MP3 audio"),
    (re.compile(rb"\xff[\xf1\xf9][\x40-\xbf]"), "AAC audio"),
    (re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), "bzip2"),
    (re.compile(rb"FORM.{4}AIF[FC]", re.DOTALL), "AIFF audio"),
    # DICOM without its preamble: the first element of group 2 or 8, with an explicit or an implicit length
    (re.compile(rb"[\x02\x08]\x00[\x00-\x20]\x00(?:[A-Z]{2}|.{1,2}\x00\x00)", re.DOTALL), "DICOM image"),
    # European Data Format: version, patient and recording, then date, time and header size in digits
    (re.compile(rb"(?:0 {7}|\xffBIOSEMI).{160}\d\d\.\d\d\.\d\d\d\d\.\d\d\.\d\d\d+ ", re.DOTALL), "EDF recording"),
)
_RIFF = {b"WAVE": "WAV audio", b"AVI ": "AVI video", b"WEBP": "WebP image"}
_BRANDS = {b"M4A ": "M4A audio", b"M4B ": "M4A audio", b"qt  ": "QuickTime video", b"heic": "HEIC image",
           b"heix": "HEIC image", b"mif1": "HEIC image", b"avif": "AVIF image"}  # fmt: skip
_ODF = {b"text": "ODT", b"spreadsheet": "ODS", b"presentation": "ODP", b"graphics": "ODG"}
_OPENED = ((b"word/", "DOCX"), (b"xl/", "XLSX"), (b"ppt/", "PPTX"), (b"AndroidManifest.xml", "APK"))
_OLE = (("WordDocument", "DOC"), ("Workbook", "XLS"), ("PowerPoint Document", "PPT"), ("__substg1.0_", "MSG"))


def of_magic(data: bytes) -> str | None:
    """Return the name of the binary format that the bytes begin with, or None for other bytes."""
    for at, magic, name in _AT:
        if data.startswith(magic, at):
            return name
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return _zip(data)
    if data.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return next((name for entry, name in _OLE if entry.encode("utf-16-le") in data), "OLE file")
    if data.startswith((b"RIFF", b"RF64")):
        return _RIFF.get(data[8:12])
    if data[4:8] == b"ftyp" and data[:2] == b"\x00\x00":
        return _BRANDS.get(data[8:12], "MP4 video")
    for shape, name in _SHAPES:
        found = shape.match(data)
        if found and (not shape.groups or _is_program(data, found["at"])):
            return name
    return None


def _zip(data: bytes) -> str:
    """Name a ZIP-based format: an office file by the names in it, an ODF file by its first entry."""
    if data[30:38] == b"mimetype":
        if data.startswith(b"application/epub", 38):
            return "EPUB"
        odf = re.match(rb"application/vnd\.oasis\.opendocument\.([a-z]+)", data[38:120])
        if odf:
            return _ODF.get(odf[1], "ODF")
    if b"[Content_Types].xml" in data or b"_rels/.rels" in data:  # the former may be the last entry
        return next((name for entry, name in _OPENED if entry in data), "office file")
    return "ZIP archive"


def _is_program(data: bytes, at: bytes) -> bool:
    """Whether the offset in a DOS header points to a PE header, or the text of the DOS stub is there."""
    return data.startswith(b"PE\x00\x00", int.from_bytes(at, "little")) or b"DOS mode" in data[:512]
