"""Identifying numbers: each kind with the labels that clinicians write, and codes that identify no one."""

from __future__ import annotations

import pytest

FOUND = {
    "SSN_OR_TAXPAYER": [
        "SSN: ⟦123-45-6789⟧",
        "SSN ⟦987-65-4321⟧",
        "SSN\t⟦931-70-8813⟧",
        "SS# ⟦123456789⟧",
        "Soc. Sec. No.  ⟦9 0 2 - 8 8 - 1 1 4 6⟧",
        "social security number is ⟦123 45 6789⟧.",
        "she gave ⟦123-45-6789⟧ over the phone",
        "last 4 of SSN ⟦6789⟧",
        "Tax ID ⟦00-8831907⟧",
        "Aadhaar : ⟦4410 9927 0063⟧",
        "NRIC: ⟦S0479756Z⟧",
        "HKID ⟦Z247722(2)⟧, male",
        "CNIC ⟦17301-0547828-3⟧;",
        "EMIRATES ID ⟦784-1979-9176116-6⟧",
        "NI number ⟦AB 12 34 56 C⟧",
        "CPF: ⟦123.456.789-09⟧",
        '{"ssn": "⟦123-45-6789⟧"}',
    ],
    "MEDICAL_RECORD_NUMBER": [
        "MRN: ⟦00718823⟧",
        "MRN#⟦00718823⟧",
        "MRN⟦49282721⟧",
        "mrn ⟦abc123⟧",
        "MR#: ⟦M 440 19 76⟧",
        "MRN | ⟦00-71-9934-K⟧ | enc",
        "M.R.N. ⟦77-12-03⟧",
        "Medical Record Number: ⟦TX-088214⟧;",
        "Med Rec No ⟦1234567⟧",
        "Hosp. No.: ⟦ANC/23/1187⟧",
        "Hospital number ⟦H0488125⟧",
        "OPD Regn. No. ⟦2024/0071835⟧",
        "NHS No: ⟦999 217 2286⟧",
        "NHS number ⟦9434765919⟧",
        "NHI ⟦ZZZ0735⟧ and",
        "Patient ID: ⟦MK-002817⟧",
        "UHID ⟦10023341⟧",
        "folder ⟦GP-TB 0547/24⟧, ID",
        "medical record ⟦four four one nine oh two⟧ date",
        "<mrn>⟦00718823⟧</mrn>",
        '"mrn": "⟦00718823⟧"',
        "MRN:\n⟦00718823⟧",
    ],
    "HEALTH_PLAN_ID": [
        "Member ID: ⟦BPH-W-339-0087-01⟧",
        "Subscriber no. ⟦YRT 904 417 226⟧",
        "grp ⟦PM-11870⟧",
        "Medicare no. ⟦1EG4-TE5-MK73⟧",
        "on file as ⟦1EG4TE5MK73⟧",
        "Medicare ⟦4951 60288 2-1⟧    ph",
        "Medicaid ID ⟦AB12345C⟧",
        "PhilHealth PIN: ⟦12-050654678-3⟧",
        "HCN ⟦8749-331-063-VG⟧",
        "NHIF ⟦R01521582⟧.",
        "insured's ID ⟦XQG882716⟧",
    ],
    "ACCOUNT_NUMBER": [
        "Acct no. ⟦2201184576⟧",
        "Acct ⟦8830-2291-07⟧",
        "Patient account: ⟦A00812277⟧",
        "guarantor acct.....⟦0093-55172⟧",
    ],
    "BANK_ACCOUNT_NUMBER": [
        "IBAN ⟦GR00 0110 0984 0000 0383 1519 063⟧, BIC",
        "pay to ⟦GB82WEST12345698765432⟧.",
        "bank account no ⟦000 7715 33902⟧",
    ],
    "BANK_ROUTING": ["routing ⟦021000021⟧", "ABA no. ⟦302199887⟧"],
    "BANK_SWIFT": ["SWIFT: ⟦PCCUUS9ZXXX⟧", "BIC ⟦DEUTDEFF⟧"],
    "CREDIT_DEBIT_NUMBER": [
        "card ⟦4111 1111 1111 1111⟧ exp",
        "paid with ⟦4111-1111-1111-1111⟧",
        "Visa ending ⟦8575⟧",
        "card ending in ⟦4417⟧",
        "pd by card, ****⟦6620⟧",
        "amex ⟦378282246310005⟧",
    ],
    "LICENSE_NUMBER": [
        "NPI ⟦1234567893⟧",
        "NPI: ⟦1990026647⟧",
        "DEA ⟦FP2290417⟧",
        "DEA# ⟦BK4471180⟧",
        "Lic. ⟦NM-MD-0044712⟧",
        "License ⟦A-118204⟧",
        "GMC ⟦7719042⟧",
        "NMC PIN ⟦04J2289E⟧",
        "prov no ⟦172722BX⟧,",
        "PRC Lic. ⟦0744182⟧",
        "MCR ⟦M67571Z⟧)",
    ],
    "CERTIFICATE_NUMBER": ["CLIA ⟦35D0998412⟧", "certificate ⟦RTITB-0448-2217⟧,", "cert. no. ⟦RI-00045519⟧"],
    "DRIVER_ID_US": [
        "DL ⟦W4410 77213 05982⟧",
        "driver's license number is ⟦F162823540116⟧",
        "driving licence ⟦COETZ807173DJ9ZZ⟧.",
        "licence ⟦FONOK 710035 T99ZZ⟧ and",
    ],
    "PASSPORT_NUMBER_US": ["passport ⟦N0991 4420⟧,", "Passport No. ⟦CCX082149⟧", "passport number: ⟦123456789⟧"],
    "VEHICLE_IDENTIFIER_US": ["VIN ⟦1FZQK7R2XMN004418⟧,", "van ⟦1M8GDM9AXKP042788⟧ seen"],
    "VEHICLE_LICENSE_PLATE_US": [
        "plate ⟦K47-RZP⟧",
        "the car she was taken in was ⟦PK19 ZVF⟧.",
        "license plate ⟦8KZR-114⟧ towed",
        "(reg. ⟦ZX70 QQV⟧)",
        "VRM ⟦EM19 QZX⟧,",
        "Land Cruiser ⟦KDX 688Z⟧ stuck",
    ],
    "DEVICE_ID": [
        "S/N ⟦KTR004821.7⟧",
        "SN ⟦PZK618842H⟧",
        "serial ⟦HX-0612-17216⟧.",
        "card ser ⟦5518 2290⟧",
        "Leads S/N ⟦29A-1180⟧, ⟦29A-1181⟧",
        "UDI ⟦(01)00889024999917(17)270831(10)64881207⟧",
        "Femur REF 42-5006 LOT ⟦64881207⟧",
    ],
    "MAC_ADDRESS": ["MAC ⟦5C:F3:70:0A:9E:41⟧", "wlan ⟦00-1B-44-C7-3A-B7⟧ up"],
    "BIOMETRIC_ID": ["livescan ⟦FP-0077-3391-AC⟧.", "palm reader; template ⟦PV:7c1e-09aa-44d2⟧ remains"],
    "FIN": [
        "Encounter: ⟦E-5590217⟧",
        "Accession: ⟦MB-24-0093817⟧",
        "Case No. ⟦S24-11806⟧",
        "Prior biopsy ⟦S21-04417⟧ reviewed",
        "Claim: ⟦23-318-0044192⟧",
        "CLAIM NO. ⟦MV/20/0016254⟧",
        "Policy: ⟦GRP/GMPS/8216⟧,",
        "Auth ⟦A7719034⟧",
        "Run # ⟦24-003381⟧",
        "Visit ⟦V00418827⟧",
        "(sample ⟦CMD-24-00617⟧)",
        "Invoice no. ⟦QCS/8841⟧",
    ],
    "GUID": [
        "Our ref: ⟦AvR/ML/0114⟧",
        "Your ref: ⟦KMS.18196.COETZ⟧",
        "interpreter ID ⟦883120⟧.",
        "Staff no. ⟦DK-20771⟧",
        "SUBJECT ⟦017-0044⟧ (initials",
        "donor ID ⟦ZKDW419⟧",
        "Rx ⟦7741902⟧ Bactrim",
        "he wrote ⟦83120047⟧ on the form",
        "sent to ⟦LD7741093⟧ as agreed",
        "uuid ⟦3f2504e0-4f89-11d3-9a0c-0305e82c3301⟧",
    ],
}

