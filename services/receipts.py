"""What a keyed append leaves behind, so that its request can be answered again."""

from services.ports import Append, KeyedRequest, Receipt


def receipt_of(append: Append, request: KeyedRequest) -> Receipt:
    """Is the receipt of an append: it covers the append's first command."""
    command_id = append.events[0].command_id
    length = sum(new.command_id == command_id for new in append.events)
    return Receipt(request.fingerprint, command_id, append.after + 1, append.after + length)
