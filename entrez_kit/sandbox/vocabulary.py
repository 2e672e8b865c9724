"""The vocabulary of generated records. MeSH terms are real; people, journals and findings are invented."""

from typing import Final, NamedTuple


class Subject(NamedTuple):
    """The phrase for a subject in a title, and its MeSH heading."""

    phrase: str
    heading: str
    ui: str


TOPICS: Final = tuple(
    Subject(*row)
    for row in (
        ("asthma", "Asthma", "D001249"),
        ("hypertension", "Hypertension", "D006973"),
        ("type 2 diabetes", "Diabetes Mellitus, Type 2", "D003924"),
        ("breast cancer", "Breast Neoplasms", "D001943"),
        ("lung cancer", "Lung Neoplasms", "D008175"),
        ("melanoma", "Melanoma", "D008545"),
        ("stroke", "Stroke", "D020521"),
        ("heart failure", "Heart Failure", "D006333"),
        ("malaria", "Malaria", "D008288"),
        ("tuberculosis", "Tuberculosis", "D014376"),
        ("hepatitis C", "Hepatitis C", "D006526"),
        ("COVID-19", "COVID-19", "D000086382"),
        ("influenza", "Influenza, Human", "D007251"),
        ("sepsis", "Sepsis", "D018805"),
        ("Alzheimer's disease", "Alzheimer Disease", "D000544"),
        ("Parkinson's disease", "Parkinson Disease", "D010300"),
        ("multiple sclerosis", "Multiple Sclerosis", "D009103"),
        ("epilepsy", "Epilepsy", "D004827"),
        ("migraine", "Migraine Disorders", "D008881"),
        ("depression", "Depression", "D003863"),
        ("schizophrenia", "Schizophrenia", "D012559"),
        ("obesity", "Obesity", "D009765"),
        ("anemia", "Anemia", "D000740"),
        ("osteoporosis", "Osteoporosis", "D010024"),
        ("psoriasis", "Psoriasis", "D011565"),
        ("rheumatoid arthritis", "Arthritis, Rheumatoid", "D001172"),
        ("Crohn's disease", "Crohn Disease", "D003424"),
        ("glaucoma", "Glaucoma", "D005901"),
    )
)

METHODS: Final = tuple(
    Subject(*row)
    for row in (
        ("CRISPR screening", "CRISPR-Cas Systems", "D064113"),
        ("Machine learning", "Machine Learning", "D000069550"),
        ("Genome-wide association", "Genome-Wide Association Study", "D055106"),
        ("Magnetic resonance imaging", "Magnetic Resonance Imaging", "D008279"),
        ("Biomarker profiling", "Biomarkers", "D015415"),
        ("Exercise training", "Exercise", "D015444"),
        ("Telephone follow-up", "Telemedicine", "D017216"),
        ("Gene expression analysis", "Gene Expression Profiling", "D020869"),
        ("Self-reported sleep", "Sleep", "D012890"),
        ("Dietary counselling", "Diet", "D004032"),
    )
)


class Population(NamedTuple):
    """The phrase for the people or animals studied in a title (with markup), and their MeSH headings."""

    phrase: str
    headings: tuple[tuple[str, str], ...]


_HUMANS: Final = ("Humans", "D006801")
POPULATIONS: Final = (
    Population("older adults", (_HUMANS, ("Aged", "D000368"))),
    Population("children", (_HUMANS, ("Child", "D002648"))),
    Population("young women", (_HUMANS, ("Female", "D005260"), ("Adult", "D000328"))),
    Population("men", (_HUMANS, ("Male", "D008297"))),
    Population("hospital patients", (_HUMANS,)),
    Population("<i>Mus musculus</i>", (("Animals", "D000818"), ("Mice", "D051379"))),
    Population("rats", (("Animals", "D000818"), ("Rats", "D051381"))),
    Population("primary care", (_HUMANS, ("Primary Health Care", "D011320"))),
)


class Design(NamedTuple):
    """The phrase for a study design in a title, and its publication types."""

    phrase: str
    types: tuple[tuple[str, str], ...]


_ARTICLE: Final = ("Journal Article", "D016428")
DESIGNS: Final = (
    Design("a cohort study", (_ARTICLE,)),
    Design("a randomized controlled trial", (_ARTICLE, ("Randomized Controlled Trial", "D016449"))),
    Design("a systematic review", (_ARTICLE, ("Systematic Review", "D000078182"))),
    Design("a review", (_ARTICLE, ("Review", "D016454"))),
    Design("a meta-analysis", (_ARTICLE, ("Meta-Analysis", "D017418"))),
    Design("a case report", (_ARTICLE, ("Case Reports", "D002363"))),
    Design("a multicenter study", (_ARTICLE, ("Multicenter Study", "D016448"))),
    Design("first results", (_ARTICLE,)),
    Design("a letter", (("Letter", "D016422"),)),
    Design("an editorial", (("Editorial", "D016421"),)),
)


