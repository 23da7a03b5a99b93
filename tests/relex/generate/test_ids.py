"""Numbers and codes keep their shape and are never possibly real."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.keys import Keyring
from incognote.relex.nouns import Identity
from incognote.relex.pools import pools
from incognote_en.rules.validators import VALIDATORS

Make = Callable[..., Identity]
Become = Callable[..., list[str]]

KEYS = st.binary(min_size=32, max_size=32).map(Keyring)


def shape(words: str) -> str:
    return re.sub(r"[a-z]", "a", re.sub(r"[A-Z]", "A", re.sub(r"\d", "0", words)))


@pytest.mark.parametrize(
    ("type", "written"),
    [
        ("MEDICAL_RECORD_NUMBER", "A987654321"),
        ("MEDICAL_RECORD_NUMBER", "12-34-56"),
        ("GUID", "bmh/2024-00123"),
        ("DRIVER_ID_US", "S123-4567-8901"),
        ("VEHICLE_LICENSE_PLATE_US", "7ABC123"),
        ("PASSPORT_NUMBER_US", "C01234567"),
        ("SSN_OR_TAXPAYER", "123-45-6789"),
        ("SSN_OR_TAXPAYER", "123456789"),
        ("SSN_OR_TAXPAYER", "12-3456789"),
        ("SSN_OR_TAXPAYER", "AB123456C"),
        ("CREDIT_DEBIT_NUMBER", "4111 1111 1111 1111"),
        ("LICENSE_NUMBER", "AB1234563"),
    ],
)
def test_the_shape_is_kept_and_the_number_is_not(make: Make, become: Become, type: str, written: str) -> None:
    (code,) = become([make("ID", type, written)])
    assert shape(code) == shape(written)
    assert code != written


def test_a_label_stays_and_a_prefix_that_tells_of_someone_does_not(make: Make, become: Become) -> None:
    insurance, record, hospital = become(
        [make("ID", "FIN", "INS-789456123"), make("ID", "GUID", "MRN 445566"), make("ID", "GUID", "WGH-445567")]
    )
    assert re.fullmatch(r"INS-\d{9}", insurance)
    assert re.fullmatch(r"MRN \d{6}", record)
    assert not hospital.startswith("WGH")


def test_one_number_in_every_format_is_one_surrogate(make: Make, become: Become) -> None:
    a, b, c = become([make("ID", "MEDICAL_RECORD_NUMBER", "123-45-67", "1234567", "MRN: 01234567")])
    assert b == a.replace("-", "")
    assert c == f"MRN: 0{b}"


CHECKED = [
    ("CREDIT_DEBIT_NUMBER", "4111111111111111", "luhn"),
    ("LICENSE_NUMBER", "1234567893", "npi"),
    ("MEDICAL_RECORD_NUMBER", "943 476 5919", "nhs"),
    ("VEHICLE_IDENTIFIER_US", "1HGCM82633A004352", "vin"),
    ("BANK_ACCOUNT_NUMBER", "GB29NWBK60161331926819", "iban"),
    ("BANK_ROUTING", "021000021", "aba"),
    ("LICENSE_NUMBER", "AB1234563", "dea"),
]


@pytest.mark.parametrize(("type", "written", "check"), CHECKED)
@given(key=KEYS)
def test_check_digits_fail_where_the_original_had_them(
    make: Make, become: Become, type: str, written: str, check: str, key: Keyring
) -> None:
    from incognote.relex.generate import KeyedDraw

    assert VALIDATORS[check](written)
    (code,) = become([make("ID", type, written)], draw=KeyedDraw(key))
    assert not VALIDATORS[check](code)
    assert shape(code) == shape(written) or check == "vin"


@given(key=KEYS)
def test_no_ssn_was_ever_issued_and_none_is_an_itin(make: Make, become: Become, key: Keyring) -> None:
    from incognote.relex.generate import KeyedDraw

    (code,) = become([make("ID", "SSN_OR_TAXPAYER", "123-45-6789")], draw=KeyedDraw(key))
    area, group, serial = code.split("-")
    assert area[0] == "9"
    assert 10 <= int(group) <= 49
    assert serial != "0000"
    assert VALIDATORS["ssn"](code) is False


def test_other_tax_numbers_come_of_prefixes_never_given_out(make: Make, become: Become) -> None:
    ein, nino, sin = become([make("ID", "SSN_OR_TAXPAYER", w) for w in ("12-3456789", "QQ123456C", "046 454 286")])
    assert ein[:2] in "00 07 08 09 17 18 19 28 29 49 69 70 78 79 89 96 97".split()
    assert nino[:2] in "BG GB KN NK NT TN ZZ".split()
    assert sin[0] == "0"


def test_network_addresses_come_of_ranges_for_documentation(make: Make, become: Become) -> None:
    v4, port, v6, mac = become(
        [
            make("ID", "IP_ADDRESS", "10.2.3.4"),
            make("ID", "IP_ADDRESS", "10.2.3.5:8080"),
            make("ID", "IP_ADDRESS", "fe80::1ff:fe23:4567:890a"),
            make("ID", "MAC_ADDRESS", "00-1a-2b-3c-4d-5e"),
        ]
    )
    assert re.fullmatch(r"(192\.0\.2|198\.51\.100|203\.0\.113)\.\d{1,3}", v4)
    assert port.endswith(":8080")
    assert v6.startswith("2001:db8:")
    assert re.fullmatch(r"02(-[0-9a-f]{2}){5}", mac)


def test_a_uuid_is_of_a_variant_that_none_is(make: Make, become: Become) -> None:
    (code,) = become([make("ID", "GUID", "550e8400-e29b-41d4-a716-446655440000")])
    assert uuid.UUID(code).variant == uuid.RESERVED_FUTURE


def test_a_bic_is_of_no_country(make: Make, become: Become) -> None:
    (code,) = become([make("ID", "BANK_SWIFT", "DEUTDEFF500")])
    assert re.fullmatch(r"[A-Z]{4}ZZ[A-Z]0[A-Z]{3}", code)


def test_a_user_name_that_was_taken_for_a_number_stays_one(make: Make, become: Become) -> None:
    (login,) = become([make("ID", "ACCOUNT_NUMBER", "kittym51")])
    assert re.fullmatch(r"[a-z]{6}\d\d", login)
    assert login[1:-2] in {name.lower() for name in pools().people["en"].surname}
