"""What a command has written, and what a keyed append leaves behind, so that its request can be answered again."""

from services.outcomes import Outcome
from services.ports import Append, KeyedRequest, Receipt


def outcome_of(append: Append) -> Outcome:
    """Tells what the first command of an append has written: that is the caller's, others may follow from it."""
    command_id = append.events[0].command_id
    length = sum(new.command_id == command_id for new in append.events)
    return Outcome(command_id, append.after + 1, append.after + length)


def receipt_of(append: Append, request: KeyedRequest) -> Receipt:
    """Is the receipt of an append: it covers the append's first command."""
    outcome = outcome_of(append)
    return Receipt(request.fingerprint, outcome.command_id, outcome.first, outcome.last)
