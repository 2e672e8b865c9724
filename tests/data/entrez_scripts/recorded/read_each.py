"""Send each request of a list, and print what its reply is read into."""

import hashlib
import json
import sys
import warnings

from Bio import Entrez, Medline

Entrez.email = "reader@example.org"

with open(sys.argv[1], encoding="utf-8") as file:
    requests = json.load(file)
for name, function, keywords in requests:
    try:
        stream = getattr(Entrez, function)(**keywords)
        kind = type(stream).__name__
        with stream, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if keywords.get("rettype") == "medline":
                value = list(Medline.parse(stream))
            elif kind == "TextIOWrapper" or keywords.get("retmode") == "json":
                value = stream.read()
            else:
                value = Entrez.read(stream, validate=False)
        text = repr(value)
        print(json.dumps([name, kind, len(text), hashlib.sha256(text.encode()).hexdigest()]))
    except (OSError, ValueError, RuntimeError) as error:
        print(json.dumps([name, "error", [kind.__name__ for kind in type(error).__mro__], str(error)]))
