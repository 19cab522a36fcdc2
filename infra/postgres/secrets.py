"""What stands encrypted in the database; and the seeds of the chains of luck, on Postgres."""

import os

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from infra.postgres.database import Database
from infra.sql import statements
from services.ids import uuid_of

_SQL = statements("accounts")
_FORM = b"\x01"  # AES-GCM, nonce first; another key or cipher gets another number
_NONCE_BYTES = 12


class Seal:
    """Encrypts under one key, 32 bytes; what is sealed for an owner's id opens for that id only."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)

    def close(self, secret: bytes, owner_id: str) -> bytes:
        """Encrypts a secret."""
        nonce = os.urandom(_NONCE_BYTES)
        return _FORM + nonce + self._cipher.encrypt(nonce, secret, owner_id.encode())

    def open(self, sealed: bytes, owner_id: str) -> bytes:
        """Gives the secret. Errors: cryptography's InvalidTag where it was sealed under another key or id."""
        nonce, encrypted = sealed[len(_FORM) :][:_NONCE_BYTES], sealed[len(_FORM) + _NONCE_BYTES :]
        return self._cipher.decrypt(nonce, encrypted, owner_id.encode())


class PostgresSecrets:
    """Secrets over the table game_secret; a seed opens for its own game only.

    key: 32 bytes. Errors: cryptography's InvalidTag where the key is another one than the seed was kept with.
    """

    def __init__(self, database: Database, key: bytes) -> None:
        self._database = database
        self._seal = Seal(key)

    async def keep(self, game_id: str, seed: bytes) -> None:
        await self._database.write(
            _SQL["keep_secret"], uuid_of("gam", game_id), self._seal.close(seed, game_id), again=True
        )

    async def seed(self, game_id: str) -> bytes:
        rows = await self._database.fetch(_SQL["secret"], uuid_of("gam", game_id))
        if not rows:
            raise KeyError(game_id)
        return self._seal.open(rows[0]["sealed"], game_id)
