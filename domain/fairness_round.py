"""A round dealt again from its revealed secret, and followed along the public log.

Everything hidden is known here: whatever card the log shows, it must be the one that the secret says.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import UNSET, Struct, UnsetType

from domain import shown as v
from domain.cards import Card, in_deck_order
from domain.fairness_deal import Luck, deal_again
from domain.fairness_report import Code
from domain.luck import below, shuffled
from domain.meld import Placed
from domain.scoring import hand_points


class Differs(Exception):
    """The log shows something else than the secret says."""

    def __init__(self, code: Code, detail: str) -> None:
        super().__init__(code)
        self.code: Code = code
        self.detail = detail


class Lying(Struct, frozen=True):
    """A card on the pile and who put it there, None for the upcard."""

    card: Card
    by: int | None


class _Renewed(Struct, frozen=True):
    """A renewal that the next draw must have needed."""

    stock_before: int
    kept: int


class RoundAgain:
    """The table as the secret and the log say; `compared` counts the shown cards that were the same."""

    def __init__(self, luck: Luck) -> None:
        dealt = deal_again(luck)
        self.luck = luck
        self.rules = luck.setting.rules
        self.out = set(luck.setting.out)
        self.dealer = dealt.dealer
        self.forehand = dealt.order[0]
        self.hands = [list(hand) for hand in dealt.hands]
        self.stock = list(dealt.stock)
        self.pile = [] if dealt.upcard is None else [Lying(dealt.upcard, None)]
        self.melds: dict[str, tuple[Placed, ...]] = {}
        self.down: set[int] = set()
        self.turn: int | None = None
        self.renewals = self.picks = self.compared = 0
        self.renewed: _Renewed | None = None
        self.went_out: int | None = None

    def compare_deal(self, data: v.RoundDealtData, viewer: int | None) -> None:
        """Compares the deal; `viewer` is whose hand the log shows, None where that is not known."""
        _same("dealer_differs", "the dealer", data.dealer, self.dealer)
        _same("hand_counts_differ", "the hands' sizes", data.hand_counts, tuple(map(len, self.hands)))
        self._same_card(data.discard_top, self._top(), "upcard")
        self._same_stock_count(data.stock_count)
        if isinstance(data.hand, tuple):
            own = self.hands if viewer is None else [self.hands[viewer]]
            if not any(Counter(data.hand) == Counter(hand) for hand in own):
                raise Differs("hand_differs", f"the hand {' '.join(data.hand)} was not dealt to this seat")
            self.compared += len(data.hand)

    def follow(self, seat: int | None, data: v.VisibleData) -> None:
        """Goes on by one event; raises Differs where it is not as the secret says."""
        match data:
            case v.SeatChangedData(reason="out"):
                self.out.add(self._seat(seat))
            case v.TurnBeganData():
                self._turn_began(self._seat(seat), data)
            case v.CardDrawnData():
                self._card_drawn(self._in_turn(seat), data)
            case v.DrawSkippedData():
                self._in_turn(seat)
                self._from_stock(asked=1, shown=0)
            case v.BuyRequestedData(card) | v.DiscardOpenedData(card):
                self._same_card(card, self._top(), "top of the pile")
            case v.CardBoughtData():
                self._card_bought(self._seat(seat), data)
            case v.ShanghaiCalledData():
                self._called(self._seat(seat), data)
            case v.FalseCalledData():
                self._falsely_called(self._seat(seat), data)
            case v.MeldsLaidData():
                self._melds_laid(self._in_turn(seat), data)
            case v.CardsLaidOffData():
                cards = [placed.card for placed in data.cards]
                self._lose(self._in_turn(seat), cards)
                self._meld_becomes(data.meld_id, data.meld, more=cards)
            case v.WildSwappedData():
                self._wild_swapped(self._seat(seat), data)
            case v.CardDiscardedData(card):
                self._lose(self._in_turn(seat), [card])
                self.pile.append(Lying(card, seat))
            case v.StockRenewedData():
                self._renew(data)
            case v.RoundEndedData():
                self._end(seat, data)
            case _:
                pass

    def compare_score(self, data: v.RoundScoredData, contracts: tuple[int, ...]) -> None:
        """Compares the points and each seat's next contract; `contracts` are those of this round."""
        _same("points_differ", "the points", data.points, tuple(map(self._points, range(len(self.hands)))))
        together = self.rules.progression == "together"
        following = tuple(contract + (together or seat in self.down) for seat, contract in enumerate(contracts))
        _same("contracts_differ", "the next contracts", data.contracts, following)

    def _points(self, seat: int) -> int:
        hand, bonus = self.hands[seat], self.rules.points.go_out_bonus
        if hand or not bonus or seat != self.went_out:
            return hand_points(tuple(hand), self.rules)
        return -bonus[min(self.luck.number, len(bonus)) - 1]

    def _turn_began(self, seat: int, data: v.TurnBeganData) -> None:
        if self.turn is None and self.forehand not in (seat, *data.skipped):
            raise Differs("not_in_turn", f"seat {seat} begins, not forehand {self.forehand}")
        self.turn = seat

    def _card_drawn(self, seat: int, data: v.CardDrawnData) -> None:
        if data.source == "discard":
            card = self._from_pile(data.card).card
        else:
            (card,) = self._from_stock(asked=1, shown=1)
            self._same_card(data.card, card)
        self.hands[seat].append(card)
        self._same_stock_count(data.stock_count)

    def _card_bought(self, seat: int, data: v.CardBoughtData) -> None:
        penalty = self.rules.buy.penalty[min(self.luck.number, len(self.rules.buy.penalty)) - 1]
        cards = self._from_stock(asked=penalty, shown=data.penalty_count, leaving=True)
        self._same_cards(data.penalty_cards, cards)
        self.hands[seat] += [self._from_pile(data.card).card, *cards]
        self._same_stock_count(data.stock_count)

    def _falsely_called(self, seat: int, data: v.FalseCalledData) -> None:
        self._same_card(data.card, self._top(), "top of the pile")
        cards = self._from_stock(asked=1, shown=data.penalty_count)
        self._same_cards(data.penalty_cards, cards)
        self.hands[seat] += cards
        self._same_stock_count(data.stock_count)

    def _called(self, seat: int, data: v.ShanghaiCalledData) -> None:
        call, culprit = self.rules.shanghai.call, self.pile[-1].by if self.pile else None
        if call == "culprit_draws":
            cards = self._picked(seat, culprit, data)
        else:
            cards = self._from_stock(asked=1, shown=data.penalty_count, leaving=True)
            goes_to = culprit if call == "taken_back" else seat if cards else None
            _same("penalty_differs", "who draws the penalty card", (data.from_seat, data.to_seat), (None, goes_to))
        if data.penalty_card is not UNSET:
            self._same_cards((data.penalty_card,), cards)
        lying = self._from_pile(data.card)
        self._meld_becomes(data.meld_id, data.meld, more=[] if data.taken_back else [lying.card])
        _same("penalty_differs", "whether the card is taken back", data.taken_back, call == "taken_back")
        if data.to_seat is not None:
            self.hands[data.to_seat] += [lying.card, *cards] if data.taken_back else cards
        self._same_stock_count(data.stock_count)

    def _picked(self, caller: int, culprit: int | None, data: v.ShanghaiCalledData) -> list[Card]:
        """Draws a card of the caller's hand for the discarder, unless there is none of either."""
        hand = in_deck_order(self.hands[caller])
        is_due = culprit is not None and culprit not in self.out and bool(hand)
        shown = (data.from_seat, data.to_seat, data.penalty_count)
        own = (caller, culprit, 1) if is_due else (None, None, 0)
        _same("penalty_differs", "who draws the penalty card", shown, own)
        if not is_due:
            return []
        self.picks += 1
        card = hand[below(self.luck(f"pick/{self.picks}"), len(hand))]
        self.hands[caller].remove(card)
        return [card]

    def _melds_laid(self, seat: int, data: v.MeldsLaidData) -> None:
        self._lose(seat, [placed.card for meld in data.melds for placed in meld.cards])
        for meld in data.melds:
            _same("meld_differs", f"the owner of meld {meld.meld_id}", meld.owner, seat)
            if meld.meld_id in self.melds:
                raise Differs("meld_differs", f"meld {meld.meld_id} lies already")
            self.melds[meld.meld_id] = meld.cards
        self.down.add(seat)

    def _wild_swapped(self, seat: int, data: v.WildSwappedData) -> None:
        self._lose(seat, [data.card])
        if data.to_hand:
            self.hands[seat].append(data.wild)
        self._meld_becomes(data.meld_id, data.meld, more=[data.card], less=[data.wild] if data.to_hand else [])

    def _meld_becomes(
        self, meld_id: str, cards: tuple[Placed, ...], *, more: Sequence[Card], less: Sequence[Card] = ()
    ) -> None:
        before = Counter(placed.card for placed in self.melds.get(meld_id, ()))
        before.update(more)
        before.subtract(less)
        if meld_id not in self.melds or before != Counter(placed.card for placed in cards):
            raise Differs("meld_differs", f"meld {meld_id} cannot lie there like this")
        self.melds[meld_id] = cards

    def _renew(self, data: v.StockRenewedData) -> None:
        """Makes the pile the stock, but for its top and a card on its way; it must be needed at once."""
        self.renewals += 1
        kept = 2 if data.discard_count == 2 else 1
        self.renewed = _Renewed(len(self.stock), kept)
        old = [lying.card for lying in self.pile[:-kept]]
        how = self.rules.stock_out.how
        self.stock += old if how == "turn_over" else shuffled(old, self.luck(f"renew/{self.renewals}"))
        self.pile = self.pile[-kept:]
        shown, own = (data.how, data.discard_count, data.stock_count), (how, len(self.pile), len(self.stock))
        _same("renewal_differs", "the renewed stock", shown, own)
        if self.renewals > self.rules.stock_out.max_renewals:
            raise Differs("renewal_differs", f"the stock is renewed for the {self.renewals}th time")

    def _from_stock(self, *, asked: int, shown: int, leaving: bool = False) -> list[Card]:
        """Draws the cards that were asked for, or as many as there are; leaving: the pile's top is on its way."""
        renewed, self.renewed = self.renewed, None
        kept = 2 if leaving else 1
        if renewed is None:
            may = self.renewals < self.rules.stock_out.max_renewals and len(self.pile) > kept
            if may and len(self.stock) < asked:
                raise Differs("renewal_differs", "the stock was not renewed when it had to be")
        elif renewed.stock_before >= asked or renewed.kept != kept:
            raise Differs("renewal_differs", f"{renewed.stock_before} cards and {renewed.kept} on the pile were kept")
        _same("card_count_differs", "the number of cards drawn", shown, min(asked, len(self.stock)))
        cards, self.stock = self.stock[:shown], self.stock[shown:]
        return cards

    def _from_pile(self, shown: Card | UnsetType) -> Lying:
        self._same_card(shown, self._top(), "top of the pile")
        if not self.pile:
            raise Differs("card_differs", "the pile is empty")
        return self.pile.pop()

    def _top(self) -> Card | None:
        return self.pile[-1].card if self.pile else None

    def _end(self, seat: int | None, data: v.RoundEndedData) -> None:
        self.went_out = seat
        for number, (shown, hand) in enumerate(zip(data.hands, self.hands, strict=False)):
            if Counter(shown) != Counter(hand):
                own = " ".join(in_deck_order(hand))
                raise Differs("hand_differs", f"seat {number} holds {own}, and not {' '.join(shown)}")
            self.compared += len(shown)
        _same("hand_differs", "the number of hands", len(data.hands), len(self.hands))
        if seat is not None and self.hands[self._seat(seat)]:
            raise Differs("hand_differs", f"seat {seat} still holds cards and cannot have gone out")

    def _lose(self, seat: int, cards: Iterable[Card]) -> None:
        for card in cards:
            if card not in self.hands[seat]:
                raise Differs("card_not_held", f"seat {seat} does not hold {card}")
            self.hands[seat].remove(card)
            self.compared += 1

    def _in_turn(self, seat: int | None) -> int:
        seat = self._seat(seat)
        _same("not_in_turn", "the seat", seat, self.turn)
        return seat

    def _seat(self, seat: int | None) -> int:
        if seat is None or not 0 <= seat < len(self.hands):
            raise Differs("not_in_turn", f"there is no seat {seat}")
        return seat

    def _same_cards(self, shown: tuple[Card, ...] | UnsetType, own: Sequence[Card]) -> None:
        if isinstance(shown, tuple):
            _same("card_differs", "the cards drawn", tuple(shown), tuple(own))
            self.compared += len(shown)

    def _same_card(self, shown: Card | UnsetType | None, own: Card | None, what: str = "card drawn") -> None:
        if shown is not UNSET:
            _same("card_differs", f"the {what}", shown, own)
            self.compared += 1

    def _same_stock_count(self, shown: int) -> None:
        _same("stock_count_differs", "the size of the stock", shown, len(self.stock))


def _same(code: Code, what: str, shown: object, own: object) -> None:
    if shown != own:
        raise Differs(code, f"{what}: shown {_text(shown)}, dealt again {_text(own)}")


def _text(value: object) -> str:
    return " ".join(map(_text, value)) if isinstance(value, tuple) else "none" if value is None else str(value)
