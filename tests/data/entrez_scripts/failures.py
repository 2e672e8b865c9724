"""Handle what can go wrong."""

from urllib.error import HTTPError, URLError

from Bio import Entrez, StreamModeError

Entrez.email = "reader@example.org"
Entrez.sleep_between_tries = 0

try:
    Entrez.efetch(db="nosuchdatabase", id="1")
except HTTPError as error:
    print("database", error.code, error.reason, len(error.read()) > 0)
try:
    Entrez.read(Entrez.esummary(db="pubmed", id="99999999"))
except RuntimeError as error:
    print("id", error)
record = Entrez.read(Entrez.esummary(db="pubmed", id="99000001,99999999,99000004"), ignore_errors=True)
print([one.tag for one in record], str(record[1]))
try:
    Entrez.read(Entrez.efetch(db="pubmed", id="99000001", rettype="medline", retmode="text"))
except StreamModeError as error:
    print("text", type(error).__name__)
try:
    Entrez.read(Entrez.esearch(db="pubmed", term=""))
except RuntimeError as error:
    print("query", error)
try:
    Entrez.efetch(db="pubmed", webenv="MCID_none", query_key="1", rettype="medline", retmode="text").read()
except URLError as error:
    print("history refused")
try:
    Entrez.esearch("pubmed")
except TypeError as error:
    print("argument", error)
stream = Entrez.einfo()
stream.close()
try:
    Entrez.read(stream)
except ValueError as error:
    print("closed", error)
