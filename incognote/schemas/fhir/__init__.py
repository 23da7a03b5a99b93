"""FHIR R4: one rules file per resource type, one for the data types, and the closed lists they draw on."""

from incognote.schemas.fhir.listing import data_type, fhir_rows, fhir_schemas
from incognote.schemas.fhir.rules import rules

__all__ = ["data_type", "fhir_rows", "fhir_schemas", "rules"]