class Journal(NamedTuple):
    """An invented journal."""

    title: str
    abbreviation: str
    nlm_id: str
    print_issn: str
    electronic_issn: str


JOURNALS: Final = tuple(
    Journal(title, short, f"9990{number:03}", f"9990-{number:04}", f"9991-{number:04}")
    for number, (title, short) in enumerate(
        (
            ("Journal of invented medicine", "J Invent Med"),
            ("Annals of imaginary results", "Ann Imag Results"),
            ("Sandbox clinical trials", "Sandbox Clin Trials"),
            ("Archives of loopback biology", "Arch Loopback Biol"),
            ("Pretend neurology", "Pretend Neurol"),
            ("The demonstration lancelet", "Demonstr Lancelet"),
            ("Fictional genetics", "Fict Genet"),
            ("Proceedings of the test society", "Proc Test Soc"),
            ("Placeholder oncology", "Placeholder Oncol"),
            ("Mock infection control", "Mock Infect Control"),
            ("Specimen cardiology", "Specimen Cardiol"),
            ("European journal of examples", "Eur J Examples"),
        ),
        start=1,
    )
)

_SURNAMES: Final = (
    "Abara Berg Costa Dvořák Eriksen Fujita Garza Haddad Ivanova Jansen Kimathi Lindqvist Müller Nakamura O'Brien "
    "Pereira Quispe Rossi Świątek Tanaka Ueda Vega Walsh Xu Yılmaz Zhou"
)
SURNAMES: Final = tuple(_SURNAMES.split())
FORENAMES: Final = (
    ("Ana B", "AB"),
    ("Chen", "C"),
    ("Dmitri", "D"),
    ("Elif", "E"),
    ("Fatima N", "FN"),
    ("Grace", "G"),
    ("Hugo", "H"),
    ("Jean-Pierre", "JP"),
    ("Kofi A", "KA"),
    ("Lucía", "L"),
    ("Maren", "M"),
    ("Noor", "N"),
)
GROUPS: Final = ("Sandbox Study Group", "Invented Consortium for Examples", "Loopback Trial Investigators")
PLACES: Final = (
    "Department of Examples, University of Loopback, Testville, Nowhere.",
    "Institute for Invented Research, Port Sandbox, Nowhere.",
    "Clinic for Demonstrations, Sample City, Nowhere.",
    "School of Public Fictions, Lower Mocking, Nowhere.",
)
FINDINGS: Final = (
    "The main outcome improved in both groups",
    "No difference was seen after twelve months",
    "Response was better with early treatment",
    "Levels of interleukin 6 fell by one third",
    "The effect was larger at higher doses",
    "Mortality did not change",
    "Quality of life rose slightly",
    "Two loci were associated with the outcome",
    "Adherence was poor in the control group",
    "The model predicted relapse with an area under the curve of 0.81",
    "Adverse events were rare (P<0.05)",
    "Expression of the marker was twice as high",
    "Readmissions became less frequent",
    "The association disappeared after adjustment",
    "Symptoms returned within six weeks",
    "Costs were lower than expected",
)
SAMPLES: Final = (24, 48, 60, 96, 120, 180, 240, 312, 450, 600, 840, 1024, 1500, 2300, 4100, 12000)
KEYWORDS: Final = (
    ("sandbox", "invented data"),
    ("open data", "reproducibility"),
    ("early diagnosis",),
    ("precision medicine", "screening"),
    ("patient-reported outcomes",),
    ("immune response", "inflammation"),
)
GRANTS: Final = (
    ("R01 XX000001", "XX", "NIXX NIH HHS", "United States"),
    ("U54 XX000202", "XX", "NIXX NIH HHS", "United States"),
    ("INV-2020-77", "", "Invented Research Council", "Nowhere"),
    ("LB/17/0042", "", "Loopback Foundation", "Nowhere"),
)
LANGUAGES: Final = (
    ("eng", ""),
    ("fre", "Titre inventé pour l'exemple"),
    ("ger", "Erfundener Titel zum Ausprobieren"),
    ("spa", "Título inventado como ejemplo"),
)
