// Sign-in of users: OAuth 2.1, authorization code with PKCE.

/** A failed sign-in; `error` is the code of the standard, such as access_denied or invalid_grant. */
export class SignInError extends Error {
  override readonly name = "SignInError";
  constructor(readonly error: string, description = "") {
    super(description ? `${error}: ${description}` : error);
  }
}

/** A started sign-in: redirect the user to `url`, and keep it in their session until they return. */
export type SignIn = { url: string; state: string; verifier: string };

/** `expires` in seconds since 1970. */
export type Tokens = { accessToken: string; expires: number; scope: string; refreshToken?: string; idToken?: string };

type Registered = { baseUrl: string; clientId: string; redirectUri: string; scope?: string; clientSecret?: string };
type Server = Record<"issuer" | "authorization_endpoint" | "token_endpoint" | "revocation_endpoint", string>;

/** A registered app; `clientSecret` for a confidential one. */
export class App {
  #server?: Promise<Server>;
  constructor(readonly registered: Registered) {}

  /** The authorization server's metadata (RFC 9728, RFC 8414). */
  server(): Promise<Server> {
    return (this.#server ??= this.#fetchMetadata());
  }

  async #fetchMetadata(): Promise<Server> {
    const base = this.registered.baseUrl.replace(/\/+$/, "");
    const issuer = (await fetchJson(`${base}/.well-known/oauth-protected-resource`)).authorization_servers[0];
    const { origin, pathname } = new URL(issuer);
    const metadata = await fetchJson(`${origin}/.well-known/oauth-authorization-server${pathname.replace(/\/$/, "")}`);
    if (metadata.issuer !== issuer) throw new SignInError("invalid_issuer");
    return metadata;
  }

  async begin(): Promise<SignIn> {
    const { clientId, redirectUri, scope = "svc:read offline_access" } = this.registered;
    const [state, verifier] = [random(24), random(48)];
    const challenge = base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))));
    const url = new URL((await this.server()).authorization_endpoint);
    url.search = new URLSearchParams({
      response_type: "code", client_id: clientId, redirect_uri: redirectUri, scope, state,
      code_challenge: challenge, code_challenge_method: "S256",
    }).toString();
    return { url: url.href, state, verifier };
  }

  /** Returns the tokens for the callback URL; throws SignInError, also if the callback is not of this sign-in. */
  async finish(signIn: SignIn, callbackUrl: string): Promise<Tokens> {
    const callback = new URL(callbackUrl).searchParams;
    if (callback.get("state") !== signIn.state) throw new SignInError("invalid_state");
    if (callback.get("iss") !== (await this.server()).issuer) throw new SignInError("invalid_issuer");
    const code = callback.get("code");
    if (!code) throw new SignInError(callback.get("error") ?? "invalid_response", callback.get("error_description") ?? "");
    return this.#tokens({
      grant_type: "authorization_code", code, redirect_uri: this.registered.redirectUri, code_verifier: signIn.verifier,
    });
  }

  /** Returns new tokens. A refresh token is valid once: store the new ones before using them. */
  refresh(tokens: Tokens): Promise<Tokens> {
    return this.#tokens({ grant_type: "refresh_token", refresh_token: tokens.refreshToken ?? "" });
  }

  /** Revokes the consent of the tokens. */
  async revoke(tokens: Tokens): Promise<void> {
    await this.#post("revocation_endpoint", { token: tokens.refreshToken ?? tokens.accessToken });
  }

  async #tokens(form: Record<string, string>): Promise<Tokens> {
    const now = Date.now() / 1000;
    const values = await (await this.#post("token_endpoint", form)).json();
    const { access_token: accessToken, scope, refresh_token: refreshToken, id_token: idToken } = values;
    return { accessToken, expires: now + values.expires_in, scope, refreshToken, idToken };
  }

  async #post(endpoint: "token_endpoint" | "revocation_endpoint", form: Record<string, string>): Promise<Response> {
    const { clientId, clientSecret } = this.registered;
    const credentials = { client_id: clientId, ...(clientSecret ? { client_secret: clientSecret } : {}) };
    const answer = await fetch((await this.server())[endpoint], {
      method: "POST", body: new URLSearchParams({ ...credentials, ...form }),
    });
    if (answer.ok) return answer;
    const body = await answer.json().catch(() => ({}));
    throw new SignInError(body.error ?? String(answer.status), body.error_description ?? "");
  }
}

async function fetchJson(url: string) {
  const answer = await fetch(url);
  if (!answer.ok) throw new SignInError("invalid_metadata", `${url} answers ${answer.status}`);
  return answer.json();
}

const random = (count: number) => base64url(crypto.getRandomValues(new Uint8Array(count)));

function base64url(raw: Uint8Array): string {
  return btoa(String.fromCharCode(...raw)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
