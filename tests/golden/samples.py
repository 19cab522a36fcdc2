"""One stored event of every type, with every field filled in."""

from domain import events as e
from domain.commands import Pace
from domain.events import Event
from domain.meld import Meld, Placed
from domain.presets import preset
from domain.ruleset import Part

_SIX = (Placed("5H"), Placed("JK", "6H"), Placed("7H"), Placed("8H"))
_SECRET = "ab" * 32
_NONCE = "00112233445566778899aabbccddeeff"

SAMPLES: tuple[Event, ...] = (
    e.GameOpened(
        "gam_1",
        preset("black-twos"),
        Pace(5, 60, 700, "full"),
        _SECRET,
        2,
        "ply_anna",
        "private",
        "none",
        hints=False,
        rematch_of="gam_0",
        invited=("ply_boris",),
        spectator_delay_s=30,
    ),
    e.SeatChanged(1, "human", "ply_boris", None, "taken", _SECRET),
    e.NoncesAsked((None, _SECRET)),
    e.NonceRevealed(1, _NONCE),
    e.NoncesDropped((1,)),
    e.GameStarted((None, _NONCE)),
    e.RoundDealt(
        1, ((Part("set", 3),), (Part("run", 4),)), 1, _SECRET, (("7H", "JK"), ("2C", "2C")), "9D", ("AS", "KD")
    ),
    e.TurnBegan(0, "draw", discard_open=True, claimants=(1,), skipped=(1,)),
    e.CardDrawn(0, "stock", "AS", 1),
    e.DrawDeclined(0),
    e.DrawSkipped(0),
    e.BuyRequested(1, "9D"),
    e.Passed(1, rest_of_round=True),
    e.CardBought(1, "9D", ("KD",), 0),
    e.ClaimsClosed("answered"),
    e.DiscardOpened("9D", (1,)),
    e.ShanghaiCalled(1, "m1", "9H", "high", 1, 0, "2C", 7, (*_SIX, Placed("9H")), as_="9H", taken_back=True),
    e.FalseCalled(1, "m1", "9D", ("KD",), 0),
    e.MeldsLaid(0, (Meld("m1", 0, "run", _SIX),)),
    e.CardsLaidOff(0, "m1", (Placed("9H"),), "high", (*_SIX, Placed("9H"))),
    e.WildSwapped(1, "m1", "JK", as_="6H", card="6H", meld=_SIX, to_hand=True, owed=True),
    e.SwapOffered(1),
    e.SwapDeclined(1),
    e.CardDiscarded(0, "X", declared=True, skip=1),
    e.TurnEnded(0),
    e.StockRenewed("shuffle", ("AS", "KD"), 2),
    e.RoundEnded(0, "out", ((), ("2C", "2C")), _SECRET),
    e.RoundScored((0, 40), (10, 40), (1, 0)),
    e.GameFinished((0,), (10, 40)),
    e.GameCancelled("opener"),
    e.TurnWarned(0),
    e.OperatorActed("log_read"),
)
