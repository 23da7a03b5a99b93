"""The REST API: de-identification over HTTP, jobs, FHIR and the review page; in Presidio's words where it has some."""
