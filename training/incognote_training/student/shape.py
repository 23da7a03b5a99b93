"""Sizes and switches of a student in the configuration. It does not import torch."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

_Count = Annotated[int, Field(ge=1)]


class Part(BaseModel):
    """A table of the configuration. Unknown names are refused, and errors never show values."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Sizes(Part):
    """The sizes of the base; those of MiniLM-L6 by default."""

    vocabulary: _Count = 30522
    hidden: _Count = 384
    layers: _Count = 6
    heads: _Count = 12
    intermediate: _Count = 1536
    positions: _Count = 512

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.hidden % self.heads:
            raise ValueError("hidden must be a multiple of heads")
        return self


class WordSizes(Part):
    """The sizes of a model of words (`recurrent.py`).

    Attributes:
        word, character, features: the widths of the three parts of a word.
        filters: of the convolution over characters.
        hidden, layers: of the LSTM; hidden is the width of one direction.
        dropout: of a word's vector, between the layers, and of the output.
        blank: the share of words that the model sees only by their characters, in training.
    """

    word: _Count = 64
    character: _Count = 24
    filters: _Count = 96
    features: _Count = 32
    hidden: _Count = 160
    layers: _Count = 2
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.35
    blank: Annotated[float, Field(ge=0, lt=1)] = 0.2


class Switches(Part):
    """The ideas, each of which can be turned off separately.

    Attributes:
        shape: case, shape, and layout features in addition to the uncased pieces.
        lexicon: the entries of the rules' lexicon for a word, as features.
        specialised: Guan's temporal, spatial, and identity heads with α and γ.
        fusion: Guan's token, segment, and document levels.
        medical: medical words kept whole, long numbers split (Guan's Algorithm 1).
        crf: a CRF learns the transitions; without it only the BIO constraints apply.
        exit_layer: the number of layers before the early exit; 0 for none.
        dropout: of the base's layers.
    """

    shape: bool = True
    lexicon: bool = True
    specialised: bool = True
    fusion: bool = True
    medical: bool = True
    crf: bool = True
    exit_layer: Annotated[int, Field(ge=0)] = 3
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.1