NOBODYS = [
    "ICD-10 S52.531A, J44.1, T81.718A",
    "CPT 99214-25, 94010, 31628",
    "LOINC 2019-8, 24627-2",
    "SNOMED 44054006 diabetes",
    "HCPCS J1745, G0296, A4590",
    "NCT04280705 enrolled",
    "doi:10.1001/jama.2020.12345",
    "PMID 31234567",
    "NDC 10147-0685-1",
    "rs1801133 and NM_000138.5",
    "WBC 11.42, PLT 419, HGB 10.1",
    "platelets 250000/uL",
    "1:200000 epinephrine",
    "BNP 2840, ferritin 10000",
    "136-145 mmol/L",
    "CTX-M-15 and HLA-B27",
    "G3P1011 at term",
    "GCS 15 (E4V5M6)",
    "COVID-19, SARS-CoV-2, H1N1",
    "5000 units SC TID",
    "B12 417, CA-125 35",
    "policy 7.3.2 applies",
    "MR -2.25 +0.75 x 012",
    "IEC 60601-2-24, IP42",
    "tab 50/1000 BID",
    "Hertel 18-101-18",
    "case of 2 beers",
    "lot of pain, 3 visits",
    "sample size 40",
    "2.16.840.1.113883.6.1",
    "$1,142.00 and $4,870.00",
    "BP 131/77, 129/75, 133/78",
]


@pytest.mark.parametrize(("type_", "marked"), [(t, m) for t, table in FOUND.items() for m in table])
def test_an_identifier_is_found_as_its_kind(type_, marked, check):
    check(marked, type_)


@pytest.mark.parametrize("text", NOBODYS)
def test_this_code_is_nobodys(text, check):
    check(text)


def test_a_number_that_is_never_issued_is_found_behind_its_label(check):
    check("SSN: ⟦987-65-4321⟧", "SSN_OR_TAXPAYER")
    check("SSN: ⟦000-00-0000⟧", "SSN_OR_TAXPAYER")
    check("NPI ⟦1111111111⟧", "LICENSE_NUMBER")
    check("routing ⟦999999999⟧", "BANK_ROUTING")
    check("VIN ⟦11111111111111111⟧", "VEHICLE_IDENTIFIER_US")
