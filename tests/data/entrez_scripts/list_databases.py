"""List the databases, and the search fields of one."""

from Bio import Entrez

Entrez.email = "reader@example.org"

stream = Entrez.einfo()
text = stream.read()
stream.close()
print(type(text).__name__, text.startswith(b"<?xml"))

record = Entrez.read(Entrez.einfo())
print(sorted(record.keys()), list(record["DbList"]))

with Entrez.einfo(db="pubmed") as stream:
    database = Entrez.read(stream)["DbInfo"][0]
print(database["Description"], database["Count"].isdigit())
for field in database["FieldList"]:
    print("{Name}, {FullName}".format(**field))
