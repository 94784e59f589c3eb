import * as Effect from "effect/Effect"
import { displayHash, parseDisplayHash } from "../../protocol/bytes.ts"
import { merkleBranch } from "../../protocol/merkle.ts"
import { type Json, JsonObject } from "../../rpc/json/json.ts"
import { badRequest, type ElectrumError } from "../protocol/ElectrumError.ts"
import { flag, hexArgument, hexArguments, nonNegativeInteger, transactionHash } from "../protocol/parameters.ts"
import { withCommas } from "../protocol/pythonText.ts"
import { VERSION_1_6 } from "../protocol/versions.ts"
import { branchCost } from "../sources/Blocks.ts"
import { afterRefusal } from "../sources/NodeCalls.ts"
import type { ElectrumMethod, Sources } from "./method.ts"
import { takes } from "./method.ts"

const noPosition = ({ height, position }: { readonly height: number; readonly position: number }): ElectrumError =>
  badRequest(`no tx at position ${withCommas(position)} in block at height ${withCommas(height)}`)

const broadcastCost = (texts: ReadonlyArray<string>): number =>
  texts.reduce((sum, text) => sum + text.length / 5_000, 0.25)

/** The short form of the answer to `submitpackage`. */
const packageAnswer = (
  result: Json
): { readonly success: boolean; readonly errors?: ReadonlyArray<Record<string, Json>> } => {
  const member = (name: string): Json => result instanceof JsonObject ? result.get(name) ?? null : null
  const results = member("tx-results")
  const errors = (results instanceof JsonObject ? results.values : []).flatMap((each) => {
    const error = each instanceof JsonObject ? each.get("error") ?? null : null
    return each instanceof JsonObject && error !== null && error !== ""
      ? [{ txid: each.get("txid") ?? null, error }]
      : []
  })
  const success = member("package_msg") === "success"
  return errors.length === 0 ? { success } : { success, errors }
}

/** Methods about transactions. */
export const electrumTransactions = (
  { blocks, node }: Pick<Sources, "blocks" | "node">
): ReadonlyArray<ElectrumMethod> => [
  {
    name: "blockchain.transaction.get",
    group: "transaction",
    signature: takes(["tx_hash"], ["verbose"]),
    call: ([given, givenVerbose], { charge }) =>
      Effect.gen(function*() {
        const txid = yield* transactionHash(given)
        const verbose = yield* flag("verbose", givenVerbose)
        charge(1)
        return yield* node.ask("getrawtransaction", [txid, verbose ? 1 : 0])
      })
  },
  {
    name: "blockchain.transaction.get_merkle",
    group: "transaction",
    signature: takes(["tx_hash", "height"]),
    call: ([givenHash, givenHeight], { charge }) =>
      Effect.gen(function*() {
        const txid = parseDisplayHash(yield* transactionHash(givenHash)) ?? new Uint8Array(32)
        const height = yield* nonNegativeInteger(givenHeight)
        const { branch, cost, position } = yield* blocks.placed({ height, txid })
        charge(cost)
        return { block_height: height, merkle: branch.map(displayHash), pos: position }
      })
  },
  {
    name: "blockchain.transaction.id_from_pos",
    group: "transaction",
    signature: takes(["height", "tx_pos"], ["merkle"]),
    call: ([givenHeight, givenPosition, givenMerkle], { charge }) =>
      Effect.gen(function*() {
        const position = yield* nonNegativeInteger(givenPosition)
        const height = yield* nonNegativeInteger(givenHeight)
        const withBranch = yield* flag("merkle", givenMerkle)
        const { cost, txids } = yield* blocks.txids(height)
        charge(cost)
        const txid = txids[position]
        if (txid === undefined) return yield* noPosition({ height, position })
        if (!withBranch) return displayHash(txid)
        charge(branchCost(txids.length))
        return { tx_hash: displayHash(txid), merkle: merkleBranch(txids, position).map(displayHash) }
      })
  },
  {
    name: "blockchain.transaction.broadcast",
    group: "broadcast",
    signature: takes(["raw_tx"]),
    call: ([given], { broadcasts, charge }) =>
      Effect.gen(function*() {
        const raw = yield* hexArgument(given)
        charge(broadcastCost([raw]) * broadcasts(1))
        return yield* Effect.mapError(
          node.call("sendrawtransaction", [raw]),
          afterRefusal((message) =>
            badRequest(`the transaction was rejected by network rules.\n\n${message}\n[${raw}]`)
          )
        )
      })
  },
  {
    name: "blockchain.transaction.broadcast_package",
    group: "broadcast",
    since: VERSION_1_6,
    signature: takes(["raw_txs"], ["verbose"]),
    call: ([given, givenVerbose], { broadcasts, charge }) =>
      Effect.gen(function*() {
        const raws = yield* hexArguments(given)
        const verbose = yield* flag("verbose", givenVerbose)
        charge(broadcastCost(raws) * broadcasts(raws.length))
        const result = yield* Effect.mapError(
          node.call("submitpackage", [raws]),
          afterRefusal((message) => badRequest(`the tx package was rejected by network rules.\n\n${message}.`))
        )
        return verbose ? result : packageAnswer(result)
      })
  }
]
