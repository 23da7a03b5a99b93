"""The REST API: de-identification over HTTP, jobs, FHIR and the review page. Some endpoints are Presidio's."""
