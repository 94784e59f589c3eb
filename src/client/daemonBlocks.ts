import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ConsensusParams } from "../consensus/params.ts"
import { CursorUnusable } from "../names/errors.ts"
import {
  BEGINNING,
  blockKey,
  cursorText,
  endOf,
  type EventCursor,
  EventPhase,
  numberIn,
  readCursorText
} from "../names/events/EventCursor.ts"
import { filtered } from "../names/events/EventFilter.ts"
import type { NameEvent, UndoneName } from "../names/events/NameEvent.ts"
import { type Bytes, parseDisplayHash } from "../protocol/bytes.ts"
import { GETBLOCKHASH } from "../rpc/contract/chain/chain.ts"
import { RPC_CODE } from "../rpc/method/RpcError.ts"
import type { WantedChanges } from "./changeFilter.ts"
import { changesOf } from "./changes.ts"
import { type DaemonBlock, daemonBlockReader } from "./daemonBlockReader.ts"
import type { DaemonRpc } from "./DaemonRpc.ts"
import type { DaemonFailure } from "./errors.ts"
import { changeOf, type Freshness, freshnessOf, type NameChange } from "./records.ts"
import { hashReply } from "./replies.ts"

/**
 * Changes of names from the blocks of the reference node, which has no events. The client polls the tip, fetches the
 * new blocks and decodes them raw, a form that all daemons share. Blocks show operations only: neither expiry nor the
 * record before an operation.
 */

const AT_ONCE = 16

const START: DaemonBlock = { hash: "", height: -1 }

interface Stale extends DaemonBlock {
  readonly parent: DaemonBlock
}

interface Seen {
  readonly last: DaemonBlock
  /** The position within the next block after which the caller wants changes. */
  readonly behind: EventCursor | undefined
  readonly more: boolean
}

export interface DaemonBlocksParts {
  readonly rpc: DaemonRpc
  readonly params: ConsensusParams
  /** Milliseconds between two polls of the tip. */
  readonly interval: number
  readonly current: (name: Bytes) => Effect.Effect<NameChange["record"], DaemonFailure>
}

type Failure = DaemonFailure | CursorUnusable

const wireHash = (hash: string): Bytes => parseDisplayHash(hash) ?? new Uint8Array(32)

const endOfPlace = ({ hash, height }: DaemonBlock): EventCursor =>
  height < 0 ? BEGINNING : endOf({ height, hash: wireHash(hash) })

const unusable = (cursor: string, why: CursorUnusable["why"]) =>
  new CursorUnusable({ cursor, why, oldest: cursorText(BEGINNING) })

