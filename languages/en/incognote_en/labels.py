"""English labels, titles and kinds of streets, used when a text is read. Other words and names are elsewhere.

Patterns that end in a group or `\\Z` are matched against the text before a number or a name.
"""

from __future__ import annotations

import re

_LABEL = (
    r"(?:mrn|med(?:ical)?[ ]rec(?:ord)?|ssn|social[ ]security|acc(?:oun)?t|account|member|policy|phone|tel(?:ephone)?|"
    r"fax|cell|mobile|id|no|number|record|chart|case|encounter|csn|fin|npi|dea|licen[sc]e|passport|visit|accession|"
    r"subscriber|contact)"
)
LABELED = re.compile(
    rf"(?i)(?<![^\W_]){_LABEL}(?:[ ](?:no|number|id|is))?[ ]?[:#.=]{{0,2}}[ \t#]{{0,4}}[\d() +-]{{0,24}}\Z"
)
"""The end of a text that labels the number after it, or its first digits."""
RECORD = re.compile(r"(?i)(?<![^\W_])(?:mrn|med(?:ical)?[ ]rec(?:ord)?|record|chart|acc(?:oun)?t|csn|fin)(?![a-z])")
"""The label of a record number, which may contain spaces."""
AREA = re.compile(r"(?i)(?<![a-z])(?:at|on|call|phone|ph|tel|cell|fax|number|is)[ :.]{1,2}\(?[2-9]\d\d\)?\Z")
"""The end of a line that is the first group of a telephone number."""
NAMED = re.compile(r"(?i)(?<![a-z])(?:(?:sur)?name|patient|given|first|last)(?:[ ]?:[ ]?|[ ]?\|[ ]?|:?\t)\Z")
"""The label of a cell that contains a name."""
PARAMETER = r"(?:(?:patient|pat|pt)[._-]?)?(?:(?:first|last|given|family|middle|maiden|sur|[fl])[._-]?(?:name)?|[fl]n)"
"""The pattern of a URL parameter that contains a name, without its equals sign."""
STREET = "Street|Road|Avenue|Lane|Drive|Court|Way|Place|Close|Terrace|Boulevard|Circle|St|Rd|Ave|Ln|Dr|Ct|Blvd"
"""The pattern of the last word of a street."""
STREETS = frozenset("street road avenue lane drive court way place close terrace boulevard".split())
"""Last words of street names that may be written together with the name, in lower case."""
PAGE = re.compile(
    r"\n{1,3}[^\n]{0,60}(?i:page|continued|confidential)(?![a-z])[^\n]{0,40}\n{1,3}[ \t]{0,16}-?([^\W_]+)"
)
"""The header of a page between two lines, and the first word of the next line."""
PAGE_WORDS = ("page", "Page", "PAGE", "ontinued", "CONTINUED", "onfidential", "CONFIDENTIAL")
"""A text without any of these has no such header."""
SAID_SPACE = re.compile(r"(?<=[ ._-][A-Za-z]),?[ ](?:space|new[ ]word),?[ ](?=[A-Za-z][ ._-][A-Za-z](?![A-Za-z]))")
"""A spoken space between two spelled words."""
SPACES = (" space", " new word")
"""A text without any of these has no such space."""
BEGINNINGS = frozenset("mc mac de di du la le van von fitz o d st jo del da el al ben bin ibn".split())
"""Name beginnings that may come before a capital letter within a name."""
LEADS = frozenset("pt patient mr mrs ms miss dr name hi dear for from re seen per by with and aka md rn".split())
"""Words that may be written together with the name after them, in lower case."""
TITLES = frozenset("pt patient mr mrs ms miss dr".split())
ABBREVIATIONS = frozenset("Jr Sr II III MRN SSN DOB ID PT MR DR MD RN NP PA ICU ED".split())
"""Abbreviations that may be attached to names and are not part of them."""
SHORT_ENDS = re.compile(r"(?:s|t|d|m|re|ve|ll)(?![^\W_])")
"""Word endings after an apostrophe."""
