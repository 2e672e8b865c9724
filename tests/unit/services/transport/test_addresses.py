"""Allowed and forbidden addresses."""

import ipaddress
import threading
import time

import pytest

from entrez_kit.base.settings import Settings
from entrez_kit.services.transport.download.addresses import (
    AddressGuard,
    Refused,
    RequestTarget,
    is_public,
    parse_target,
)

PUBLIC = ["93.184.216.34", "8.8.8.8", "2606:2800:220:1:248:1893:25c8:1946", "64:ff9b::808:808", "1.1.1.1"]
INSIDE = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.7",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:93.184.216.34",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:0:7f00:1::",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "2606:2800:220:1:0:5efe:7f00:1",
    "3fff::1",
    "fc00::1",
    "fd00:ec2::254",
    "fd20:ce::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", INSIDE)
def test_private_addresses_are_refused(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", INSIDE)
def test_neither_a_private_address_nor_a_name_that_resolves_to_it_is_allowed(address: str) -> None:
    host = f"[{address}]" if ":" in address else address
    guard = AddressGuard(resolver=lambda name, port: [address])

    for url in (f"http://{host}/", "http://publisher.example/"):
        with pytest.raises(Refused) as caught:
            guard.resolve_allowed(parse_target(url), 5)
        assert caught.value.reason == "forbidden_address"


@pytest.mark.parametrize(
    "host",
    [
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "017700000001",
        "0177.0.0.1",
        "127.1",
        "127.0.1",
        "0",
        "0x0",
        "1.2.3.4.5",
        "300.1.1.1",
        "010.0.0.1",
        "１２７.0.0.1",
        "127。0。0。1",
        "①②⑦.0.0.1",
        "127.0.0.1.",
        "foo.0x7f",
    ],
)
def test_an_address_in_an_unusual_spelling_is_not_a_host(host: str) -> None:
    requested: list[str] = []

    def resolver(name: str, port: int) -> list[str]:
        requested.append(name)
        return ["93.184.216.34"]

    with pytest.raises(Refused):
        AddressGuard(resolver=resolver).resolve_allowed(parse_target(f"http://{host}/"), 5)

    assert not requested


@pytest.mark.parametrize(
    "host",
    ["localhost", "a.localhost", "LOCALHOST", "localhost.", "intranet", "printer.local", "metadata.google.internal"],
)
def test_names_of_private_networks_are_refused_before_they_are_resolved(host: str) -> None:
    guard = AddressGuard(resolver=lambda name, port: pytest.fail("it was resolved"))

    with pytest.raises(Refused, match="not a public name"):
        guard.resolve_allowed(parse_target(f"https://{host}/"), 5)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("file:///etc/passwd", "bad_scheme"),
        ("ftp://publisher.example/a", "bad_scheme"),
        ("gopher://publisher.example/", "bad_scheme"),
        ("data:text/html,hello", "bad_scheme"),
        ("javascript:alert(1)", "bad_scheme"),
        ("//publisher.example/a", "bad_scheme"),
        ("publisher.example/a", "bad_scheme"),
        ("http:///etc/passwd", "bad_address"),
        ("http://", "bad_address"),
        ("", "bad_address"),
        ("http://user@publisher.example/", "bad_address"),
        ("http://user:secret@publisher.example/", "bad_address"),
        ("http://publisher.example@127.0.0.1/", "bad_address"),
        ("http://publisher.example:port/", "bad_address"),
        ("http://publisher.example:99999/", "bad_address"),
        ("http://[::1", "bad_address"),
        ("http://[fe80::1%25eth0]/", "bad_address"),
        ("http://publisher.example\\@127.0.0.1/", "bad_address"),
        ("http://publisher.example/\r\nX: y", "bad_address"),
        ("http://a..example/", "bad_address"),
        ("http://-a.example/", "bad_address"),
        (f"http://{'a' * 64}.example/", "bad_address"),
        ("http://publisher.example/" + "a" * 9000, "bad_address"),
    ],
)
def test_an_invalid_address_of_a_page_is_refused(url: str, reason: str) -> None:
    with pytest.raises(Refused) as caught:
        parse_target(url)

    assert caught.value.reason == reason
    assert "secret" not in caught.value.message


