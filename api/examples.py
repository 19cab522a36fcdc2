"""Bodies to begin with, by operation."""

from typing import Any

EXAMPLES: dict[str, Any] = {
    "createGuest": {"name": "Anna"},
    "createGame": {
        "ruleset": "davis",
        "seats": [
            {"controller": "you"},
            {"controller": "bot", "level": "normal"},
            {"controller": "bot", "level": "normal"},
            {"controller": "bot", "level": "easy"},
        ],
        "pace": {"claim_window_s": 5, "turn_s": 60, "bot_delay_ms": 700},
    },
    "makeMove": {"decision_id": "draw-7-0", "move": {"kind": "draw_stock"}},
}
