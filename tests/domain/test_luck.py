"""Fair dealing: the test vectors of the rule book's algorithm."""

from domain.cards import deck_list
from domain.luck import below, link, shuffled, words

SEED = bytes(range(32))
NONCES = (None, "00112233445566778899aabbccddeeff", None, None)


def test_the_chain_hashes_down_to_the_commitment() -> None:
    assert link(SEED, 128) == SEED
    assert link(SEED, 0).hex() == "01b0d369fead33736810a69a37cb9211bd050d7cf4899981de80f764f41e6dc0"
    assert link(SEED, 1).hex() == "ec128b7f35f4243da01bdcbacaa5dcf32820c53333a94d3140a9f333a87eb5fc"


def test_the_first_dealer_is_drawn() -> None:
    assert below(words(link(SEED, 1), "gam_test", 1, NONCES, "dealer"), 4) == 3


def test_the_deck_is_shuffled() -> None:
    mixed = shuffled(deck_list("french", 2, 4), words(link(SEED, 1), "gam_test", 1, NONCES, "deal"))
    assert " ".join(mixed[:12]) == "6H 4D 2H 3S KH JK 6S KC 2S 6H TH 3H"
    assert " ".join(mixed[-4:]) == "2D TS AD 9C"


def test_a_renewal_and_a_culprits_draw() -> None:
    pile = ("3C", "4D", "7H", "JK", "2S")
    assert " ".join(shuffled(pile, words(link(SEED, 1), "gam_test", 1, NONCES, "renew/1"))) == "4D 2S 7H JK 3C"
    assert below(words(link(SEED, 1), "gam_test", 1, NONCES, "pick/1"), 11) == 10


def test_a_word_beyond_the_last_whole_multiple_is_thrown_away() -> None:
    last = 2**32 - 2  # of 3 there are 2³² − 1 words in whole multiples
    assert below(iter([last]), 3) == 2
    assert below(iter([last + 1, 4]), 3) == 1
