"""Words around the names of places."""

from __future__ import annotations

import re

from incognote_en.rules.gazetteer import words
from incognote_en.rules.places.address_words import PART

CUE = words("places.toml", "cue")
TERM = PART["term"]
SOMEWHERE = words("places.toml", "person")["somewhere"]
NATURAL = words("places.toml", "natural")
BESIDE = words("places.toml", "person")["beside"]
PASSED = frozenset(
    "the downtown northern southern eastern western central upstate rural metro greater mainland nearby "
    "suburban inner".split()
)
WEAK = frozenset(("at", "of", "through", "left", "leaving", "across", "into", "between"))
TITLES = frozenset("dr mr mrs ms miss prof professor sir nurse sister brother saint doctor".split())
CREDENTIAL_CODES = frozenset("MD PA MA DO ND OR IN ME OK HI ID CT MS AL LA DE SC PR CO CA".split())
LINKS = frozenset("of the de la las los el del do da dos upon on le les du al bin sur am wa".split())
ROMAN = re.compile(r"[IVX]{1,4}\Z")
BETWEEN = frozenset(",–—-→>/+&(;") | {"and", "or", "then", "via"}
VERBS_BACK = 5
MONTHS = frozenset("january february march april may june july august september october november december".split())
LANDED = frozenset(
    "live lives lived living reside resides resided residing born raised moved relocated up originally home".split()
)
DAYS = frozenset("the monday tuesday wednesday thursday friday saturday sunday".split())
MEDICAL_TOWNS = words("places.toml", "natural")["medical_towns"]
OF = frozenset(
    "native resident village town city citizen district region province island suburb commune borough "
    "parish hamlet county".split()
)
UNMISTAKABLE = frozenset(
    "lake river creek beach island islands valley canyon mountain mountains butte mesa airport mall hotel "
    "casino reservation".split()
)
LOWER_HEADS = frozenset(
    "marae lugga river lake island county village beach market forest district neighborhood neighbourhood "
    "section township creek bazaar".split()
)
