import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type Calls, MethodNode } from "./methodNode.ts"

/** A wallet with private keys ("cold"), and one that only watches the same addresses ("watch"), on a private chain. */

const rows = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []

/** Imports the active descriptors that `from` lists into another wallet. */
const copied = (from: unknown, to: Calls) => {
  const { descriptors } = Object(from)
  const requests = rows(descriptors).map((each) => Object(each)).filter(({ active }) => active === true)
    .map(({ desc, internal }) => ({ desc, internal, active: true, timestamp: "now", range: [0, 20] }))
  return to.call("importdescriptors", requests)
}

/** `watch` has some coins of 50 NMC. */
export const coldWallets = (coins = 3) =>
  Effect.gen(function*() {
    const { call, on } = yield* MethodNode
    yield* call("unloadwallet", "")
    yield* call("createwallet", "cold")
    yield* call("createwallet", "watch", true)
    yield* call("createwallet", "other")
    const [cold, watch, other] = [on("cold"), on("watch"), on("other")]
    yield* copied((yield* cold.call("listdescriptors")).value, watch)
    const text = (calls: Calls, method: string, ...params: ReadonlyArray<unknown>) =>
      Effect.map(calls.call(method, ...params), ({ value }) => typeof value === "string" ? value : assert.fail(method))
    const foreign = yield* text(other, "getnewaddress")
    const mine = (count: number, address = foreign) => call("generatetoaddress", count, address)
    for (let n = 0; n < coins; n++) yield* mine(1, yield* text(watch, "getnewaddress"))
    yield* mine(100)
    return { cold, watch, other, foreign, mine, text }
  })

export type ColdWallets = Effect.Effect.Success<ReturnType<typeof coldWallets>>

/** Signs with `cold`, which has the chain but is asked for nothing else, and sends. Returns the txid. */
export const signedAndSent = ({ cold, text, watch }: ColdWallets, psbt: string) =>
  Effect.gen(function*() {
    const { psbt: signed } = Object((yield* cold.call("walletprocesspsbt", psbt, true, "ALL", true, false)).value)
    return yield* text(watch, "sendpsbt", signed)
  })

/** Registers a name with the cold wallet, whose owner address both wallets know. */
export const registered = ({ cold, mine }: ColdWallets, name: string, value: string) =>
  Effect.gen(function*() {
    yield* cold.call("name_new", name)
    yield* mine(12)
    yield* cold.call("name_firstupdate", name, undefined, undefined, value)
    yield* mine(1)
  })
