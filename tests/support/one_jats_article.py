"""The only article of a JATS document, for the tests of the reader."""

from entrez_kit.fulltext.fulltext_articles import ENDPOINT
from entrez_kit.fulltext.jats.article import JatsArticle, iter_jats
from entrez_kit.services.small_replies import malformed_error


def parse_jats(content: bytes) -> JatsArticle:
    """Return the one article of a document, or the first of several.

    Raises:
        UpstreamError: not well-formed, or it contains zero articles.
    """
    article = next((item for item in iter_jats(content) if isinstance(item, JatsArticle)), None)
    if article is None:
        raise malformed_error(ENDPOINT, "no article in it")
    return article
