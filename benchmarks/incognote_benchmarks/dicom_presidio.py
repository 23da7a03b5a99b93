"""Redact the DICOM files of a folder with Presidio's image redactor: `python dicom_presidio.py FOLDER`.

It runs in an environment of its own. Presidio gets an empty pipeline of spaCy, since its usual model must be
downloaded. What it knows are the values of the header and its patterns.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path


def main(folder: str) -> None:
    """Write the redacted file beside each file of a folder."""
    import spacy
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import SpacyNlpEngine
    from presidio_image_redactor import (  # type: ignore[import-not-found]  # of another environment
        DicomImageRedactorEngine,
        ImageAnalyzerEngine,
    )
    from pydicom import dcmread

    class Blank(SpacyNlpEngine):
        def __init__(self) -> None:
            super().__init__()
            self.nlp = {"en": spacy.blank("en")}  # type: ignore[assignment]  # the base class begins with None

        def load(self) -> None:
            pass

    analyzer = ImageAnalyzerEngine(analyzer_engine=AnalyzerEngine(nlp_engine=Blank(), supported_languages=["en"]))
    engine = DicomImageRedactorEngine(image_analyzer_engine=analyzer)
    for path in sorted(Path(folder).glob("*.dcm")):
        try:
            found = dcmread(path)
            engine.redact(found, fill="contrast").save_as(path.with_suffix(".out"))
        except Exception as error:
            sys.stderr.write(f"{path.name} {type(error).__name__} {error!s:.200}\n")
    sys.stdout.write(f"presidio-image-redactor {version('presidio-image-redactor')}\n")


if __name__ == "__main__":
    main(sys.argv[1])
