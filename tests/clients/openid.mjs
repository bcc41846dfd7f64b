// A certified client (openid-client) through the whole of its life. It writes one JSON line a step and reads one.
import * as client from "openid-client";
import { createInterface } from "node:readline";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (value) => console.log(JSON.stringify(value));
const hear = async () => JSON.parse((await lines.next()).value);

const { base, clientId, secret, redirectUri } = await hear();
const config = await client.discovery(
  new URL(`${base}/auth`),
  clientId,
  secret ?? undefined,
  secret ? client.ClientSecretBasic(secret) : client.None(),
  { execute: [client.allowInsecureRequests] },
);

const verifier = client.randomPKCECodeVerifier();
const state = client.randomState();
const nonce = client.randomNonce();
say({
  url: client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: "openid email profile svc:read offline_access",
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    nonce,
    max_age: "3600",
  }).href,
});

const tokens = await client.authorizationCodeGrant(config, new URL((await hear()).callback), {
  pkceCodeVerifier: verifier,
  expectedState: state,
  expectedNonce: nonce,
  maxAge: 3600,
  idTokenExpected: true,
});
const read = async (token) => {
  try {
    const answer = await client.fetchProtectedResource(config, token, new URL(`${base}/companies`), "GET");
    return { status: answer.status, body: await answer.json() };
  } catch (error) {
    return { status: error.status ?? 0, challenge: error.cause ?? String(error) };
  }
};
const subject = tokens.claims().sub;
say({
  companies: await read(tokens.access_token),
  person: await client.fetchUserInfo(config, tokens.access_token, subject),
  claims: tokens.claims(),
});

await hear();
const fresh = await client.refreshTokenGrant(config, tokens.refresh_token);
say({ companies: await read(fresh.access_token), rotated: fresh.refresh_token !== tokens.refresh_token });

await hear();
await client.tokenRevocation(config, fresh.refresh_token);
let refused = null;
try {
  await client.refreshTokenGrant(config, fresh.refresh_token);
} catch (error) {
  refused = error.error ?? String(error);
}
say({ companies: await read(fresh.access_token), refused });
process.exit(0);
