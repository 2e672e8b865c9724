"""MeSH qualifiers by their two-letter codes, and the names of publication types that are typed as headings."""

from typing import Final

_CODES: Final = (
    "ab abnormalities|ad administration & dosage|ae adverse effects|ag agonists|aa analogs & derivatives|an analysis|"
    "ah anatomy & histology|ai antagonists & inhibitors|bi biosynthesis|bl blood|bs blood supply|"
    "cf cerebrospinal fluid|"
    "cs chemical synthesis|ci chemically induced|ch chemistry|cl classification|co complications|cn congenital|"
    "ct contraindications|cy cytology|df deficiency|dg diagnostic imaging|di diagnosis|du diagnostic use|"
    "dh diet therapy|dt drug therapy|de drug effects|ec economics|ed education|em embryology|en enzymology|"
    "ep epidemiology|es ethics|eh ethnology|et etiology|ge genetics|gd growth & development|hi history|im immunology|"
    "in injuries|ir innervation|is instrumentation|ip isolation & purification|lj legislation & jurisprudence|"
    "ma manpower|me metabolism|mt methods|mi microbiology|mo mortality|nu nursing|og organization & administration|"
    "ps parasitology|py pathogenicity|pa pathology|pk pharmacokinetics|pd pharmacology|ph physiology|"
    "pp physiopathology|po poisoning|pc prevention & control|px psychology|ra radiography|ri radionuclide imaging|"
    "rt radiotherapy|re radiation effects|rh rehabilitation|se secretion|st standards|"
    "sn statistics & numerical data|sd supply & distribution|su surgery|tu therapeutic use|th therapy|to toxicity|"
    "tm transmission|tr transplantation|td trends|ul ultrastructure|us ultrasonography|ur urine|ut utilization|"
    "ve veterinary|vi virology|sc secondary"
)
QUALIFIERS: Final = {entry[:2]: entry[3:] for entry in _CODES.split("|")}
"""By code, the names of MeSH qualifiers."""
MERGED: Final = {
    "radiography": "diagnostic imaging",
    "ultrasonography": "diagnostic imaging",
    "radionuclide imaging": "diagnostic imaging",
}
"""Qualifiers that MeSH deleted, and those that hold their records today."""
DELETED: Final = {
    "contraindications": "MeSH deleted this qualifier in 2018; "
    "use the headings Contraindications, Drug and Contraindications, Procedure"
}
"""Qualifiers that MeSH deleted without another one for their records, and what to use."""
NOT_LEAVES: Final = frozenset(
    (
        *("analysis", "anatomy & histology", "chemistry", "complications", "cytology", "diagnosis", "embryology"),
        *("epidemiology", "etiology", "metabolism", "microbiology", "organization & administration", "pharmacology"),
        *("physiology", "statistics & numerical data", "surgery", "therapeutic use", "therapy", "adverse effects"),
    )
)
"""Qualifiers with narrower ones."""
PUBLICATION_TYPES: Final = frozenset(
    (
        *("randomized controlled trial", "controlled clinical trial", "clinical trial", "pragmatic clinical trial"),
        *("equivalence trial", "adaptive clinical trial", "comparative study", "evaluation study", "multicenter study"),
        *("validation study", "validation studies", "observational study", "review", "systematic review"),
        *("meta-analysis", "case reports", "editorial", "letter", "comment", "practice guideline", "guideline"),
        *("clinical trial, phase i", "clinical trial, phase ii", "clinical trial, phase iii"),
        *("clinical trial, phase iv", "evaluation studies", "twin study", "news", "congress", "clinical study"),
        *("journal article", "technical report", "retracted publication", "published erratum", "consensus statement"),
    )
)
"""Publication types, in lower case; as headings they mean the type, not the subject."""
