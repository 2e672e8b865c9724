"""Correct a query, and find PMIDs for citations."""

from Bio import Entrez

Entrez.email = "reader@example.org"

stream = Entrez.espell(term="crisper")
record = Entrez.read(stream)
stream.close()
print(record["Query"], record["CorrectedQuery"])

citations = [
    {
        "journal_title": "Ann Imaginary Genome Ed (Demo)",
        "year": "2019",
        "volume": "3",
        "first_page": "101",
        "author_name": "Marrowby TJ",
        "key": "first",
    },
    {"journal_title": "no such journal", "year": "1900", "volume": "1", "first_page": "1", "key": "second"},
]
stream = Entrez.ecitmatch(db="pubmed", bdata=citations)
print(type(stream).__name__, stream.read().splitlines())
stream.close()
text = "Ann Imaginary Genome Ed (Demo)|2019|3|101|Marrowby TJ|again|"
print(Entrez.ecitmatch(db="pubmed", bdata=text).read().strip())
