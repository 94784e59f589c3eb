import { type Json, JsonObject } from "./json/json.ts"
import { RPC_REASONS, type RpcReason } from "./method/RpcError.ts"

/** Texts of daemons without reasons: Namecoin Core and earlier svcd. No other code relies on an RPC error's text. */
const TEXTS: ReadonlyArray<readonly [text: string, reason: RpcReason]> = [
  ["Insufficient funds", "funds-missing"],
  ["exceeds your balance", "funds-missing"],
  ["Not found pre-selected input", "coin-spent"],
  ["Private keys are disabled", "no-private-keys"],
  ["unconfirmed transactions in cluster", "long-chain"],
  ["chain of transactions", "long-chain"]
]

const reasonIn = (message: string): RpcReason | undefined => TEXTS.find(([text]) => message.includes(text))?.[1]

/** As given by svcd, or derived from another daemon's text. That text ends before a quotation, such as a name. */
export const failureReason = (error: Json, message: string): RpcReason | undefined => {
  const data = error instanceof JsonObject ? error.get("data") : undefined
  const given = data instanceof JsonObject ? data.get("reason") : undefined
  return RPC_REASONS.find((reason) => reason === given) ??
    reasonIn(message.split("'", 1)[0] ?? "")
}