@pytest.mark.parametrize("port", [22, 25, 8080, 6379, 65535, 0])
def test_only_the_ports_of_the_web_are_allowed(port: int) -> None:
    with pytest.raises(Refused, match="port"):
        AddressGuard().check_target(parse_target(f"http://publisher.example:{port}/"))


def test_a_name_with_one_private_address_is_refused() -> None:
    guard = AddressGuard(resolver=lambda name, port: ["93.184.216.34", "10.0.0.7"])

    with pytest.raises(Refused, match="not public"):
        guard.resolve_allowed(parse_target("https://publisher.example/"), 5)


def test_every_address_of_a_public_name_may_be_used() -> None:
    guard = AddressGuard(resolver=lambda name, port: ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"])

    found = guard.resolve_allowed(parse_target("https://publisher.example/"), 5)

    assert found == ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"]


def test_a_lookup_that_never_ends_is_abandoned() -> None:
    release = threading.Event()

    def resolver(name: str, port: int) -> list[str]:
        release.wait(30)
        return ["93.184.216.34"]

    guard = AddressGuard(resolver=resolver)
    started = time.monotonic()

    with pytest.raises(TimeoutError):
        guard.resolve_allowed(parse_target("https://publisher.example/"), 0.2)

    assert time.monotonic() - started < 10
    release.set()


def test_an_address_has_the_same_meaning_in_its_encoded_form() -> None:
    place = parse_target(" HTTPS://Bücher.Example.:443/a b/ü?q=1&x=a b#part ")

    assert place == RequestTarget("https", "xn--bcher-kva.example", 443, "/a%20b/%C3%BC", "q=1&x=a%20b")
    assert place.authority == "xn--bcher-kva.example"
    assert place.url == "https://xn--bcher-kva.example/a%20b/%C3%BC?q=1&x=a%20b"


def test_a_relative_address_is_resolved_against_its_page() -> None:
    base = parse_target("https://publisher.example/a/b?x=1")

    assert parse_target("../c", base).url == "https://publisher.example/c"
    assert parse_target("?y=2", base).url == "https://publisher.example/a/b?y=2"
    assert parse_target("//other.example/d", base).url == "https://other.example/d"
    assert parse_target("http://127.0.0.1/", base).host == "127.0.0.1"


def test_parameters_that_look_like_keys_are_removed() -> None:
    place = parse_target(
        "https://bucket.example/a.pdf?id=7&X-Amz-Signature=abc&Expires=1&token=t&access_token=u&email=me%40x.org&page=2"
    )

    assert place.public_url == "https://bucket.example/a.pdf?id=7&page=2"
    assert place.shown == "https://bucket.example/a.pdf"


def test_addresses_on_this_machine_are_allowed_only_if_a_service_is_configured_there() -> None:
    requested = parse_target("http://127.0.0.1:4321/publisher/1.pdf")

    with pytest.raises(Refused):
        AddressGuard.of(Settings()).check_target(requested)
    home = AddressGuard.of(Settings().use_sandbox("http://127.0.0.1:4321"))
    assert home.resolve_allowed(requested, 5) == ["127.0.0.1"]
    for other in ("http://127.0.0.1:4322/", "http://127.0.0.2:4321/", "https://127.0.0.1:4321/", "http://[::1]:4321/"):
        with pytest.raises(Refused):
            home.check_target(parse_target(other))
    with pytest.raises(Refused):
        AddressGuard.of(Settings(demo=True)).check_target(requested)
    with pytest.raises(Refused):
        AddressGuard.of(Settings(eutils_url="http://127.0.0.1:4321/entrez/eutils")).check_target(requested)


def test_a_configured_local_service_must_resolve_to_this_machine() -> None:
    settings = Settings(unpaywall_url="http://localhost:4321/unpaywall")
    guard = AddressGuard.of(settings)
    strange = AddressGuard(home=guard.home, resolver=lambda name, port: ["10.0.0.1"])

    assert guard.is_home(parse_target("http://localhost:4321/a"))
    with pytest.raises(Refused):
        strange.resolve_allowed(parse_target("http://localhost:4321/a"), 5)
