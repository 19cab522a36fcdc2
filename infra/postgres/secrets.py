"""The seeds of the chains of luck, encrypted, on Postgres."""

import os

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from infra.postgres.database import Database
from infra.sql import statements
from services.ids import uuid_of

_SQL = statements("accounts")
_FORM = b"\x01"  # AES-GCM, nonce first; another key or cipher gets another number
_NONCE_BYTES = 12


class PostgresSecrets:
    """Secrets over the table game_secret; a seed opens for its own game only.

    key: 32 bytes. Errors: cryptography's InvalidTag where the key is another one than the seed was kept with.
    """

    def __init__(self, database: Database, key: bytes) -> None:
        self._database = database
        self._cipher = AESGCM(key)

    async def keep(self, game_id: str, seed: bytes) -> None:
        nonce = os.urandom(_NONCE_BYTES)
        sealed = _FORM + nonce + self._cipher.encrypt(nonce, seed, game_id.encode())
        await self._database.fetch(_SQL["keep_secret"], uuid_of("gam", game_id), sealed)

    async def seed(self, game_id: str) -> bytes:
        rows = await self._database.fetch(_SQL["secret"], uuid_of("gam", game_id))
        if not rows:
            raise KeyError(game_id)
        sealed = rows[0]["sealed"][len(_FORM) :]
        nonce, encrypted = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        return self._cipher.decrypt(nonce, encrypted, game_id.encode())
