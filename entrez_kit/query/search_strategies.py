"""The search strategies that PubMed offers as filters: Clinical Queries and systematic reviews.

PubMed does not publish the records of these filters but their queries (PubMed User Guide, "Clinical Queries Filters";
"Search Strategy Used to Create the PubMed Systematic Reviews Filter", as of 2018). NLM may change them at any time, so
an answer with one is approximate.
"""

from typing import Final

_REVIEW_TITLES: Final = (
    *("systematic review", "systematic literature review", "systematic scoping review", "systematic narrative review"),
    *("systematic qualitative review", "systematic evidence review", "systematic quantitative review"),
    *("systematic meta-review", "systematic critical review", "systematic mixed studies review"),
    *("systematic mapping review", "systematic cochrane review", "systematic search and review"),
    "systematic integrative review",
)
_SYSTEMATIC: Final = (
    f"((({' OR '.join(f'{title}[ti]' for title in _REVIEW_TITLES)}) NOT comment[pt] "
    "NOT (protocol[ti] OR protocols[ti])) NOT medline[sb]) "
    "OR (Cochrane Database Syst Rev[ta] AND review[pt]) OR systematic review[pt]"
)

STRATEGIES: Final = {
    "systematic": _SYSTEMATIC,
    "therapy broad": (
        "(clinical[tiab] AND trial[tiab]) OR clinical trials as topic[mh] OR clinical trial[pt] OR random*[tiab] "
        "OR random allocation[mh] OR therapeutic use[sh]"
    ),
    "therapy narrow": ("randomized controlled trial[pt] OR (randomized[tiab] AND controlled[tiab] AND trial[tiab])"),
    "diagnosis broad": (
        "sensitiv*[tiab] OR sensitivity and specificity[mh] OR diagnose[tiab] OR diagnosed[tiab] OR diagnoses[tiab] "
        "OR diagnosing[tiab] OR diagnosis[tiab] OR diagnostic[tiab] OR diagnosis[mh:noexp] "
        "OR diagnostic equipment[mh:noexp] OR diagnostic errors[mh:noexp] OR diagnostic imaging[mh:noexp] "
        "OR diagnostic services[mh:noexp] OR diagnosis, differential[mh:noexp] OR diagnosis[sh:noexp]"
    ),
    "diagnosis narrow": "specificity[tiab]",
    "etiology broad": (
        "risk*[tiab] OR risk*[mh:noexp] OR risk adjustment[mh:noexp] OR risk assessment[mh:noexp] "
        "OR risk factors[mh:noexp] OR risk management[mh:noexp] OR risk taking[mh:noexp] OR cohort studies[mh] "
        "OR group[tw] OR groups[tw] OR grouped[tw]"
    ),
    "etiology narrow": (
        "(relative[tiab] AND risk*[tiab]) OR relative risk[tw] OR risks[tw] OR cohort studies[mh:noexp] "
        "OR (cohort[tiab] AND study[tiab]) OR (cohort[tiab] AND studies[tiab])"
    ),
    "prognosis broad": (
        "incidence[mh:noexp] OR mortality[mh] OR follow up studies[mh:noexp] OR prognos*[tw] OR predict*[tw] "
        "OR course*[tw]"
    ),
    "prognosis narrow": "prognos*[tiab] OR (first[tiab] AND episode[tiab]) OR cohort[tiab]",
    "clinical prediction guides broad": (
        "predict*[tiab] OR predictive value of tests[mh] OR score[tiab] OR scores[tiab] OR scoring system[tiab] "
        "OR scoring systems[tiab] OR observ*[tiab] OR observer variation[mh]"
    ),
    "clinical prediction guides narrow": "validation[tiab] OR validate[tiab]",
}
"""The query of each filter, by its normalized name."""
