"""Dealing a round again from its secret, written apart from the dealing that a table does."""

from collections.abc import Iterator

from msgspec import Struct

from domain.cards import Card, deck_list
from domain.luck import below, shuffled, words
from domain.ruleset import Ruleset

MOST_CARDS = 1_000  # more than any game is opened with: a forged file must not fill the memory


class Setting(Struct, frozen=True):
    """What a round finds at the table. dealer: of the round before; out: seats that have left for good."""

    game_id: str
    rules: Ruleset
    seats: int
    nonces: tuple[str | None, ...] = ()
    dealer: int | None = None
    out: frozenset[int] = frozenset()


class Luck(Struct, frozen=True):
    """The luck of one round, by labels."""

    setting: Setting
    number: int
    secret: bytes

    def __call__(self, label: str) -> Iterator[int]:
        """Streams the words of one use of luck."""
        return words(self.secret, self.setting.game_id, self.number, self.setting.nonces, label)


class Dealt(Struct, frozen=True):
    """A deal; `order` lists the seats in play from forehand round to the dealer, `stock[0]` is drawn next."""

    dealer: int
    order: tuple[int, ...]
    hands: tuple[tuple[Card, ...], ...]
    upcard: Card | None
    stock: tuple[Card, ...]


def can_be_dealt(rules: Ruleset, seats: int) -> bool:
    """Tells whether the rules are whole, and the deck holds the cards that they deal to so many seats."""
    size, points = rules.deck.sizes.get(seats), rules.points
    if not rules.deal.cards or not rules.buy.penalty or not points.alternatives.keys() >= set(points.use):
        return False
    if size is None or seats < 1 or min(size.packs, size.jokers) < 0 or 52 * size.packs + size.jokers > MOST_CARDS:
        return False
    extra = rules.deal.forehand_extra + rules.deal.upcard
    return seats * max(rules.deal.cards) + extra <= len(deck_list(rules.deck.kind, size.packs, size.jokers))


def deal_again(luck: Luck) -> Dealt:
    """Deals one card at a time from forehand, then forehand's extra card, then the upcard; the rest is the stock."""
    setting, deal = luck.setting, luck.setting.rules.deal
    deck, size = setting.rules.deck, setting.rules.deck.sizes[setting.seats]
    cards = list(shuffled(deck_list(deck.kind, size.packs, size.jokers), luck("deal")))
    dealer = _dealer(luck)
    order = _order_after(setting, dealer)
    each = deal.cards[min(luck.number, len(deal.cards)) - 1]
    places = [*(order * each), *order[: deal.forehand_extra]]
    hands: list[list[Card]] = [[] for _ in range(setting.seats)]
    for seat, card in zip(places, cards, strict=False):
        hands[seat].append(card)
    rest = cards[len(places) :]
    upcard = rest.pop(0) if deal.upcard else None
    return Dealt(dealer, order, tuple(map(tuple, hands)), upcard, tuple(rest))


def _dealer(luck: Luck) -> int:
    """Draws the first dealer by lot; later the deal passes one seat."""
    setting = luck.setting
    if setting.dealer is not None:
        return _order_after(setting, setting.dealer)[0]
    drawn = below(luck("dealer"), setting.seats)
    return _order_after(setting, drawn)[0] if drawn in setting.out else drawn


def _order_after(setting: Setting, seat: int) -> tuple[int, ...]:
    """Lists the seats in play, from the one after this seat in playing direction round to it."""
    step = 1 if setting.rules.direction == "clockwise" else -1
    order = [(seat + step * place) % setting.seats for place in range(1, setting.seats + 1)]
    return tuple(other for other in order if other not in setting.out)
