// An assistant of the official SDK, driven by a test: JSON lines in, JSON lines out.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { createInterface } from "node:readline";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (value) => console.log(JSON.stringify(value));
const hear = async () => JSON.parse((await lines.next()).value);

const { url, key, clientMetadataUrl, redirectUrl, plan } = await hear();

/** What the SDK asks an app for; the document at clientMetadataUrl is its registration. */
const kept = {};
const provider = {
  redirectUrl,
  clientMetadataUrl,
  clientMetadata: { client_name: "Assistant", redirect_uris: [redirectUrl], token_endpoint_auth_method: "none" },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  codeVerifier: () => kept.verifier,
  redirectToAuthorization: (address) => say({ url: address.href }),
};
const transport = () =>
  new StreamableHTTPClientTransport(
    new URL(url),
    key ? { requestInit: { headers: { Authorization: `Bearer ${key}` } } } : { authProvider: provider },
  );
const client = () => new Client({ name: "tests", version: "1" });

let assistant = client();
if (!key) {
  const first = transport();
  await assistant.connect(first).catch((error) => {
    if (error.constructor.name !== "UnauthorizedError") throw error;
  });
  const { code } = await hear();
  await first.finishAuth(code);
  assistant = client();
}
await assistant.connect(transport());
const { tools } = await assistant.listTools();
const call = (name, arguments_) => assistant.callTool({ name, arguments: arguments_ });
const companies = await call("list_companies", {});
const tried = await call("plan_payment", plan);
const done = await call("plan_payment", { ...plan, confirm: tried.structuredContent.digest });
const again = await call("plan_payment", { ...plan, confirm: tried.structuredContent.digest });
say({
  tools: tools.length,
  companies: companies.structuredContent.items.map((each) => each.name),
  done: [tried.structuredContent.done, done.structuredContent.done],
  again: again.isError,
  clientId: kept.client?.client_id ?? null,
});
await assistant.close();
process.exit(0);
