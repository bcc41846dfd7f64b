// The protocol's steps one by one (oauth4webapi), which checks every answer. It writes one JSON line a step and reads one.
import * as oauth from "oauth4webapi";
import { createInterface } from "node:readline";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (value) => console.log(JSON.stringify(value));
const hear = async () => JSON.parse((await lines.next()).value);
const plainHttp = { [oauth.allowInsecureRequests]: true };

const { base, clientId, secret, redirectUri } = await hear();
const issuer = new URL(`${base}/auth`);
const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, plainHttp));
const app = { client_id: clientId };
const credential = secret ? oauth.ClientSecretBasic(secret) : oauth.None();

const verifier = oauth.generateRandomCodeVerifier();
const state = oauth.generateRandomState();
const nonce = oauth.generateRandomNonce();
const url = new URL(server.authorization_endpoint);
for (const [name, value] of Object.entries({
  client_id: clientId,
  response_type: "code",
  redirect_uri: redirectUri,
  scope: "openid email profile svc:read offline_access",
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: "S256",
  state,
  nonce,
  max_age: "3600",
})) {
  url.searchParams.set(name, value);
}
say({ url: url.href });

const callback = oauth.validateAuthResponse(server, app, new URL((await hear()).callback), state);
const tokens = await oauth.processAuthorizationCodeResponse(
  server,
  app,
  await oauth.authorizationCodeGrantRequest(server, app, credential, callback, redirectUri, verifier, plainHttp),
  { expectedNonce: nonce, maxAge: 3600, requireIdToken: true },
);
const read = async (token) => {
  try {
    const address = new URL(`${base}/companies`);
    const answer = await oauth.protectedResourceRequest(token, "GET", address, undefined, undefined, plainHttp);
    return { status: answer.status, body: await answer.json() };
  } catch (error) {
    return { status: error.status ?? 0, challenge: error.cause ?? String(error) };
  }
};
const refresh = async (token) =>
  oauth.processRefreshTokenResponse(
    server,
    app,
    await oauth.refreshTokenGrantRequest(server, app, credential, token, plainHttp),
  );
const claims = oauth.getValidatedIdTokenClaims(tokens);
const person = await oauth.userInfoRequest(server, app, tokens.access_token, plainHttp);
say({
  companies: await read(tokens.access_token),
  person: await oauth.processUserInfoResponse(server, app, claims.sub, person),
  claims,
});

await hear();
const fresh = await refresh(tokens.refresh_token);
say({ companies: await read(fresh.access_token), rotated: fresh.refresh_token !== tokens.refresh_token });

await hear();
await oauth.processRevocationResponse(
  await oauth.revocationRequest(server, app, credential, fresh.refresh_token, plainHttp),
);
let refused = null;
try {
  await refresh(fresh.refresh_token);
} catch (error) {
  refused = error.error ?? String(error);
}
say({ companies: await read(fresh.access_token), refused });
process.exit(0);
