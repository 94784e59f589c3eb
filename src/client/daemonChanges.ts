import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ConsensusParams } from "../consensus/params.ts"
import { decodeBlock } from "../protocol/block.ts"
import { type Bytes, fromHex } from "../protocol/bytes.ts"
import { DecodeError } from "../protocol/Reader.ts"
import type { Json } from "../rpc/json/json.ts"
import { RPC_CODE } from "../rpc/method/RpcError.ts"
import { blockNamesOf } from "./blockNames.ts"
import { type DaemonRpc, refused } from "./DaemonRpc.ts"
import type { DaemonFailure } from "./errors.ts"
import type { Freshness, NameChange, NameRecord } from "./NameClient.ts"
import { type ChainRecord, fixedPart, recordAt } from "./record.ts"
import { chainInfo, hashReply, type HeaderPlace, headerPlace, reading, textReply } from "./replies.ts"

/**
 * Changes of names, from the blocks of a daemon. The client polls the tip and fetches the blocks between the last one
 * seen and the tip. It decodes the raw block, which has the same form in every daemon.
 */

/** Maximum number of blocks that a subscriber may be behind; the oldest blocks beyond it are skipped. */
const MAX_BEHIND = 2_016

/** Maximum number of blocks in one batch. */
const AT_ONCE = 16

interface Place {
  readonly hash: string
  readonly height: number
}

export interface DaemonChangesParts {
  readonly rpc: DaemonRpc
  readonly params: ConsensusParams
  /** Milliseconds between two polls of the tip. */
  readonly interval: number
  /** The current record of a name; `undefined` if it is not registered. */
  readonly current: (name: Bytes) => Effect.Effect<NameRecord | undefined, DaemonFailure>
}

export const make = ({ current, interval, params, rpc }: DaemonChangesParts) => {
  const ask = <A>(method: string, args: ReadonlyArray<string | number>, read: (reply: Json) => A | undefined) =>
    rpc.read(method, args).pipe(
      Effect.mapError(refused),
      Effect.flatMap((reply) => reading(method, reply, read))
    )

  const header = (blockHash: string): Effect.Effect<HeaderPlace, DaemonFailure> =>
    ask("getblockheader", [blockHash], headerPlace)

  const names = ({ hash, height }: Place): Effect.Effect<ReadonlyArray<ChainRecord>, DaemonFailure> =>
    ask("getblock", [hash, 0], (reply) => {
      const bytes = fromHex(textReply(reply) ?? "")
      try {
        return bytes === undefined ? undefined : blockNamesOf(decodeBlock(bytes), height)
      } catch (cause) {
        if (cause instanceof DecodeError) return undefined
        throw cause
      }
    })

  /** The tip, and the freshness of the daemon. */
  const tip: Effect.Effect<{ readonly at: Place; readonly asOf: Freshness }, DaemonFailure> = Effect.gen(function*() {
    const { asOf, best } = yield* ask("getblockchaininfo", [], chainInfo)
    return { at: { hash: best, height: asOf.height }, asOf }
  })

  /** The blocks that are no longer in the best chain, the highest first, and the fork point below them. */
  const fork = (from: Place): Effect.Effect<
    { readonly undone: ReadonlyArray<Place>; readonly base: Place },
    DaemonFailure
  > =>
    Effect.gen(function*() {
      const undone: Array<Place> = []
      for (let at = from;;) {
        const { confirmations, previousblockhash: previous } = yield* header(at.hash)
        if (confirmations >= 0 || previous === undefined || undone.length === MAX_BEHIND) return { undone, base: at }
        undone.push(at)
        at = { hash: previous, height: at.height - 1 }
      }
    })

  const told = (record: ChainRecord, asOf: Freshness): NameChange | undefined => {
    const fixed = fixedPart(record, params)
    return fixed === undefined
      ? undefined
      : { name: fixed.name, record: recordAt(fixed, asOf, params), height: record.height }
  }

  /** The current records of the names that disconnected blocks had set. */
  const takenBack = (undone: ReadonlyArray<Place>) =>
    Effect.gen(function*() {
      const changes: Array<NameChange> = []
      for (const place of undone) {
        for (const record of yield* names(place)) {
          const fixed = fixedPart(record, params)
          if (fixed === undefined) continue
          changes.push({ name: fixed.name, record: yield* current(record.name), height: place.height })
        }
      }
      return changes
    })

  const connected = (base: Place, to: number, asOf: Freshness) =>
    Effect.gen(function*() {
      const changes: Array<NameChange> = []
      let last = base
      for (let height = base.height + 1; height <= to; height++) {
        const blockHash = yield* ask("getblockhash", [height], hashReply)
        const { previousblockhash: previous } = yield* header(blockHash)
        // A reorg happened during the read: the next poll finds the fork point.
        if (previous !== last.hash) break
        last = { hash: blockHash, height }
        for (const record of yield* names(last)) {
          const change = told(record, asOf)
          if (change !== undefined) changes.push(change)
        }
      }
      return { changes, last }
    })

  /** The block after which the changes are emitted, at most `MAX_BEHIND` below the target. */
  const notTooFar = (base: Place, target: number): Effect.Effect<Place, DaemonFailure> => {
    const height = target - MAX_BEHIND
    if (base.height >= height) return Effect.succeed(base)
    return Effect.map(ask("getblockhash", [height], hashReply), (found) => ({ hash: found, height }))
  }

  /** One poll: the changes since a block, and the last block that they cover. */
  const look = (seen: Place | undefined) =>
    Effect.gen(function*() {
      const { asOf, at } = yield* tip
      if (seen === undefined) return { changes: [], last: at, more: false }
      if (seen.hash === at.hash) return { changes: [], last: seen, more: false }
      const forked = yield* Effect.catchIf(fork(seen), isUnknownBlock, () => Effect.succeed(undefined))
      // The daemon does not know the block: it has another data directory.
      if (forked === undefined) return { changes: [], last: at, more: false }
      const { base: below, undone } = forked
      const changes = yield* takenBack(undone)
      const base = yield* notTooFar(below, at.height)
      const to = Math.min(at.height, base.height + AT_ONCE)
      const { changes: fresh, last } = yield* connected(base, to, asOf)
      return { changes: [...changes, ...fresh], last, more: last.height < at.height }
    })

  /** Changes from now on. While the daemon is unreachable or not ready, the stream retries. */
  return Stream.unwrap(
    Effect.map(
      look(undefined),
      ({ last: first }) =>
        Stream.paginateChunkEffect(
          { last: first, more: false },
          ({ last, more }) =>
            Effect.sleep(more ? 0 : interval).pipe(
              Effect.zipRight(look(last)),
              Effect.catchIf(
                ({ _tag }) => _tag === "DaemonUnreachable" || _tag === "DaemonNotReady",
                () => Effect.succeed({ changes: new Array<NameChange>(), last, more: false })
              ),
              Effect.map(({ changes, ...next }) => [Chunk.unsafeFromArray(changes), Option.some(next)] as const)
            )
        )
    )
  )
}

const isUnknownBlock = (failure: DaemonFailure): boolean =>
  failure._tag === "DaemonRefused" && failure.code === RPC_CODE.invalidAddressOrKey
