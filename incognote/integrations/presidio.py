"""incognote as a recognizer of Presidio: `AnalyzerEngine` gets its spans under Presidio's names of entity types.

    registry = RecognizerRegistry(recognizers=[IncognoteRecognizer()])
    analyzer = AnalyzerEngine(registry=registry, nlp_engine=NoOpNlpEngine())
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from incognote.errors import MissingExtra, UsageError
from incognote.integrations import spans_of
from incognote.schemas.catalogue import catalogue
from incognote.sdk import Deidentifier

try:
    from presidio_analyzer import AnalysisExplanation, EntityRecognizer, RecognizerResult
except ImportError:
    raise MissingExtra("presidio", "the Presidio recognizer") from None

if TYPE_CHECKING:
    from presidio_analyzer.nlp_engine import NlpArtifacts


class IncognoteRecognizer(EntityRecognizer):
    """Finds identifiers of every type of the catalogue. It needs no NLP model and ignores `nlp_artifacts`.

    Args:
        deidentifier: which detectors run; default: rules and encoder. Its policy decides the thresholds.
        name: the recognizer's name in Presidio's results.
    """

    def __init__(self, deidentifier: Deidentifier | None = None, *, name: str = "IncognoteRecognizer") -> None:
        self._deidentifier, self._name = deidentifier or Deidentifier(), name
        super().__init__(supported_entities=sorted(catalogue().presidio_names()), name=name, supported_language="en")

    def load(self) -> None:
        """Nothing: the detectors are loaded for the first text."""

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: NlpArtifacts | None = None
    ) -> list[RecognizerResult]:
        """The identifiers of a text.

        Args:
            text: offsets of results are Unicode code points into it.
            entities: Presidio's names, or ours; empty for all.

        Raises:
            UsageError: the text is not a str.
            UnsupportedFormat, ModelProblem: as `spans_of`. Presidio passes them on, so no text counts as empty.
        """
        if not isinstance(text, str):
            raise UsageError("text must be a str")
        (spans,) = spans_of(self._deidentifier, [text], "all")
        results = []
        for span in spans:
            name = catalogue().presidio_name(span.type, entities or ())
            if name is None:
                continue
            why = AnalysisExplanation(
                recognizer=self._name, original_score=span.score, pattern_name="+".join(span.sources)
            )
            metadata = {RecognizerResult.RECOGNIZER_NAME_KEY: self._name, "incognote_type": span.type}
            results.append(RecognizerResult(name, span.start, span.end, span.score, why, metadata))
        return results
