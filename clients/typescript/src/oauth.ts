// Signing people in: OAuth 2.1, authorization code with PKCE.

/** `error` is the standard's word, as access_denied or invalid_grant. */
export class SignInError extends Error {
  override readonly name = "SignInError";
  constructor(readonly error: string, description = "") {
    super(description ? `${error}: ${description}` : error);
  }
}

/** One that was begun: send the person to `url`, keep all of it in their session until they come back. */
export type SignIn = { url: string; state: string; verifier: string };

/** `expires` in seconds since 1970. */
export type Tokens = { accessToken: string; expires: number; scope: string; refreshToken?: string; idToken?: string };

type Registered = { baseUrl: string; clientId: string; redirectUri: string; scope?: string; clientSecret?: string };
type Server = Record<"issuer" | "authorization_endpoint" | "token_endpoint" | "revocation_endpoint", string>;

/** An app as it was registered; `clientSecret` of a confidential one. */
export class App {
  #server?: Promise<Server>;
  constructor(readonly registered: Registered) {}

  /** The authorization server's metadata (RFC 9728, RFC 8414). */
  server(): Promise<Server> {
    return (this.#server ??= this.#find());
  }

  async #find(): Promise<Server> {
    const base = this.registered.baseUrl.replace(/\/+$/, "");
    const issuer = (await read(`${base}/.well-known/oauth-protected-resource`)).authorization_servers[0];
    const { origin, pathname } = new URL(issuer);
    const found = await read(`${origin}/.well-known/oauth-authorization-server${pathname.replace(/\/$/, "")}`);
    if (found.issuer !== issuer) throw new SignInError("invalid_issuer");
    return found;
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

  /** The tokens for where the person was sent; throws SignInError, also where somebody else sent them. */
  async finish(signIn: SignIn, callbackUrl: string): Promise<Tokens> {
    const came = new URL(callbackUrl).searchParams;
    if (came.get("state") !== signIn.state) throw new SignInError("invalid_state");
    if (came.get("iss") !== (await this.server()).issuer) throw new SignInError("invalid_issuer");
    const code = came.get("code");
    if (!code) throw new SignInError(came.get("error") ?? "invalid_response", came.get("error_description") ?? "");
    return this.#tokens({
      grant_type: "authorization_code", code, redirect_uri: this.registered.redirectUri, code_verifier: signIn.verifier,
    });
  }

  /** New ones for old ones, whose refresh token is good once: keep the new before you use them. */
  refresh(tokens: Tokens): Promise<Tokens> {
    return this.#tokens({ grant_type: "refresh_token", refresh_token: tokens.refreshToken ?? "" });
  }

  /** Ends the consent, whichever token is named. */
  async revoke(tokens: Tokens): Promise<void> {
    await this.#post("revocation_endpoint", { token: tokens.refreshToken ?? tokens.accessToken });
  }

  async #tokens(form: Record<string, string>): Promise<Tokens> {
    const now = Date.now() / 1000;
    const found = await (await this.#post("token_endpoint", form)).json();
    const { access_token: accessToken, scope, refresh_token: refreshToken, id_token: idToken } = found;
    return { accessToken, expires: now + found.expires_in, scope, refreshToken, idToken };
  }

  async #post(endpoint: "token_endpoint" | "revocation_endpoint", form: Record<string, string>): Promise<Response> {
    const { clientId, clientSecret } = this.registered;
    const own = { client_id: clientId, ...(clientSecret ? { client_secret: clientSecret } : {}) };
    const answer = await fetch((await this.server())[endpoint], {
      method: "POST", body: new URLSearchParams({ ...own, ...form }),
    });
    if (answer.ok) return answer;
    const told = await answer.json().catch(() => ({}));
    throw new SignInError(told.error ?? String(answer.status), told.error_description ?? "");
  }
}

async function read(url: string) {
  const answer = await fetch(url);
  if (!answer.ok) throw new SignInError("invalid_metadata", `${url} answers ${answer.status}`);
  return answer.json();
}

const random = (count: number) => base64url(crypto.getRandomValues(new Uint8Array(count)));

function base64url(raw: Uint8Array): string {
  return btoa(String.fromCharCode(...raw)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
