/**
 * A bot: opens a game with three bots of the server, and plays it to the end by choosing among the options.
 *
 * node built/bot.js http://127.0.0.1:8000 [ruleset]
 */

import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";
import { follow } from "./stream.js";

type Decision = components["schemas"]["Decision"];
type Move = components["schemas"]["Move"];
type Answered<T> = { data?: T; error?: components["schemas"]["Problem"]; response: Response };

const PREFERRED = ["lay_down", "lay_off", "swap_wild"]; // whatever brings cards to the table goes before all else

/** Plays one game. */
async function main(url: string, ruleset = "davis"): Promise<void> {
  const api = createClient<paths>({ baseUrl: url });
  const { token } = await sent(() => api.POST("/v1/players", { body: { name: "Example bot" } }));
  api.use({ onRequest: ({ request }) => request.headers.set("Authorization", `Bearer ${token}`) });

  const keyed = (key: string) => ({ "Idempotency-Key": key });
  const game = await sent(() => api.POST("/v1/games", {
    params: { header: keyed("open") },
    body: {
      ruleset, pace: { claim_window_s: 1, turn_s: 30 },
      seats: [{ controller: "you" }, { controller: "bot", level: "normal" }, { controller: "bot", level: "easy" },
              { controller: "bot", level: "normal" }],
    },
  }));
  const path = { game_id: game.game_id };
  await sent(() => api.POST("/v1/games/{game_id}/start", { params: { path, header: keyed("start") } }));

  const answered = new Set<string>();
  for await (const message of follow({ url, token, gameId: game.game_id, view: true })) {
    for (const decision of message.kind === "view" ? message.data.decisions : []) {
      if (answered.has(decision.decision_id)) continue;
      answered.add(decision.decision_id);
      const body = { decision_id: decision.decision_id, move: choose(decision) };
      await sent(() => api.POST("/v1/games/{game_id}/moves", {
        params: { path, header: keyed(decision.decision_id) }, body,
      }), ["decision_closed", "game_finished"]); // the question may have been closed meanwhile, for example by the clock
    }
  }

  const { seats, result } = await sent(() => api.GET("/v1/games/{game_id}/view", { params: { path } }));
  for (const { seat, name } of seats) {
    const won = result!.winners.includes(seat) ? "  won" : "";
    console.log(`${String(result!.totals[seat]).padStart(4)}  ${name}${won}`);
  }
}

/** Here a better bot begins. */
function choose({ options }: Decision): Move {
  const good = options.filter(({ kind }) => PREFERRED.includes(kind));
  const among = good.length > 0 ? good : options;
  return among[Math.floor(Math.random() * among.length)]!;
}

/** Sends a request until it is answered; with a key it is carried out once, however often it is sent. */
async function sent<T>(send: () => Promise<Answered<T>>): Promise<T>;
async function sent<T>(send: () => Promise<Answered<T>>, unless: string[]): Promise<T | undefined>;
async function sent<T>(send: () => Promise<Answered<T>>, unless: string[] = []): Promise<T | undefined> {
  for (;;) {
    let waitS = 0.5;
    try {
      const { data, error, response } = await send();
      if (data !== undefined) return data;
      if (error && unless.includes(error.code)) return undefined;
      if (response.status !== 429 && response.status !== 503) throw new Refused(`${error?.code}: ${error?.detail}`);
      waitS = Number(response.headers.get("Retry-After") ?? waitS);
    } catch (error) {
      if (error instanceof Refused) throw error; // anything else: no answer, so it is sent again
    }
    await new Promise((resolve) => setTimeout(resolve, waitS * 1000));
  }
}

class Refused extends Error {}

await main(process.argv[2]!, process.argv[3]);
