// A fetch that tries again what failed on its way, and has each change made once.

/** How often a request is sent at most, the milliseconds before the second try, doubled each time, and the milliseconds
 *  that one try may take until its answer is complete. */
export type RetryOptions = {
  tries?: number;
  pause?: number;
  timeout?: number;
  fetch?: (request: Request) => Promise<Response>;
};

const PASSING = new Set([429, 502, 503, 504]);
const UNSAFE = new Set(["POST", "PUT", "DELETE"]);
const LONGEST = 60_000; // milliseconds between two tries
const TIMEOUT = 60_000; // milliseconds of one try
const WITHOUT_BODY = new Set([101, 204, 205, 304]); // a Response of these takes none

/** What changes something carries an Idempotency-Key, the same in each try: the server has its effect once. */
export function createRetryingFetch({
  tries = 4,
  pause = 500,
  timeout = TIMEOUT,
  fetch = (request) => globalThis.fetch(request),
}: RetryOptions = {}) {
  return async (request: Request): Promise<Response> => {
    if (UNSAFE.has(request.method) && !request.headers.has("Idempotency-Key")) {
      request.headers.set("Idempotency-Key", crypto.randomUUID());
    }
    for (let tried = 1; ; tried++) {
      let wait = Math.min(pause * 2 ** (tried - 1), LONGEST);
      try {
        const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeout)]);
        const answer = await whole(await fetch(new Request(request.clone(), { signal })));
        if (tried >= tries || !(await passes(answer))) return answer;
        const after = answer.headers.get("Retry-After") ?? "";
        if (/^\d+$/.test(after)) wait = Math.min(Number(after) * 1000, LONGEST);
      } catch (error) {
        if (tried >= tries || request.signal.aborted) throw error;
      }
      await new Promise((done) => setTimeout(done, wait));
    }
  };
}

/** The answer with all of its body: a connection that is lost half-way is lost here. */
async function whole(answer: Response): Promise<Response> {
  const body = WITHOUT_BODY.has(answer.status) ? null : await answer.arrayBuffer();
  return new Response(body, { status: answer.status, statusText: answer.statusText, headers: answer.headers });
}

/** Whether another try may be answered better. */
async function passes(answer: Response): Promise<boolean> {
  if (answer.status !== 409) return PASSING.has(answer.status);
  const told = await answer.clone().json().catch(() => ({}));
  return told.code === "idempotency_in_progress"; // what an earlier try set off is not done yet
}
