import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { pauses } from "../../base/turns.ts"
import { displayHash, toHex } from "../../protocol/bytes.ts"
import type { ScriptKey } from "../../protocol/keys.ts"
import type { JsonValue } from "../../rpc/json/encodeJson.ts"
import { type ElectrumError, refusedRequest } from "../protocol/ElectrumError.ts"
import { ANSWER_BYTES } from "../protocol/limits.ts"
import { nonNegativeInteger, scriptHash } from "../protocol/parameters.ts"
import { withCommas } from "../protocol/pythonText.ts"
import type { HistoryEntry } from "../protocol/status.ts"
import { VERSION_1_4_3 } from "../protocol/versions.ts"
import type { PlacedInBlock } from "../sources/Blocks.ts"
import { headerAnswer } from "./headerMethods.ts"
import type { ElectrumCaller, ElectrumMethod, Sources } from "./method.ts"
import { takes } from "./method.ts"

export const tooLargeAnswer = (): ElectrumError =>
  refusedRequest(`response too large (over ${withCommas(ANSWER_BYTES)} bytes`)

/** Bytes of an operation in an answer besides its transaction: at most 20 hashes, and the names of its members. */
const AROUND = 2_000

/**
 * The operations that prove a value, newest first: down to the first one at or below the checkpoint, or to one after
 * which the name expired. Source: ElectrumX `session.py`, `phandle_name_get_value_proof`.
 */
export const provingOperations = (
  history: ReadonlyArray<HistoryEntry>,
  { checkpoint, expiration }: { readonly checkpoint: number; readonly expiration: number }
): ReadonlyArray<HistoryEntry> => {
  const proving: Array<HistoryEntry> = []
  for (const operation of history.toReversed()) {
    const later = proving.at(-1)
    if (later !== undefined && operation.height < later.height - expiration) break
    proving.push(operation)
    if (operation.height <= checkpoint) break
  }
  return proving
}

/** Characters of the transaction, and of a header with its proof of work. */
const lengthOf = ({ header, tx }: { readonly tx: string; readonly header?: JsonValue }): number =>
  tx.length + (typeof header === "string" ? header.length : 0)

/** The proof of an operation, without its header. */
const proofJson = ({ height }: HistoryEntry, { branch, bytes, position }: PlacedInBlock) => ({
  height,
  tx: toHex(bytes),
  tx_merkle: { merkle: branch.map(displayHash), pos: position }
})

const historyCost = (operations: number): number => 0.2 + operations * 0.001

const placeCost = ({ cost }: PlacedInBlock): number => 1 + cost

/** Operations, and bytes of their transactions, in a proof that is made without a fiber: half a millisecond. */
const FEW = { operations: 50, bytes: 50_000 }

/** Methods that only name indexes have. */
export const electrumNames = (
  { blocks, expiration, headers, histories }: Pick<Sources, "blocks" | "expiration" | "headers" | "histories">
): ReadonlyArray<ElectrumMethod> => {
  const proofOf = (
    operation: HistoryEntry,
    { caller, checkpoint }: { readonly caller: ElectrumCaller; readonly checkpoint: number }
  ) =>
    Effect.gen(function*() {
      const { height } = operation
      const placed = yield* blocks.placed(operation)
      caller.charge(placeCost(placed))
      const proof = proofJson(operation, placed)
      if (height > checkpoint) return proof
      caller.charge(checkpoint === 0 ? 0.25 : 1.25)
      return { ...proof, header: yield* headerAnswer(headers, { height, checkpoint, version: caller.version() }) }
    })

  /** The proofs down to the first operation, if memory has all of it and it is little. */
  const proofsAtOnce = (key: ScriptKey, { charge }: ElectrumCaller): ReadonlyArray<JsonValue> | undefined => {
    const history = histories.known?.(key)?.confirmed
    if (history === undefined || history.length > FEW.operations) return undefined
    const placed: Array<readonly [HistoryEntry, PlacedInBlock]> = []
    let bytes = 0
    for (const operation of provingOperations(history, { checkpoint: 0, expiration: expiration() })) {
      const found = blocks.known?.(operation)
      bytes += found?.bytes.length ?? Infinity
      if (found === undefined || bytes > FEW.bytes) return undefined
      placed.push([operation, found])
    }
    charge(placed.reduce((sum, [, place]) => sum + placeCost(place), historyCost(history.length)))
    return placed.map(([operation, place]) => proofJson(operation, place))
  }

  return [{
    name: "blockchain.name.get_value_proof",
    group: "scripthash",
    since: VERSION_1_4_3,
    signature: takes(["scripthash"], ["cp_height"]),
    atOnce: ([givenHash, givenCheckpoint], caller) => {
      const key = givenCheckpoint === undefined ? scriptHash(givenHash) : undefined
      const proofs = key !== undefined && Either.isRight(key) ? proofsAtOnce(key.right, caller) : undefined
      return proofs && { [String(givenHash)]: proofs }
    },
    call: ([givenHash, givenCheckpoint], caller) =>
      Effect.gen(function*() {
        const key = yield* scriptHash(givenHash)
        const checkpoint = givenCheckpoint === undefined ? 0 : yield* nonNegativeInteger(givenCheckpoint)
        const history = yield* histories.confirmed(key, caller)
        caller.charge(historyCost(history.length))
        const proving = provingOperations(history, { checkpoint, expiration: expiration() })
        if (proving.length * AROUND > ANSWER_BYTES) return yield* tooLargeAnswer()
        const proofs: Array<JsonValue> = []
        const pause = pauses()
        let size = 0
        for (const operation of proving) {
          yield* caller.withinLimits
          const proof = yield* proofOf(operation, { caller, checkpoint })
          yield* pause
          size += lengthOf(proof) + AROUND
          if (size > ANSWER_BYTES) return yield* tooLargeAnswer()
          proofs.push(proof)
        }
        // As the client wrote it: it may have capitals.
        return { [String(givenHash)]: proofs }
      })
  }]
}