export const make = ({ current, interval, params, rpc }: DaemonBlocksParts) => {
  const { ask, header, names, tip } = daemonBlockReader(rpc)

  /** Where the changes after a cursor begin. The reference node finds blocks by height only in the best chain. */
  const begin = (from: string | undefined): Effect.Effect<Seen, Failure> =>
    Effect.gen(function*() {
      if (from === undefined) return { last: (yield* tip).at, behind: undefined, more: false }
      const cursor = readCursorText(from)
      if (cursor === undefined) return yield* unusable(from, "damaged")
      if (cursor.height < 0) return { last: START, behind: undefined, more: true }
      const hash = yield* ask(GETBLOCKHASH, { height: cursor.height }, hashReply).pipe(
        Effect.catchIf(isNoHeight, () => unusable(from, "future"))
      )
      if (cursor.base !== undefined || blockKey(wireHash(hash)) !== cursor.block) {
        return yield* unusable(from, "unknown")
      }
      const at = { hash, height: cursor.height }
      if (cursor.number === endOfPlace(at).number) return { last: at, behind: undefined, more: true }
      const { previousblockhash: previous } = yield* header(hash)
      return {
        last: previous === undefined ? START : { hash: previous, height: cursor.height - 1 },
        behind: cursor,
        more: true
      }
    })

  /** The blocks that left the best chain, the highest first, and the fork point below them. */
  const fork = (from: DaemonBlock): Effect.Effect<
    { readonly undone: ReadonlyArray<Stale>; readonly base: DaemonBlock },
    DaemonFailure
  > =>
    Effect.gen(function*() {
      const undone: Array<Stale> = []
      for (let at = from; at.height >= 0;) {
        const { confirmations, previousblockhash: previous } = yield* header(at.hash)
        if (confirmations >= 0 || previous === undefined) return { undone, base: at }
        const parent = { hash: previous, height: at.height - 1 }
        undone.push({ ...at, parent })
        at = parent
      }
      return { undone, base: START }
    })

  const takenBack = (
    { base, undone }: { readonly undone: ReadonlyArray<Stale>; readonly base: DaemonBlock },
    { filter }: WantedChanges
  ) =>
    Effect.gen(function*() {
      const changes: Array<NameChange> = []
      for (const { hash, height, parent } of undone) {
        const block = wireHash(hash)
        const records = yield* names({ hash, height })
        const end = parent.height > base.height ? { ...endOfPlace(parent), base: base.height } : endOfPlace(parent)
        for (const [index, { address, name }] of records.entries()) {
          const number = numberIn({ phase: EventPhase.undone, index })
          const inside: EventCursor = { height, number, block: blockKey(block), base: base.height }
          const cursor = index === records.length - 1 ? end : inside
          const told: UndoneName = { cursor, name, record: undefined, owners: [address] }
          const event: NameEvent = { type: "undone", cursor, height, hash: block, names: [told] }
          if (filtered(filter, event) === undefined) continue
          const record = yield* current(name)
          const nothing = freshnessOf({ height, synced: false, proof: "full" })
          const [change] = changesOf({ params, asOf: () => nothing }, event)
          if (change !== undefined) changes.push(changeOf({ ...change, record }))
        }
      }
      return changes
    })

  const connected = (
    base: DaemonBlock,
    { asOf, behind, to }: { readonly to: number; readonly asOf: Freshness; readonly behind: EventCursor | undefined },
    { filter }: WantedChanges
  ) =>
    Effect.gen(function*() {
      const changes: Array<NameChange> = []
      const freshness = (height: number): Freshness =>
        freshnessOf({ height, synced: asOf.synced && height >= asOf.height, proof: asOf.proof })
      let last = base
      for (let height = base.height + 1; height <= to; height++) {
        const blockHash = yield* ask(GETBLOCKHASH, { height }, hashReply)
        const { previousblockhash: previous = START.hash } = yield* header(blockHash)
        // A reorg came between: the next poll finds the fork point.
        if (previous !== last.hash) break
        last = { hash: blockHash, height }
        const hash = wireHash(blockHash)
        for (const [index, record] of (yield* names(last)).entries()) {
          const number = numberIn({ phase: EventPhase.operations, index })
          if (behind !== undefined && height === behind.height && number <= behind.number) continue
          const event: NameEvent = {
            type: record.op === "name_firstupdate" ? "registered" : "updated",
            cursor: { height, number, block: blockKey(hash) },
            height,
            hash,
            record,
            before: undefined
          }
          if (filtered(filter, event) === undefined) continue
          changes.push(...changesOf({ params, asOf: freshness }, event))
        }
      }
      return { changes, last }
    })

  /** One poll: the changes since a block, and where they end. */
  const look = ({ behind, last: seen }: Seen, wanted: WantedChanges) =>
    Effect.gen(function*() {
      const { asOf, at } = yield* tip
      if (seen.hash === at.hash) return { changes: [], seen: { last: seen, behind, more: false } }
      const forked = yield* Effect.catchIf(
        fork(seen),
        isUnknownBlock,
        () => unusable(cursorText(endOfPlace(seen)), "unknown")
      )
      const changes = yield* takenBack(forked, wanted)
      const to = Math.min(at.height, forked.base.height + AT_ONCE)
      const { changes: fresh, last } = yield* connected(forked.base, { to, asOf, behind }, wanted)
      const left = behind !== undefined && last.height < behind.height ? behind : undefined
      return { changes: [...changes, ...fresh], seen: { last, behind: left, more: last.height < at.height } }
    })

  /** The stream retries while the daemon is unreachable or not ready. */
  return (wanted: WantedChanges): Stream.Stream<NameChange, Failure> =>
    Stream.unwrap(
      Effect.map(
        begin(wanted.from),
        (first) =>
          Stream.paginateChunkEffect(first, (seen) =>
            Effect.sleep(seen.more ? 0 : interval).pipe(
              Effect.zipRight(look(seen, wanted)),
              Effect.catchIf(
                ({ _tag }) => _tag === "DaemonUnreachable" || _tag === "DaemonNotReady",
                () => Effect.succeed({ changes: new Array<NameChange>(), seen: { ...seen, more: false } })
              ),
              Effect.map(({ changes, seen }) => [Chunk.unsafeFromArray(changes), Option.some(seen)] as const)
            ))
      )
    )
}

const isUnknownBlock = (failure: DaemonFailure): boolean =>
  failure._tag === "DaemonRefused" && failure.code === RPC_CODE.invalidAddressOrKey

const isNoHeight = (failure: DaemonFailure): boolean =>
  failure._tag === "DaemonRefused" && failure.code === RPC_CODE.invalidParameter
