// What a caller in TypeScript writes with the types generated from the document.
import type { components, operations, paths } from "./api";

type Schemas = components["schemas"];

export const account: Schemas["AccountRequest"] = { type: "bank", name: "Main account", defaultCurrency: "EUR" };

// @ts-expect-error there is no such type of account
export const piggy: Schemas["AccountRequest"] = { type: "piggyBank", name: "Savings" };

// @ts-expect-error an account has a name
export const nameless: Schemas["AccountRequest"] = { type: "bank" };

export const bought: operations["importTransactions"]["requestBody"]["content"]["application/json"] = {
  transactions: [{ accountId: "0199a0c1-7a00-7000-8000-000000000001", date: "2026-01-31", amountValue: "-4.00" }],
  duplicates: "skip",
};

export function balanceOf(
  answer: paths["/companies/{companyId}/data/accountBalanceByAccount"]["post"]["responses"][200]["content"]["application/json"],
  id: string,
): number {
  return answer[id].value;
}

export function group(of: Schemas["Account"]): string {
  // @ts-expect-error it may be null
  return of.accountGroupId;
}

export function reasons(problem: operations["createAccount"]["responses"]["400"]["content"]["application/problem+json"]) {
  return (problem.errors ?? []).map((each) => `${each.pointer} ${each.code}`);
}
