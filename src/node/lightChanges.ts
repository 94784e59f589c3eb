import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { NO_HEADER } from "../chain/index/HeaderTree.ts"
import type { WantedChanges } from "../client/changeFilter.ts"
import { changesOf } from "../client/changes.ts"
import { type Freshness, freshnessOf, type NameChange } from "../client/records.ts"
import type { LightNode } from "../light/LightPart.ts"
import { CursorUnusable } from "../names/errors.ts"
import {
  blockKey,
  cursorText,
  endOf,
  type EventCursor,
  EventPhase,
  numberIn,
  readCursorText
} from "../names/events/EventCursor.ts"
import { filtered } from "../names/events/EventFilter.ts"
import type { NameEvent, OperationEvent, UndoneName } from "../names/events/NameEvent.ts"
import type { NameEntry } from "../names/NameEntry.ts"
import type { Bytes } from "../protocol/bytes.ts"
import { type HeaderId, type Height, nameKey } from "../protocol/keys.ts"
import type { StorageFailure } from "../storage/errors.ts"

/**
 * Changes of names from the window of a light node, within the depth of a reorganization. The record before an
 * operation may be older than the window, and is missing.
 */

/** The longest reorganization that a window follows. */
const KEPT_BLOCKS = 288

type Failure = StorageFailure | CursorUnusable

type Touched = ReadonlyArray<Pick<NameEntry, "name" | "address">>

class Received {
  last: HeaderId
  /** The position within the next block after which changes are wanted. */
  behind: EventCursor | undefined
  /** The names of the last blocks, which the window forgets in a reorganization. */
  readonly touched = new Map<HeaderId, Touched>()

  constructor(last: HeaderId, behind?: EventCursor) {
    this.last = last
    this.behind = behind
  }

  add(block: HeaderId, entries: ReadonlyArray<NameEntry>): void {
    this.touched.set(block, [...new Map(entries.map((entry) => [nameKey(entry.name), entry])).values()])
    this.last = block
    this.behind = undefined
    for (const id of this.touched.keys()) {
      if (this.touched.size > KEPT_BLOCKS) this.touched.delete(id)
    }
  }
}

export type WindowLog = Pick<LightNode, "complete" | "operationsFrom" | "params" | "resolve"> & {
  readonly span: Pick<LightNode["span"], "filled">
  readonly chain: {
    readonly tree: Pick<LightNode["chain"]["tree"], "ancestor" | "forkPoint" | "hash" | "height" | "parent" | "tip">
    readonly events: Stream.Stream<unknown>
  }
}

