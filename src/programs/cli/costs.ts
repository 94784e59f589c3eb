import * as Effect from "effect/Effect"
import { aboutText, amountText, parseAmount } from "../../protocol/amount.ts"
import { FEE_TARGET, type NameCosts, nameCosts } from "../../protocol/nameCosts.ts"
import { type Json } from "../../rpc/json/json.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { ask } from "./ask.ts"
import type { Daemon } from "./daemon.ts"
import { spelledAt } from "./jsonText.ts"
import { CommandFailed } from "./outcome.ts"

const unitsAt = (answer: Json | undefined, ...path: ReadonlyArray<string>): number =>
  parseAmount(spelledAt(answer, ...path) ?? "") ?? 0

export const costsOf = (daemon: Daemon, bytes: number): Effect.Effect<NameCosts, RpcClientError> =>
  Effect.map(
    Effect.all([ask(daemon, "estimatesmartfee", [FEE_TARGET]), ask(daemon, "getmempoolinfo")], { concurrency: 2 }),
    ([estimate, mempool]) => nameCosts(bytes, [unitsAt(estimate, "feerate"), unitsAt(mempool, "mempoolminfee")])
  )

/** In the smallest unit. */
export const balanceOf = (daemon: Daemon): Effect.Effect<number | undefined, RpcClientError> =>
  Effect.map(
    ask(daemon, "getbalances"),
    (balances) =>
      spelledAt(balances, "mine", "trusted") === undefined ? undefined : unitsAt(balances, "mine", "trusted")
  )

export const affordable = (
  { cli }: Pick<Daemon, "cli">,
  { balance, cost }: { readonly balance: number | undefined; readonly cost: number }
): Effect.Effect<void, CommandFailed> =>
  balance === undefined || balance >= cost
    ? Effect.void
    : new CommandFailed({
      message: `the wallet can spend ${amountText(balance)}, and this costs ${aboutText(cost)}; ` +
        `"${cli} receive" creates an address to fund it`
    })
