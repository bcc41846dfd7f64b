// A fetch that retries failed requests, and makes each change once.

/** `tries` is the maximum number of attempts, `pause` the milliseconds before the second one, doubled each time, and
 *  `timeout` the milliseconds of one attempt until its response is complete. */
export type RetryOptions = {
  tries?: number;
  pause?: number;
  timeout?: number;
  fetch?: (request: Request) => Promise<Response>;
};

const RETRYABLE_STATUSES = new Set([429, 502, 503, 504]);
const UNSAFE_METHODS = new Set(["POST", "PUT", "DELETE"]);
const MAX_WAIT = 60_000; // milliseconds between two attempts
const TIMEOUT = 60_000; // milliseconds of one attempt
const STATUSES_WITHOUT_BODY = new Set([101, 204, 205, 304]);

/** Returns a fetch. A changing request has an Idempotency-Key, the same in each attempt, so the server applies it once. */
export function createRetryingFetch({
  tries = 4,
  pause = 500,
  timeout = TIMEOUT,
  fetch = (request) => globalThis.fetch(request),
}: RetryOptions = {}) {
  return async (request: Request): Promise<Response> => {
    if (UNSAFE_METHODS.has(request.method) && !request.headers.has("Idempotency-Key")) {
      request.headers.set("Idempotency-Key", crypto.randomUUID());
    }
    for (let attempt = 1; ; attempt++) {
      let wait = Math.min(pause * 2 ** (attempt - 1), MAX_WAIT);
      try {
        const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeout)]);
        const answer = await readResponse(await fetch(new Request(request.clone(), { signal })));
        if (attempt >= tries || !(await isRetryable(answer))) return answer;
        const after = answer.headers.get("Retry-After") ?? "";
        if (/^\d+$/.test(after)) wait = Math.min(Number(after) * 1000, MAX_WAIT);
      } catch (error) {
        if (attempt >= tries || request.signal.aborted) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  };
}

/** Returns the response with its complete body; throws if the connection is lost before its end. */
async function readResponse(answer: Response): Promise<Response> {
  const body = STATUSES_WITHOUT_BODY.has(answer.status) ? null : await answer.arrayBuffer();
  return new Response(body, { status: answer.status, statusText: answer.statusText, headers: answer.headers });
}

/** Returns whether another attempt may succeed. */
async function isRetryable(answer: Response): Promise<boolean> {
  if (answer.status !== 409) return RETRYABLE_STATUSES.has(answer.status);
  const body = await answer.clone().json().catch(() => ({}));
  return body.code === "idempotency_in_progress"; // the first attempt is still being processed
}