export const make = (light: WindowLog) => {
  const { chain: { tree }, params } = light

  const hashOf = (id: HeaderId): Bytes => tree.hash(id).slice()

  const endOfBlock = (id: HeaderId): EventCursor => endOf({ height: tree.height(id), hash: hashOf(id) })

  /** The lowest block after which all operations are known. */
  const oldest = (tip: HeaderId): HeaderId =>
    tree.ancestor(tip, Math.max(light.span.filled().low, tree.height(tip) - KEPT_BLOCKS + 1) - 1)

  const operations = (from: Height): Effect.Effect<ReadonlyMap<Height, ReadonlyArray<NameEntry>>, StorageFailure> =>
    Effect.map(light.operationsFrom(from), (entries) => {
      const found = new Map<Height, Array<NameEntry>>()
      for (const entry of entries) {
        const block = found.get(entry.height)
        if (block === undefined) found.set(entry.height, [entry])
        else block.push(entry)
      }
      return found
    })

  const placeOf = (from: string | undefined, tip: HeaderId): Effect.Effect<Received, CursorUnusable> => {
    if (from === undefined) return Effect.succeed(new Received(tip))
    const unusable = (why: CursorUnusable["why"]) =>
      new CursorUnusable({ cursor: from, why, oldest: cursorText(endOfBlock(oldest(tip))) })
    const cursor = readCursorText(from)
    if (cursor === undefined) return unusable("damaged")
    if (cursor.height < tree.height(oldest(tip))) return unusable("early")
    if (cursor.height > tree.height(tip)) return unusable("future")
    const block = tree.ancestor(tip, cursor.height)
    if (blockKey(tree.hash(block)) !== cursor.block || cursor.base !== undefined) return unusable("pruned")
    if (cursor.number === endOfBlock(block).number) return Effect.succeed(new Received(block))
    return block === oldest(tip) ? unusable("early") : Effect.succeed(new Received(tree.parent(block), cursor))
  }

  const undone = (received: Received, tip: HeaderId): ReadonlyArray<NameEvent & { readonly type: "undone" }> => {
    const base = tree.forkPoint(received.last, tip)
    const events: Array<NameEvent & { readonly type: "undone" }> = []
    for (let id = received.last; id !== base; id = tree.parent(id)) {
      const touched = received.touched.get(id) ?? []
      const [height, hash, parent] = [tree.height(id), hashOf(id), tree.parent(id)]
      const down = { base: tree.height(base) }
      const end = parent === base ? endOfBlock(parent) : { ...endOfBlock(parent), ...down }
      const names = touched.map(({ address, name }, index): UndoneName => {
        const number = numberIn({ phase: EventPhase.undone, index })
        const cursor = index === touched.length - 1 ? end : { height, number, block: blockKey(hash), ...down }
        return { cursor, name, record: undefined, owners: [address] }
      })
      events.push({ type: "undone", cursor: end, height, hash, names })
      received.touched.delete(id)
    }
    received.last = base
    return events
  }

  const eventsOf = (id: HeaderId, entries: ReadonlyArray<NameEntry>): ReadonlyArray<OperationEvent> => {
    const [height, hash] = [tree.height(id), hashOf(id)]
    return entries.map((record, index) => ({
      type: record.op === "name_firstupdate" ? "registered" : "updated",
      cursor: { height, number: numberIn({ phase: EventPhase.operations, index }), block: blockKey(hash) },
      height,
      hash,
      record,
      before: undefined
    }))
  }

  const look = (received: Received, { filter }: WantedChanges): Effect.Effect<ReadonlyArray<NameChange>, Failure> =>
    Effect.gen(function*() {
      const synced = yield* light.complete
      const changes: Array<NameChange> = []
      for (;;) {
        const tip = tree.tip()
        const asOf = (height: Height): Freshness =>
          freshnessOf({ height, synced: synced && height >= tree.height(tip), proof: "work" })
        const fork = tree.forkPoint(received.last, tip)
        if (tree.height(fork) < tree.height(oldest(tip))) {
          const cursor = cursorText(endOfBlock(received.last))
          return yield* new CursorUnusable({ cursor, why: "pruned", oldest: cursorText(endOfBlock(oldest(tip))) })
        }
        for (const event of undone(received, tip)) {
          for (const each of event.names) {
            if (filtered(filter, { ...event, names: [each] }) === undefined) continue
            const record = (yield* light.resolve(each.name))?.record
            changes.push(...changesOf({ params, asOf }, { ...event, names: [{ ...each, record }] }))
          }
        }
        const found = yield* operations(tree.height(fork) + 1)
        // The chain changed meanwhile: the operations may be of other blocks.
        if (tree.tip() !== tip) continue
        for (let height = tree.height(fork) + 1; height <= tree.height(tip); height++) {
          const block = tree.ancestor(tip, height)
          const entries = found.get(height) ?? []
          const { behind } = received
          for (const event of eventsOf(block, entries)) {
            if (behind !== undefined && height === behind.height && event.cursor.number <= behind.number) continue
            if (filtered(filter, event) !== undefined) changes.push(...changesOf({ params, asOf }, event))
          }
          received.add(block, entries)
        }
        return changes
      }
    })

  const begin = (from: string | undefined): Effect.Effect<Received, Failure> =>
    Effect.gen(function*() {
      for (;;) {
        const tip = tree.tip()
        const { behind, last } = yield* placeOf(from, tip)
        const lowest = oldest(tip)
        const found = yield* operations(tree.height(lowest) + 1)
        if (tree.tip() !== tip) continue
        const received = new Received(lowest)
        for (let height = tree.height(lowest) + 1; height <= tree.height(last); height++) {
          received.add(tree.ancestor(tip, height), found.get(height) ?? [])
        }
        received.behind = behind
        return received
      }
    })

  return (wanted: WantedChanges): Stream.Stream<NameChange, Failure> =>
    Stream.suspend(() => {
      let received: Received | undefined
      // Subscribes before the first look, so that no block is missed.
      return Stream.merge(light.chain.events, Stream.void).pipe(
        Stream.mapConcatEffect(() =>
          Effect.gen(function*() {
            // Before its first block the window has no place to begin at.
            if (light.span.filled().high === NO_HEADER) return []
            received ??= yield* begin(wanted.from)
            return yield* look(received, wanted)
          })
        )
      )
    })
}
