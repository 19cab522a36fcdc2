/** Follows a game's stream to its end, whatever cuts the connection. For Node 20 and browsers. */

import type { components } from "./api.js";

type Schemas = components["schemas"];
type Extra = { hello: Schemas["Hello"]; view: Schemas["View"]; heartbeat: Schemas["Heartbeat"];
               resync: Schemas["Resync"]; bye: Schemas["Bye"] };
type Named<Kind extends keyof Extra> = { kind: Kind; data: Extra[Kind] };
export type Message =
  | { kind: "event"; data: Schemas["Event"] }
  | { [Kind in keyof Extra]: Named<Kind> }[keyof Extra];

const DEAD_MS = 35_000; // heartbeats come every 15 s; after two of them missed the connection is dead

/** Gives each message; every version after `after` comes once and in order. */
export async function* follow(
  { url, token, gameId, after = 0, view = false }:
  { url: string; token: string; gameId: string; after?: number; view?: boolean },
): AsyncGenerator<Message> {
  let waitMs = 1_000;
  for (;;) {
    const dead = new AbortController();
    let alive = setTimeout(() => dead.abort(), DEAD_MS);
    try {
      const response = await fetch(`${url}/v1/games/${gameId}/stream?view=${view}`, {
        headers: { Authorization: `Bearer ${token}`, "Last-Event-ID": String(after) }, signal: dead.signal,
      });
      if (response.status === 204) return; // the game is over and everything was told
      if (response.ok) {
        for await (const { fields, retry } of readFields(response.body!)) {
          clearTimeout(alive);
          alive = setTimeout(() => dead.abort(), DEAD_MS);
          if (retry !== undefined) waitMs = Number(retry);
          if (fields.id !== undefined) after = Number(fields.id);
          const data = JSON.parse(fields.data!);
          yield fields.id === undefined ? ({ kind: fields.event, data } as Message) : { kind: "event", data };
          if (fields.event === "bye" && data.reason !== "shutting_down") return;
        }
      } else if (response.status !== 429 && response.status !== 503) {
        throw new Refused(await response.text());
      }
    } catch (error) {
      if (error instanceof Refused) throw error; // anything else: cut off; go on after the last event that came whole
    } finally {
      clearTimeout(alive);
      dead.abort();
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

class Refused extends Error {}

/** Reads server-sent events; one that is cut off in its middle is dropped. This server writes the data in one line. */
async function* readFields(body: ReadableStream<Uint8Array>) {
  const reader = body.pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop()!;
    for (const block of blocks) {
      const fields: Record<string, string> = {};
      for (const line of block.split("\n")) {
        const [, name, text] = /^([^:]*):? ?(.*)$/.exec(line)!;
        fields[name!] = text!;
      }
      if (fields.data !== undefined) yield { fields, retry: fields.retry };
    }
  }
}
