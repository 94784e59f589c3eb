import * as Effect from "effect/Effect"
import { expirationDepth } from "../../consensus/expiry.ts"
import type { LightNode } from "../../light/LightPart.ts"
import type { NameAnswers } from "../../light/NameAnswers.ts"
import type { WindowProofRow } from "../../light/windowProofs.ts"
import { readBlockHeader } from "../../protocol/block.ts"
import { displayHash, equal, parseDisplayHash, toHex } from "../../protocol/bytes.ts"
import { hashOfKey } from "../../protocol/keys.ts"
import { Reader } from "../../protocol/Reader.ts"
import { type Json, JsonNumber, JsonObject } from "../../rpc/json/json.ts"
import { badRequest, internalError, syncing } from "../protocol/ElectrumError.ts"
import { type Blocks, branchCost, notInBlock } from "./Blocks.ts"
import { type HeaderSource, makeHeaders, outOfRange } from "./Headers.ts"
import { type Histories, LONGEST_HISTORY } from "./Histories.ts"
import { historiesOf, tooLarge } from "./nameHistories.ts"
import type { NodeCalls } from "./NodeCalls.ts"

/** What a light node knows: the names of its window, with the branches and headers that it keeps for proofs. */

/** Headers above the window's first block have their proof of work; older ones are not served. */
const headersOf = ({ chain: { tree }, proofs }: LightNode): HeaderSource => {
  const headers = makeHeaders({
    tree,
    fullHeaders: ([first, ...others]) =>
      first === undefined
        ? Effect.succeed([])
        : Effect.map(proofs.heads(tree.height(first), 1 + others.length), (heads) =>
          heads.map(({ head }) => readBlockHeader(new Reader(head))))
  })
  const root = tree.height(tree.ancestor(tree.tip(), 0))
  return root === 0 ? headers : { ...headers, proof: () => badRequest("a light node has no proofs for checkpoints") }
}

const blocksOf = ({ chain: { tree }, proofs }: LightNode): Blocks => ({
  txids: () => badRequest("a light node has no blocks, only the transactions of its names"),
  placed: ({ height, txid }) =>
    Effect.suspend(() => {
      if (height > tree.height(tree.tip())) return outOfRange(height)
      return Effect.flatMap(Effect.mapError(proofs.at(height), internalError), (rows) => {
        const found = rows.find(({ record }) => equal(record.txid, txid))
        if (found?.kept === undefined) return notInBlock(txid, height)
        const { branch, pos } = found.kept
        return Effect.succeed({
          bytes: found.tx,
          position: pos,
          branch,
          cost: branchCost(2 ** branch.length)
        })
      })
    })
})

const NOTHING_KEPT = "the node does not keep what histories need; start it with -nameproofs"

const historiesIn = (light: LightNode, answers: Pick<typeof NameAnswers.Service, "complete">): Histories =>
  historiesOf(
    (key) =>
      Effect.zip(answers.complete, light.proofs.ofScript(hashOfKey(key), LONGEST_HISTORY + 1)).pipe(
        Effect.mapError(({ _tag }) =>
          _tag === "NamesIncomplete" ? syncing(light.proofs.kept ? undefined : NOTHING_KEPT) : internalError()
        ),
        Effect.flatMap(([complete, found]) => {
          if (!complete) return syncing()
          return found.length > LONGEST_HISTORY ? tooLarge() : Effect.succeed(found.toReversed())
        })
      ),
    light.chain
  )

const numberOf = (value: number): JsonNumber => new JsonNumber(String(value))

/** Answers `getrawtransaction` for the operations of the window. */
const callsWith = (node: NodeCalls, light: LightNode): NodeCalls => {
  const { tree } = light.chain

  const verbose = (decoded: Json, { record: { height }, tx }: WindowProofRow): Json => {
    if (!(decoded instanceof JsonObject)) return decoded
    const id = tree.at(height)
    const time = tree.time(id)
    const more: Readonly<Record<string, Json>> = {
      hex: toHex(tx),
      blockhash: displayHash(tree.hash(id)),
      confirmations: numberOf(tree.height(tree.tip()) - height + 1),
      time: numberOf(time),
      blocktime: numberOf(time)
    }
    return new JsonObject([...decoded.keys, ...Object.keys(more)], [...decoded.values, ...Object.values(more)])
  }

  return {
    ...node,
    ask: (method, params = []) => {
      const [shown, isVerbose] = params
      const txid = method === "getrawtransaction" && typeof shown === "string" ? parseDisplayHash(shown) : undefined
      if (txid === undefined) return node.ask(method, params)
      return Effect.flatMap(Effect.mapError(light.proofs.ofTxid(txid), internalError), (found) => {
        if (found === undefined) return node.ask(method, params)
        const raw = toHex(found.tx)
        return isVerbose === 1
          ? Effect.map(node.ask("decoderawtransaction", [raw]), (decoded) => verbose(decoded, found))
          : Effect.succeed(raw)
      })
    }
  }
}

export interface WindowSources {
  readonly headers: HeaderSource
  readonly blocks: Blocks
  readonly histories: Histories
  readonly node: NodeCalls
  /** Blocks in the window. */
  readonly blockCount: () => number
  /** Blocks after which a name without an update is gone. */
  readonly expiration: () => number
  /** The changes of names, as `NameDb.commits`: after each block, any name may be another one. */
  readonly commits: Effect.Effect<{ readonly count: number; readonly touchedBehind: (count: number) => "all" }>
}

export const windowSources = (
  light: LightNode,
  { answers, node }: { readonly answers: Pick<typeof NameAnswers.Service, "complete">; readonly node: NodeCalls }
): WindowSources => {
  const { chain: { params, tree }, height, span } = light
  return {
    headers: headersOf(light),
    blocks: blocksOf(light),
    histories: historiesIn(light, answers),
    node: callsWith(node, light),
    blockCount: () => Math.max(0, height() - span.filled().low + 1),
    expiration: () => expirationDepth(height(), params),
    commits: Effect.succeed({
      get count() {
        return tree.tip()
      },
      touchedBehind: () => "all"
    })
  }
}
