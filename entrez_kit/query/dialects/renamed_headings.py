"""Headings that MeSH renamed or replaced, as old strategies print them."""

from typing import Final

_CHANGES: Final = (
    ("Heart Failure, Congestive", "Heart Failure"),
    ("Cerebrovascular Accident", "Stroke"),
    ("Cervix Neoplasms", "Uterine Cervical Neoplasms"),
    ("Kidney Failure", "Renal Insufficiency"),
    ("Kidney Failure, Acute", "Acute Kidney Injury"),
    ("Mental Retardation", "Intellectual Disability"),
    ("Randomized Controlled Trials", "Randomized Controlled Trials as Topic"),
    ("Clinical Trials", "Clinical Trials as Topic"),
    ("Controlled Clinical Trials", "Controlled Clinical Trials as Topic"),
    ("Multicenter Studies", "Multicenter Studies as Topic"),
    ("Review Literature", "Review Literature as Topic"),
    ("Guidelines", "Guidelines as Topic"),
    ("Practice Guidelines", "Practice Guidelines as Topic"),
    ("Patient Education", "Patient Education as Topic"),
    ("Hyperlipidemia", "Hyperlipidemias"),
    ("Diabetes Mellitus, Insulin-Dependent", "Diabetes Mellitus, Type 1"),
    ("Diabetes Mellitus, Non-Insulin-Dependent", "Diabetes Mellitus, Type 2"),
    ("Angioplasty, Transluminal, Percutaneous Coronary", "Angioplasty, Balloon, Coronary"),
    ("Labor, Premature", "Obstetric Labor, Premature"),
    ("Intensive Care", "Critical Care"),
    ("Affective Disorders", "Mood Disorders"),
    ("Sex Behavior", "Sexual Behavior"),
    ("Crohn's Disease", "Crohn Disease"),
    ("Substance Abuse", "Substance-Related Disorders"),
    ("Decubitus Ulcer", "Pressure Ulcer"),
    ("Eating Disorders", "Feeding and Eating Disorders"),
    ("Ovarian Failure, Premature", "Primary Ovarian Insufficiency"),
    ("Animal", "Animals"),
    ("Human", "Humans"),
)
RENAMED: Final = {old.lower(): new for old, new in _CHANGES}
"""By the former name in lower case, the present name of a heading.

The list is short; a MeSH file has all former names as entry terms. In NLM's tree file of 2017, each present name is a
heading, and no former name is.
"""
LEAVES: Final = frozenset(("humans",))
"""Headings without narrower ones, for which Cochrane prints [mh] instead of [mh:noexp]."""
