// The client of the shelf, driven by a test: what it is told comes as JSON lines, and what it found goes out as such.
import { createInterface } from "node:readline";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (value) => console.log(JSON.stringify(value));
const hear = async () => JSON.parse((await lines.next()).value);

const { App, InvalidSignature, SignInError, connect, iterate, unwrap, verify } = await import(process.argv[2]);
const { base, key, companyId, clientId, redirectUri, webhook } = await hear();
const path = { companyId };

// Lists, to their end; the pages are counted by what is asked.
const sent = [];
let lost = 0;
const losing = async (request) => {
  sent.push([request.method, request.headers.get("Idempotency-Key")]);
  const answer = await fetch(request); // it reaches the server in any case
  if (lost > 0 && lost--) throw new TypeError("lost on its way back");
  return answer;
};
const client = connect(base, key, { pause: 5, fetch: losing });
const account = await unwrap(client.POST("/companies/{companyId}/accounts", { params: { path }, body: { type: "bank", name: "Main" } }));
const body = (day) => ({ accountId: account.id, date: `2026-01-0${day}`, amountValue: `${day}.50` });
const book = (day) => client.POST("/companies/{companyId}/transactions", { params: { path }, body: body(day) });
for (const day of [1, 2, 3, 4]) await unwrap(book(day));

// One whose answer is lost is sent again.
lost = 2;
sent.length = 0;
const again = await book(5);
const tries = [...sent];
sent.length = 0;
const list = (place) => client.GET("/companies/{companyId}/transactions", { params: { path, query: { limit: 2, ...place } } });
const days = [];
for await (const row of iterate(list)) days.push(Number(row.date.slice(-1)));
let refusal = null;
await unwrap(book("x")).catch((error) => (refusal = [error.status, error.code, error.problem.errors.length > 0]));
say({ days, pages: sent.filter(([method]) => method === "GET").length, tries, refusal, replayed: again.response.headers.get("Idempotency-Replayed") });

// One that did not change, one that takes too long, and the names of errors.
const one = { path: { ...path, accountId: account.id } };
const read = await client.GET("/companies/{companyId}/accounts/{accountId}", { params: one });
const known = client.GET("/companies/{companyId}/accounts/{accountId}", { params: { ...one, header: { "If-None-Match": read.response.headers.get("ETag") } } });
const unchanged = await known;
const never = (request) => new Promise((_, fail) => request.signal.addEventListener("abort", () => fail(request.signal.reason)));
const slow = await unwrap(connect(base, key, { tries: 1, timeout: 20, fetch: never }).GET("/companies")).catch((error) => error.name);
const nobody = await unwrap(connect(base, "svc_nobody", { tries: 1 }).GET("/companies")).catch((error) => error.name);
say({
  unchanged: [unchanged.response.status, (await unwrap(Promise.resolve(unchanged))) ?? null],
  names: [slow, nobody, new InvalidSignature("x").name, new SignInError("x").name],
});

// Webhooks.
const { secret, raw, headers } = webhook;
const forged = async (...changes) => {
  try {
    await verify(...changes);
    return false;
  } catch (error) {
    return error instanceof InvalidSignature;
  }
};
const other = { ...headers, "webhook-signature": `v1,${"A".repeat(43)}=` };
say({
  event: await verify(secret, raw, headers),
  headers: await verify(secret, new TextEncoder().encode(raw), new Headers(headers)),
  capitals: await verify(secret, raw, Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]))),
  forged: [
    await forged(secret, `${raw} `, headers),
    await forged(secret, raw, other),
    await forged(`whsec_${"A".repeat(43)}=`, raw, headers),
    await forged(secret, raw, headers, Date.now() / 1000 + 301),
    await forged(secret, raw, { ...headers, "webhook-signature": headers["webhook-signature"].replace("v1", "v0") }),
    await forged(secret, raw, {}),
  ],
});

// Sign-in.
const app = new App({ baseUrl: base, clientId, redirectUri });
const signIn = await app.begin();
say({ url: signIn.url });
const { callback } = await hear();
const refused = [];
const attempt = (doing) => doing.catch((error) => refused.push(error.error));
await attempt(app.finish(await app.begin(), callback));
await attempt(app.finish(signIn, callback.replace("iss=", "iss=x")));
const tokens = await app.finish(signIn, callback);
const names = async (token) => (await unwrap(connect(base, token).GET("/companies"))).map((each) => each.name);
const first = await names(tokens.accessToken);
const fresh = await app.refresh(tokens);
const second = await names(fresh.accessToken);
await app.revoke(fresh);
await attempt(app.refresh(fresh));
const third = await names(fresh.accessToken).catch((error) => error.status);
say({ names: [first, second, third], rotated: fresh.refreshToken !== tokens.refreshToken, refused });
process.exit(0);
