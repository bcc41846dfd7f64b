// A typed client of the Tidebook API: lists, retries, webhooks, sign-in.
import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./api.js";
import { createRetryingFetch, type RetryOptions } from "./retry.js";

export type { components, operations, paths } from "./api.js";
export { App, SignInError, type SignIn, type Tokens } from "./oauth.js";
export { createRetryingFetch, type RetryOptions } from "./retry.js";
export { InvalidSignature, verify, type Event } from "./webhooks.js";

export type Problem = components["schemas"]["Problem"];
export type Tidebook = Client<paths>;

/** Returns a client with an API key or access token, as in `client.GET("/companies")`. */
export function connect(baseUrl: string, token: string, options: RetryOptions = {}): Tidebook {
  const headers = { Authorization: `Bearer ${token}` };
  return createClient<paths>({ baseUrl: baseUrl.replace(/\/+$/, ""), headers, fetch: createRetryingFetch(options) });
}

/** An error of the API; `code` is stable, `problem.errors` name fields by JSON pointers. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: string;
  constructor(readonly status: number, readonly problem: Problem) {
    super(`${status} ${problem.code}: ${problem.detail}`);
    this.code = problem.code;
  }
}

/** The result of `client.GET` and the other methods. */
export type Answer<Data> = { data?: Data; error?: unknown; response: Response };

/** Returns the result of a response, undefined for a 304; throws ApiError. */
export async function unwrap<Data>(answer: Promise<Answer<Data>>): Promise<Data> {
  const { data, error, response } = await answer;
  if (!response.ok && response.status !== 304) throw new ApiError(response.status, error as Problem);
  return data as Data;
}

/** The parameters of a page's position in a list or in the events feed. */
export type Place = { cursor?: string; after?: string };

/** Yields all rows of a list, page by page; throws ApiError.
 *
 *     iterate((place) => client.GET("/companies/{companyId}/transactions", { params: { path, query: { ...place } } }))
 */
export async function* iterate<Row>(ask: (place: Place) => Promise<Answer<Row[]>>): AsyncGenerator<Row> {
  let place: Place | undefined = {};
  while (place) {
    const page: Answer<Row[]> = await ask(place);
    yield* await unwrap(Promise.resolve(page));
    place = nextPlace(page.response.headers.get("Link") ?? "");
  }
}

function nextPlace(link: string): Place | undefined {
  const match = /<([^>]*)>; rel="next"/.exec(link);
  if (!match) return undefined;
  const query = new URL(match[1]).searchParams;
  const [cursor, after] = [query.get("cursor"), query.get("after")];
  return cursor ? { cursor } : after ? { after } : undefined;
}
