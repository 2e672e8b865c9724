"""PmcOpenData: the articles in PMC's open-data bucket, as XML.

A bucket has no search, so the client lists the versions of an article by prefix. The key of the XML of the latest
version follows from its name; if there is no such file, the record of the version has the key.
"""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

from entrez_kit.base.errors import EntityNotFound, UpstreamError
from entrez_kit.base.frontend_text import BASE_ADDRESS
from entrez_kit.base.identifiers import no_pmcid_error
from entrez_kit.base.settings import PMC_OA_URL
from entrez_kit.services.known_shapes import JsonShape, XmlShape, log_drift, require_texts
from entrez_kit.services.transport import DAY, TTL, Expect, Reply, T, accept_any
from entrez_kit.services.transport.client import ServiceClient

BUCKET: Final = "pmc-oa-opendata"
ROOTS: Final = frozenset({"article", "pmc-articleset"})

_PMCID: Final = re.compile(r"(?:PMC)?([0-9]{1,12})(?:\.[0-9]+)?", re.IGNORECASE)
_KEY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,500}")


LISTING: Final = XmlShape(
    "PMC's list of versions",
    undeclared="ListBucketResult Name Prefix KeyCount MaxKeys Delimiter IsTruncated CommonPrefixes Contents Key"
    " LastModified ETag Size StorageClass Marker NextMarker StartAfter ContinuationToken NextContinuationToken"
    " EncodingType Owner ID DisplayName ChecksumAlgorithm ChecksumType",
    required={"ListBucketResult": "Prefix"},
)
RECORD: Final = JsonShape(
    "PMC's record of a version",
    {
        **require_texts("pmcid doi title citation license_code xml_url text_url pdf_url mid"),
        "version": (int, str),
        "pmid": (int, str),
        **dict.fromkeys(("is_pmc_openaccess", "is_manuscript", "is_historical_ocr", "is_retracted"), bool),
        "media_urls": object,
    },
    required="pmcid xml_url",
)


class PmcOpenData(ServiceClient):
    """Fetch articles from PMC's open-data bucket.

    Every method raises ``UpstreamError`` if no attempt got a valid reply, and ``RateLimited`` if no slot is free before
    the deadline.
    """

    _SERVICE = "pmc_oa"

    def fetch_article(
        self,
        pmcid: str,
        version: str | None = None,
        *,
        read: Callable[[bytes], T] = bytes,  # type: ignore[assignment]  # without a reader the value is bytes
        keep: Callable[[T], bool] = accept_any,
    ) -> Reply[T]:
        """Return an article as JATS XML.

        Args:
            version: its version, in the form that ``find_latest_version`` returns; by default the latest.
            read: parses the reply before it is accepted.
            keep: returns whether a reply with this value may be cached.

        Raises:
            EntityNotFound: the bucket does not have the article, or not as XML.
            InvalidInput: the text is not a PMCID.
        """
        name = version or self.find_latest_version(pmcid)
        usual = f"{name}/{name}.xml"
        expect = Expect("xml", ROOTS, read=read, keep=keep)
        with suppress(EntityNotFound):
            return self._request_path("xml", quote(usual), expect, ttl=TTL["pmc_oa"])
        key = self._find_key(name)
        if key != usual:
            with suppress(EntityNotFound):
                return self._request_path("xml", quote(key), expect, ttl=TTL["pmc_oa"])
        raise _unusable_error("xml", f"PMC's open-data bucket does not have the file that the record of {name} names")

    def find_latest_version(self, pmcid: str) -> str:
        """Return the name of the latest version of an article, such as ``PMC9984800.1``.

        Raises:
            EntityNotFound: the bucket does not have the article.
            InvalidInput: the text is not a PMCID.
        """
        match = _PMCID.fullmatch(pmcid.strip())
        number = match[1].lstrip("0") if match else ""
        if not number:
            raise no_pmcid_error(pmcid)
        full_id = f"PMC{number}"
        params = (("list-type", "2"), ("prefix", f"{full_id}."), ("delimiter", "/"))
        pattern = rf"<(?:Prefix|Key)>\s*{full_id}\.([0-9]{{1,4}})/"

        def read(content: bytes) -> list[int]:
            log_drift(LISTING, content)
            return sorted({int(match) for match in re.findall(pattern.encode(), content)})

        expect = Expect("xml", frozenset({"ListBucketResult"}), wanted=1, record=pattern, read=read)
        try:
            versions = self._request_path("list", "", expect, params=params, ttl=DAY).value
        except EntityNotFound as exc:
            raise UpstreamError(
                "ENTREZ_KIT_PMC_OA_URL is not the address of a bucket",
                recovery_hint=BASE_ADDRESS,
                details={**exc.details, "reason": "no_such_address"},
            ) from None
        if not versions:
            raise EntityNotFound(
                f"PMC's open-data bucket does not have {full_id}",
                invalid_input=full_id,
                recovery_hint="The bucket has only open-access articles and author manuscripts.",
                details={"reason": "not_in_bucket", "service": "pmc_oa"},
            )
        return f"{full_id}.{versions[-1]}"

    def _find_key(self, name: str) -> str:
        """Return the key of a version's XML, from its record."""
        record: dict[str, Any] | None = None
        for key in (f"metadata/{name}.json", f"{name}/{name}.json"):
            expect = Expect("json", frozenset({"xml_url", "text_url", "pdf_url", "pmcid"}), read=json.loads)
            try:
                record = self._request_path("record", key, expect, ttl=TTL["pmc_oa"]).value
                log_drift(RECORD, record)
                break
            except EntityNotFound:
                continue
        if record is None:
            raise _unusable_error("record", f"PMC's open-data bucket lists {name} but has no record of it")
        address = record.get("xml_url")
        if not isinstance(address, str) or not address.strip():
            raise EntityNotFound(
                f"PMC's open-data bucket does not have {name} as XML",
                invalid_input=name,
                details={"reason": "no_xml", "service": "pmc_oa"},
            )
        return self._parse_key(address.strip(), name)

    def _parse_key(self, address: str, name: str) -> str:
        """Return the key of an address in the bucket.

        Raises:
            UpstreamError: the address is outside of the bucket.
        """
        parts = urlsplit(address)
        key: str | None = None
        if parts.scheme == "s3" and parts.netloc == BUCKET:
            key = parts.path
        elif parts.scheme in ("http", "https"):
            for base in (self._base, PMC_OA_URL, f"https://s3.amazonaws.com/{BUCKET}"):
                bare = address.partition("?")[0]
                if bare.startswith(f"{base}/"):
                    key = bare.removeprefix(base)
                    break
        elif not parts.scheme and not parts.netloc:
            key = parts.path
        key = unquote(key or "").lstrip("/")
        if not _KEY.fullmatch(key) or {"", ".", ".."} & set(key.split("/")):
            raise _unusable_error("record", f"The record of {name} names a file outside of PMC's open-data bucket")
        return key


def _unusable_error(endpoint: str, message: str) -> UpstreamError:
    details = {"reason": "invalid_response", "service": "pmc_oa", "endpoint": endpoint}
    return UpstreamError(message, details=details)
