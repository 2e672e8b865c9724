"""The guarded download with the environment's certificates and proxies."""

import ssl
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from limiter_threads import STALLED_SECONDS
from simulated_internet import Answer, SimulatedInternet, Site, internet, make_redirect

from entrez_kit.base.errors import EntrezKitError, UpstreamError
from entrez_kit.base.settings import Settings
from entrez_kit.services.transport.download.guard import Downloaded, download

__all__ = ["internet"]

HOST = "publisher.example"
ADDRESS = "93.184.216.34"


def fetch(internet: SimulatedInternet, url: str = f"http://{HOST}/a", **options: Any) -> Downloaded:
    """Download over the given network."""
    return download(url, **{"settings": Settings(), "guard": internet.guard, "deadline_s": 5.0, **options})


def get_reason(internet: SimulatedInternet, url: str = f"http://{HOST}/a", **options: Any) -> str | None:
    """Return why a download failed."""
    with pytest.raises(EntrezKitError) as caught:
        fetch(internet, url, **options)
    return caught.value.reason


# TLS ------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the certificate of an authority of these tests, and a file with a certificate and key for HOST."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    folder = tmp_path_factory.mktemp("authority")
    now = datetime.now(UTC)

    def make_certificate(name: str, key: Any, signer: Any, issuer: str, *, is_authority: bool) -> x509.Certificate:
        def make_name(text: str) -> x509.Name:
            return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

        builder = (
            x509.CertificateBuilder()
            .subject_name(make_name(name))
            .issuer_name(make_name(issuer))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        )
        if is_authority:
            usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
            builder = builder.add_extension(usage, critical=True)
        else:
            builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        return builder.sign(signer, hashes.SHA256())

    root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root = make_certificate("An authority", root_key, root_key, "An authority", is_authority=True)
    leaf = make_certificate(HOST, key, root_key, "An authority", is_authority=False)
    encoding = serialization.Encoding.PEM
    (folder / "root.pem").write_bytes(root.public_bytes(encoding))
    (folder / "leaf.pem").write_bytes(
        leaf.public_bytes(encoding)
        + key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return folder / "root.pem", folder / "leaf.pem"


def _make_context(authority: tuple[Path, Path], asked: list[str | None]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority[1])
    context.sni_callback = lambda sock, name, around: asked.append(name)
    return context


def test_the_certificate_is_checked_against_the_name_and_not_the_address(
    internet: SimulatedInternet, monkeypatch: pytest.MonkeyPatch, authority: tuple[Path, Path]
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(authority[0]))
    requested: list[str | None] = []
    with Site({"/a": Answer()}, _make_context(authority, requested)) as site:
        internet.add(HOST, site, ADDRESS, port=443)
        internet.add("impostor.example", site, "93.184.216.37", port=443)
        found = fetch(internet, f"https://{HOST}/a")
        assert get_reason(internet, "https://impostor.example/a") == "tls"
        assert get_reason(internet, "https://93.184.216.37/a") == "tls"

    assert found.url == f"https://{HOST}/a"
    assert internet.connected[0] == (ADDRESS, 443)
    assert requested[:2] == [HOST, "impostor.example"]
    assert len(site.seen) == 1


def test_a_certificate_of_an_unknown_authority_is_refused(
    internet: SimulatedInternet, authority: tuple[Path, Path]
) -> None:
    with Site({"/a": Answer()}, _make_context(authority, [])) as site:
        internet.add(HOST, site, ADDRESS, port=443)
        assert get_reason(internet, f"https://{HOST}/a") == "tls"


def test_a_redirect_from_https_to_http_is_followed(
    internet: SimulatedInternet, monkeypatch: pytest.MonkeyPatch, authority: tuple[Path, Path]
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(authority[0]))
    with (
        Site({"/a": make_redirect(f"http://{HOST}/b")}, _make_context(authority, [])) as safe,
        Site({"/b": Answer()}) as plain,
    ):
        internet.add(HOST, safe, ADDRESS, port=443)
        internet.servers[ADDRESS, 80] = plain.port
        assert fetch(internet, f"https://{HOST}/a").url == f"http://{HOST}/b"


# Proxies --------------------------------------------------------------------------------------------------------------


def test_a_proxy_of_the_environment_is_used(internet: SimulatedInternet, monkeypatch: pytest.MonkeyPatch) -> None:
    with Site({"*": Answer()}) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://me:canary-password@127.0.0.1:{proxy.port}")
        internet.names[HOST] = [ADDRESS]
        found = fetch(internet)
        unknown_here = fetch(internet, "http://known-to-the-proxy.example/a")

    assert found.kind == unknown_here.kind == "html"
    assert [seen.path for seen in proxy.seen] == [f"http://{HOST}/a", "http://known-to-the-proxy.example/a"]
    assert proxy.seen[0].host == HOST


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/", "http://localhost/", "http://inside.example/", "http://127.1/"]
)
def test_a_proxy_is_not_used_for_private_addresses(
    internet: SimulatedInternet, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    internet.names["inside.example"] = ["10.0.0.7"]
    with Site({"*": Answer()}) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        assert get_reason(internet, url) == "forbidden_address"

    assert proxy.seen == []


def test_a_proxy_that_leads_to_a_private_address_is_not_followed(
    internet: SimulatedInternet, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Site({"*": make_redirect("http://127.0.0.1/")}) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        internet.names[HOST] = [ADDRESS]
        assert get_reason(internet) == "forbidden_address"

    assert len(proxy.seen) == 1


def test_an_error_of_a_proxy_does_not_show_its_password(
    internet: SimulatedInternet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://me:canary-password@127.0.0.1:9")
    internet.names[HOST] = [ADDRESS]
    with pytest.raises(UpstreamError) as caught:
        fetch(internet)

    assert caught.value.reason == "proxy"
    assert caught.value.__context__ is None
    assert "canary" not in str(caught.value.envelope())


@pytest.mark.long
def test_a_slowly_sent_body_through_a_proxy_does_not_extend_the_time_limit(
    internet: SimulatedInternet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drip() -> Iterator[bytes]:
        while True:
            yield b"x"

    with Site({"*": Answer(b"", 200, {"Content-Type": "text/html"}, pieces=drip, pause=0.05)}) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        internet.names[HOST] = [ADDRESS]
        started = time.monotonic()
        assert get_reason(internet, deadline_s=0.3, silence_s=5) == "too_slow"

    assert time.monotonic() - started < STALLED_SECONDS
