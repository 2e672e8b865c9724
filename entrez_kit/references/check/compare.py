"""The one comparison of a reference with a record: ``check`` and ``match`` judge by it."""

from entrez_kit.pubmed.models import Article
from entrez_kit.references.check.compare_fields import Agreement, compare_fields
from entrez_kit.references.check.compare_text import compare_text
from entrez_kit.references.files.references import Reference


def compare(reference: Reference, article: Article, *, any_author: bool = False) -> Agreement:
    """Compare a reference with a record.

    Args:
        reference: the reference, with fields or written out as text.
        article: the record.
        any_author: whether the one author that is given may be any of the record's.
    """
    if reference.text is not None:
        return compare_text(reference, article)
    return compare_fields(reference, article, any_author=any_author)
