import * as Effect from "effect/Effect"
import { COIN, formatMoney, parseAmount } from "../../protocol/amount.ts"
import { type Json } from "../../rpc/json/json.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { ask } from "./ask.ts"
import type { Daemon } from "./daemon.ts"
import { spelledAt } from "./jsonText.ts"
import { CommandFailed, NAME } from "./outcome.ts"

/** What operations on names cost, as far as it can be known before their transactions exist. */

/** Locked in a name until it expires (upstream `names/common.h`, `NAME_LOCKED_AMOUNT`). */
export const LOCKED_IN_NAME = COIN / 100

/** The lowest fee rate that the wallets of svcd and Namecoin Core use, in the smallest unit per 1000 virtual bytes. */
const LEAST_RATE = COIN / 1000

/** Blocks within which wallets want their transactions confirmed by default. */
const TARGET = 6

/** Virtual bytes of a transaction with one or two inputs and change, without name and value. */
const NEW_SIZE = 225
const OPERATION_SIZE = 420

const unitsAt = (answer: Json | undefined, ...path: ReadonlyArray<string>): number =>
  parseAmount(spelledAt(answer, ...path) ?? "") ?? 0

export interface Costs {
  /** Fee of NAME_NEW, in the smallest unit. */
  readonly commitment: number
  /** Fee of any other operation on the name. */
  readonly operation: number
}

/** Estimates fees for a name and a value of so many bytes together. */
export const costsOf = (daemon: Daemon, bytes: number): Effect.Effect<Costs, RpcClientError> =>
  Effect.map(
    Effect.all([ask(daemon, "estimatesmartfee", [TARGET]), ask(daemon, "getmempoolinfo")], { concurrency: 2 }),
    ([estimate, mempool]) => {
      const rate = Math.max(LEAST_RATE, unitsAt(estimate, "feerate"), unitsAt(mempool, "mempoolminfee"))
      return {
        commitment: Math.ceil(rate * NEW_SIZE / 1000),
        operation: Math.ceil(rate * (OPERATION_SIZE + bytes) / 1000)
      }
    }
  )

/** An estimate in NMC, with four decimals: more would claim to be exact. */
export const aboutNmc = (units: number): string => `about ${formatMoney(Math.ceil(units / 10_000) * 10_000)} NMC`

/** What the wallet can spend, in the smallest unit; `undefined` if the daemon does not say. */
export const balanceOf = (daemon: Daemon): Effect.Effect<number | undefined, RpcClientError> =>
  Effect.map(
    ask(daemon, "getbalances"),
    (balances) =>
      spelledAt(balances, "mine", "trusted") === undefined ? undefined : unitsAt(balances, "mine", "trusted")
  )

/** Fails if the wallet has too little for a cost. */
export const affordable = (
  { balance, cost }: { readonly balance: number | undefined; readonly cost: number }
): Effect.Effect<void, CommandFailed> =>
  balance === undefined || balance >= cost
    ? Effect.void
    : new CommandFailed({
      message: `the wallet can spend ${formatMoney(balance)} NMC, and this takes ${aboutNmc(cost)}; ` +
        `"${NAME} receive" makes an address to pay coins to`
    })
