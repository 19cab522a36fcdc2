"""Certificates of our own, and TLS in front of an engine that has none built in."""

import asyncio
import datetime as dt
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from msgspec import Struct

from tests.beside import pass_on

_ASKS_FOR_TLS = bytes.fromhex("00000008 04d2162f")  # how Postgres's clients begin


class Papers(Struct, frozen=True):
    """Files of one authority and of the server that it vouches for, by the name `localhost` only."""

    authority: Path
    certificate: Path
    key: Path


def papers(folder: Path) -> Papers:
    """Makes an authority and a server's certificate, good for an hour."""
    folder.mkdir()
    made = Papers(folder / "ca.pem", folder / "server.pem", folder / "server.key")
    of_authority, of_server = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority = _certificate("Shanghai's tests", of_authority, "Shanghai's tests", of_authority)
    server = _certificate("localhost", of_server, "Shanghai's tests", of_authority)
    made.authority.write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    made.certificate.write_bytes(server.public_bytes(serialization.Encoding.PEM))
    made.key.touch(mode=0o600)
    made.key.write_bytes(
        of_server.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return made


def _certificate(
    name: str, key: ec.EllipticCurvePrivateKey, issuer: str, issuers_key: ec.EllipticCurvePrivateKey
) -> x509.Certificate:
    now, is_authority = dt.datetime.now(dt.UTC), name == issuer
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(minutes=1))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuers_key.public_key()), critical=False)
        .sign(issuers_key, hashes.SHA256())
    )


@asynccontextmanager
async def tls_front(socket: Path, shown: Papers, *, asks_first: bool) -> AsyncIterator[int]:
    """Is a port of the loopback with TLS that leads to an engine's unix socket.

    asks_first: the client asks whether there is TLS before it begins, as Postgres's clients do.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(shown.certificate, shown.key)
    under_way: set[asyncio.Task[None]] = set()

    async def join(client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        under_way.add(task)
        with suppress(OSError, EOFError, asyncio.CancelledError):
            if asks_first:
                assert await client.readexactly(8) == _ASKS_FOR_TLS
                to_client.write(b"S")
                await to_client.start_tls(context)
            server, to_server = await asyncio.open_unix_connection(str(socket))
            ways = [asyncio.create_task(pass_on(client, to_server)), asyncio.create_task(pass_on(server, to_client))]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
                to_server.transport.abort()
        to_client.transport.abort()
        under_way.discard(task)

    listener = await asyncio.start_server(join, "127.0.0.1", 0, ssl=None if asks_first else context)
    try:
        yield int(listener.sockets[0].getsockname()[1])
    finally:
        listener.close()
        for task in list(under_way):
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
