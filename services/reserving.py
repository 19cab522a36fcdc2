"""The ids of what keyed requests make: one that is repeated makes the same thing under the same id."""

from uuid import UUID

from services.ids import new_uuid
from services.outcomes import KeyReused
from services.ports import KeyedRequest, Reservations


async def reserved_id(reservations: Reservations, request: KeyedRequest) -> UUID:
    """Gives the id that is kept for a request; a new one is kept where there is none. Errors: KeyReused."""
    return id_for(request, *await reservations.reserve(request, new_uuid()))


def id_for(request: KeyedRequest, kept: UUID, fingerprint: bytes) -> UUID:
    """Gives the id that is kept under a request's key, if it is that request's. Errors: KeyReused."""
    if fingerprint != request.fingerprint:
        raise KeyReused
    return kept
