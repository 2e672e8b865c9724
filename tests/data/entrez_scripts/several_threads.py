"""Send requests from several threads."""

from concurrent.futures import ThreadPoolExecutor

from Bio import Entrez

Entrez.email = "reader@example.org"
Entrez.api_key = "0123456789abcdef0123456789abcdef0123"

TERMS = ["crispr", "cancer", "editing", "rice", "trial", "review", "human", "mouse", "base editing", "crispr"]


def count(term):
    with Entrez.esearch(db="pubmed", term=term, retmax=2) as stream:
        record = Entrez.read(stream)
    return term, record["Count"], list(record["IdList"])


with ThreadPoolExecutor(8) as pool:
    for row in pool.map(count, TERMS):
        print(*row)
