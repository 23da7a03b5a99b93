"""Postal addresses from many countries are found whole. Near misses are ignored."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote.detectors.rules.view import View
from incognote.nouns import Text
from incognote_en.rules import places

ADDRESSES = r"""
She lives at ⟦123 Main St, Apt 4, Palo Alto, CA 94301⟧ with her sister.
Seen today at home, ⟦14 Mill Lane, Ballybofey, Co. Donegal⟧.
Address: ⟦Flat 3B, Sai Apts, MG Road, Pune 411001⟧
Letter sent to ⟦PO Box 731, Rutherford Mills, TN 38111⟧ today.
Lives on ⟦RR 3 Box 117, Milford, IA 51351⟧.
Wohnhaft ⟦Hauptstr. 12, 80331 München⟧
Domicile: ⟦12 rue de la Paix, 75002 Paris⟧
Mother Carmen Rivera, ⟦Calle Marina 41, Ponce, PR 00730⟧.
Brother Luis Ortega, ⟦Avenida Central 12⟧.
Domicilio: ⟦Calle Mayor 5, 3º B, 28013 Madrid⟧
Alamat: ⟦No. 12, Jalan Ampang, 50450 Kuala Lumpur⟧
Address ⟦23 Lorong Maarof, Bangsar, 59000 Kuala Lumpur⟧
Lives at ⟦Plot 14, Off Awolowo Road, Ikeja, Lagos⟧
Home: ⟦1420 NW 5th Ave, Portland, OR 97209⟧.
Home address: ⟦742 Evergreen Terrace\nSpringfield, IL 62704⟧\nPhone: 217-555-0111
ADDRESS: ⟦55 W OAK STREET, UNIT 7, BATON ROUGE, LA 70801⟧
PATIENT LIVES AT ⟦1200 MEADOWLARK DRIVE, CHEYENNE, WY 82001⟧ WITH SPOUSE.
he lives at ⟦412 elm street toledo ohio⟧ with his dog
The house at ⟦88 Birchwood Road⟧ burned down.
Mail to ⟦Suite 210, 4500 Commerce Pkwy, Plano, TX 75093⟧.
12 Oct. ⟦221B Baker Street, London NW1 6XE⟧
Lives in ⟦The Cottage, 4 High Street, Aylsham, Norfolk NR11 6BG⟧.
⟦45 King St W, Suite 900, Toronto, ON M5H 1J8⟧
⟦12/45 Chapel Street, St Kilda VIC 3182⟧
⟦17 Kauri Grove, Titirangi, Auckland 0604⟧
⟦Unit 5, 23 Long Street, Cape Town, 8001⟧
⟦House No. 45, Sector 15-A, Chandigarh 160015⟧
⟦Plot No. 23, Jubilee Hills, Road No. 36, Hyderabad, Telangana 500033⟧
R/o: ⟦H.No. 4-56, Gandhi Nagar, Warangal Dist⟧
⟦Blk 123 Ang Mo Kio Ave 3 #05-123 Singapore 560123⟧
⟦Kg. Sungai Rusa, 11000 Balik Pulau, Pulau Pinang⟧
⟦15 Ademola Adetokunbo Crescent, Wuse II, Abuja⟧
⟦P.O. Box 30197-00100, Nairobi⟧
⟦Via Garibaldi 22, 20121 Milano⟧
⟦Av. Paulista 1578, Bela Vista, São Paulo - SP, 01310-200⟧
⟦Rua das Flores 45, 4050-262 Porto⟧
⟦ul. Marszałkowska 12/4, 00-590 Warszawa⟧
⟦Keizersgracht 324, 1016 EZ Amsterdam⟧
⟦Bahnhofstrasse 5, 8001 Zürich⟧
⟦2-4-1 Nishi-Shinjuku, Shinjuku-ku, Tokyo 163-8001⟧
⟦Unit 12B, Tower 3, The Belcher's, 89 Pok Fu Lam Road, Hong Kong⟧
⟦#24, 3rd Cross, 5th Main, Koramangala, Bangalore - 560034⟧
⟦House 12, Road 5, Dhanmondi, Dhaka 1205⟧
⟦123 Rizal Avenue, Brgy. San Roque, Quezon City⟧
⟦Calle 10 # 5-51, Bogotá⟧
New address: ⟦31 Alder Court, Beloit, WI 53511⟧, Portia got a job there.
Home: ⟦9 Oak Rd, Salem, MA 01970⟧, Webb lives there too.
Lives at ⟦14 Elm St, Dover, NH 03820, USA⟧ now.
Next of kin lives next door at ⟦16 Mill Lane⟧.
Moved from ⟦9 Gardener's Row, Flat 2⟧ last year.
Police report: struck at ⟦Interstate 95⟧ near ⟦Fredericksburg⟧.
She was hit by a car on ⟦Maple Avenue⟧ yesterday.
Rx to ⟦350 5th Avenue, 34th Floor, New York, NY 10118⟧
Address on file: ⟦3301 S. Greenfield Rd., Apt. #214, Gilbert, AZ 85297-1234⟧
Lives: ⟦1805 County Road 120, Ft. Davis, Texas 79734⟧
The patient resides at ⟦2847 Willow Creek Drive, Austin, Texas 78701⟧ and
Resides at ⟦45-12 Queens Boulevard, Sunnyside NY⟧.
mailing address ⟦p.o. box 12, ashland, or 97520⟧
⟦Level 3, 55 Collins Street, Melbourne VIC 3000⟧
⟦1 Dr Carlson Way, Windhoek⟧
Mail to ⟦RR 2, Pembroke, ON K8A 6W3⟧
⟦The Old Rectory, Church Lane, Little Snoring, Norfolk⟧
Moved to ⟦403 Quarry Drive⟧ last year.
EMS found him at ⟦12 Elm Circle⟧ with a cold stove.
⟦8 Weaver Court⟧ has three flights of stairs.
""".strip().splitlines()

NO_ADDRESSES = r"""
Give 500 mg at 12 St John wort daily.
BP 120/80 Dr Smith saw patient.
84% on 4 L. RR 38, HR 128, T 37.7.
BP 98/60, HR 122, RR 30, SpO2 88% RA
2 view CT abdomen.
Patient seen in 3 weeks by Dr Jones, clinic.
PATIENT SEEN 2 WEEKS AGO DR SMITH AND CT PERFORMED
Step 2 drive: see road map.
No. 5 French catheter placed in the right IJ.
Ward 4 bed 12 at 10:30.
He walked 2 blocks down the street to the park.
T4N1M0 disease, stage IIIB.
Vitamin B12 5MG daily and B6 2MG.
Room air sat 98. Unit 2 of PRBC given.
L4 5 disc, C5 6 facet.
IP address: unknown. Email address declined.
Address patient concerns about pain control.
Location: left lower quadrant.
Location: L4-L5, right paracentral
Grade 3 place holder. Level 2 trauma.
Plan: 1. Address constipation. 2. Continue meds
The way 2 close friends drive. Point of care 5.
Type 2 DM, Stage 3 CKD, Class III NYHA.
Pin site 3 clean. Site 12 of Block 5 pathology.
Fall on street yesterday, found at road side.
Injection in OR 12345 completed.
CPT 99213 ICD M54.16, ME 45 MA 25.
Underwent 3 Vessel Bypass in the past.
Had 2 Head CT and 1 Lateral View with contrast.
Filed 1 Bowel Loop with clips. 6 Minute Walk today.
""".strip().splitlines()


@pytest.mark.parametrize("line", ADDRESSES)
def test_an_address_is_found_whole_and_nothing_else(line: str, check: Callable[..., None]) -> None:
    check(line.replace("\\n", "\n"), find=places.find, edges=False)


@pytest.mark.parametrize("text", NO_ADDRESSES)
def test_clinical_numbers_and_words_are_no_address(text: str, check: Callable[..., None]) -> None:
    check(text, find=places.find)


def test_a_full_address_is_one_span() -> None:
    text = "She lives at 123 Main St, Apt 4, Palo Alto, CA 94301 with her sister."
    (candidate,) = places.find(View(Text(text)))
    assert text[candidate.start : candidate.end] == "123 Main St, Apt 4, Palo Alto, CA 94301"
    assert candidate.type == "ADDRESS"
