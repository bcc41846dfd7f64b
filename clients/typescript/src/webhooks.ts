// Verification of webhooks: Standard Webhooks, symmetric (v1).
import type { components } from "./api.js";

export type Event = components["schemas"]["FeedEvent"];

/** The message was not signed with the secret, or too long ago. */
export class InvalidSignature extends Error {
  override readonly name = "InvalidSignature";
}

const TOLERANCE = 300; // seconds; older signatures may be replays

/** Returns the event of a raw body; throws InvalidSignature. Names of headers may be in any case. */
export async function verify(
  secret: string,
  body: string | Uint8Array,
  headers: Headers | Record<string, string | string[] | undefined>,
  now: number = Date.now() / 1000,
): Promise<Event> {
  const text = typeof body === "string" ? body : new TextDecoder("utf-8", { fatal: true }).decode(body);
  const given = headers instanceof Headers ? [...headers.entries()] : Object.entries(headers);
  const lower = new Map(given.map(([name, value]) => [name.toLowerCase(), value]));
  const named = (name: string) => String(lower.get(name) ?? "");
  const [id, moment, signatures] = ["id", "timestamp", "signature"].map((part) => named(`webhook-${part}`));
  if (!id || !/^\d{1,12}$/.test(moment)) throw new InvalidSignature("These are not the headers of a webhook.");
  if (Math.abs(now - Number(moment)) > TOLERANCE) throw new InvalidSignature("Signed too long ago, or this clock is wrong.");
  const raw = bytes(secret.replace(/^whsec_/, ""));
  const key = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const signed = new TextEncoder().encode(`${id}.${moment}.${text}`);
  for (const each of signatures.split(" ").filter((one) => one.startsWith("v1,"))) {
    if (await crypto.subtle.verify("HMAC", key, bytes(each.slice(3)), signed)) return JSON.parse(text) as Event;
  }
  throw new InvalidSignature("It was not signed with this secret.");
}

function bytes(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
  } catch {
    throw new InvalidSignature("The secret or a signature is not base64.");
  }
}
