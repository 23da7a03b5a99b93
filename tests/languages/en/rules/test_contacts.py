"""Telephone, pager, and fax numbers; email, web, and network addresses; user names."""

from __future__ import annotations

import pytest

PHONES = [
    "Tel ⟦(330) 555-0142⟧",
    "cell ⟦330-555-0119⟧.",
    "Phone: ⟦330.555.0119⟧",
    "⟦330 555 0119⟧",
    "(⟦555-0137⟧)",
    "called ⟦555-0140⟧, no ans",
    "cb ⟦555.0108⟧",
    "⟦(802)555-0117⟧",
    "Ph(c)~⟦8025550191⟧",
    "⟦1-800-555-0123⟧",
    "⟦1 800 555 0121⟧",
    "⟦+1 (418) 555-0173⟧",
    "⟦+44 1632 960 771⟧",
    "⟦+44 (0)191 498 0234⟧",
    "Tel: ⟦01632 960417⟧",
    "Mob: ⟦07700 900862⟧",
    "reach her on ⟦0113 496 0822⟧.",
    "⟦+91 90000 14728⟧",
    "⟦+61 491 570 158⟧",
    "ph ⟦(07) 5550 6337⟧",
    "⟦+33 6 39 98 04 47⟧ w results",
    "⟦01 84 17 61 18⟧",
    "⟦0300-0002252⟧",
    "⟦0917 555 0121⟧",
    "⟦+254 700 000 842⟧.",
    "ring wife ⟦5550 2167⟧.",
    "H: ⟦705-555-0147⟧  W: ⟦705-555-0190 poste 221⟧",
    "⟦555-0126 ext 31⟧",
    "⟦330-555-0119 x4521⟧",
    "pager ⟦4471⟧",
    "pgr ⟦4471⟧",
    "bleep ⟦8172⟧)",
    "ext. ⟦117⟧",
    "LICSW x⟦7730⟧",
    "they can call me at ⟦78 651 450⟧",
    "☎ ⟦207-555-0158⟧",
    "WhatsApp ⟦+65 8000 1929⟧",
    "⟦eight four five five five five oh one seven seven⟧",
]
FAXES = [
    "Fax: ⟦(330) 555-0178⟧",
    "fax ⟦555-0163⟧.",
    "F ⟦+971 4 555 0148⟧",
    "faxed to ⟦402-555-0184⟧",
    "Rx faxed Boreal Drug ⟦705-555-0166⟧",
]
NO_PHONES = [
    "neck ext 45 degrees",
    "x 30 yrs",
    "2 x 3 cm",
    "range 150-1000",
    "CK 200-1000 U/L",
    "call in 2 weeks if worse",
    "flexion 90, extension 10",
    "text 5 of 12",
    "F 38.5, BP 120/80",
]
NETWORK = {
    "EMAIL": [
        "<⟦g.lindqvist@northmoor-rheum.example⟧>",
        "email:⟦jane.doe+x@hospital.org⟧,",
        "(⟦kyoung.home@mailnest.example⟧)",
        "mail ⟦a_b@c.co.uk⟧.",
    ],
    "URL": [
        "on ⟦https://pacs.example.org/view?acc=88120447⟧ (guest",
        "⟦www.northmoor-rheum.example⟧",
        "see ⟦heart.org⟧ for",
        "Registry: ⟦registry-implants.example/c/OKLS58⟧ ok",
    ],
    "IP_ADDRESS": [
        "ws ⟦10.44.7.219⟧",
        "last IP ⟦2001:db8:4f::9c1e⟧",
        "from ⟦2001:0db8:85a3:0000:0000:8a2e:0370:7334⟧ today",
    ],
    "USERNAME": [
        "login ⟦vash_ob61⟧",
        "my login is ⟦wrenwrecks22⟧ if",
        "my login = ⟦drjain.88⟧, reset",
        "username: ⟦jdoe99⟧",
        "insta handle she gave: ⟦@hongnhung.wild⟧",
    ],
}
NO_NETWORK = [
    "sodium 3.5.",
    "e.g.this and i.e.that",
    "re.test(row)",
    "q.d.and",
    "ratio 3:1:2",
    "C5:C6 level",
    "at 10:44:07",
]


@pytest.mark.parametrize("marked", PHONES)
def test_a_telephone_number_is_found(marked, check):
    check(marked, "TELEPHONE_NUMBER")


@pytest.mark.parametrize("marked", FAXES)
def test_a_fax_number_is_told_from_a_telephone_number(marked, check):
    check(marked, "FAX_NUMBER")


@pytest.mark.parametrize(("type_", "marked"), [(t, m) for t, table in NETWORK.items() for m in table])
def test_a_network_address_is_found(type_, marked, check):
    check(marked, type_)


@pytest.mark.parametrize("text", NO_PHONES + NO_NETWORK)
def test_this_is_no_contact(text, check):
    check(text)
