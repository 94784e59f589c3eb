import { Effect } from "effect"
import { BlockNotFound } from "../../../src/chain/errors.ts"
import { NO_HEADER } from "../../../src/chain/index/HeaderTree.ts"
import type { ConnectedBlock } from "../../../src/chain/write/Follower.ts"
import { type ConsensusParams, regtestParams } from "../../../src/consensus/params.ts"
import { blockKey, type EventCursor } from "../../../src/names/events/EventCursor.ts"
import { type EventOptions, type EventPage, makeNameEvents } from "../../../src/names/events/NameEvents.ts"
import type { EventTree } from "../../../src/names/events/resume.ts"
import type { NameDb, NameEntry } from "../../../src/names/NameDb.ts"
import { binaryString, type Bytes, displayHash, toHex } from "../../../src/protocol/bytes.ts"
import { type HeaderId, headerId } from "../../../src/protocol/keys.ts"

/** Branches of blocks without a chain: a tree of their headers, and names.db that is moved along them by hand. */

export class Branches {
  private readonly blocks: Array<{ readonly block: ConnectedBlock; readonly parent: HeaderId }> = []
  private readonly ids = new Map<string, HeaderId>()
  /** Blocks that are not stored any more. */
  readonly lost = new Set<string>()
  /** Invalid blocks. */
  readonly failed = new Set<string>()
  /** The last block of the best chain, which names.db follows. */
  tip: ConnectedBlock | undefined

  /** Adds blocks on top of a known one, or of nothing. */
  add(blocks: ReadonlyArray<ConnectedBlock>, on?: ConnectedBlock): void {
    let parent = on === undefined ? NO_HEADER : this.find(on.hash)
    for (const block of blocks) {
      const known = this.find(block.hash)
      if (known !== NO_HEADER) {
        parent = known
        continue
      }
      const id = headerId(this.blocks.length)
      this.blocks.push({ block, parent })
      this.ids.set(binaryString(block.hash), id)
      parent = id
    }
  }

  private find(hash: Bytes): HeaderId {
    return this.ids.get(binaryString(hash)) ?? NO_HEADER
  }

  private at(id: HeaderId) {
    const found = this.blocks[id]
    if (found === undefined) throw new RangeError(`there is no header ${id}`)
    return found
  }

  get tree(): EventTree {
    const height = (id: HeaderId): number => this.at(id).block.height
    const ancestor = (id: HeaderId, wanted: number): HeaderId => {
      let at = id
      while (height(at) > wanted) at = this.at(at).parent
      return at
    }
    return {
      find: (hash) => this.find(hash),
      hash: (id) => this.at(id).block.hash,
      height,
      parent: (id) => this.at(id).parent,
      ancestor,
      count: () => this.blocks.length,
      time: (id) => 1_300_000_000 + 600 * height(id),
      isFailed: (id) => this.failed.has(blockKey(this.at(id).block.hash)),
      tip: () => this.tip === undefined ? NO_HEADER : this.find(this.tip.hash),
      forkPoint: (a, b) => {
        let [one, other] = [a, b]
        while (one !== other) {
          if (height(one) >= height(other)) one = this.at(one).parent
          else other = this.at(other).parent
        }
        return one
      }
    }
  }

  events(db: typeof NameDb.Service, params: ConsensusParams = regtestParams) {
    return makeNameEvents({
      params,
      tree: this.tree,
      readLog: db.readLog,
      commits: Effect.runSync(db.commits),
      touchedBy: (hash) => {
        const id = this.find(hash)
        return id === NO_HEADER || this.lost.has(binaryString(hash))
          ? new BlockNotFound({ hash: displayHash(hash) })
          : Effect.succeed(this.at(id).block.effects.map(({ address, name }) => ({ name, owner: address })))
      }
    })
  }
}

const said = ({ address, height, txid, value, vout }: NameEntry): string =>
  [height, toHex(value), toHex(address), toHex(txid), vout].join(" ")

/** What a stranger builds from events: the record of each name, and the names that are expired. */
export class Replica {
  readonly records = new Map<string, string>()
  readonly expired = new Set<string>()
  readonly seen: Array<EventPage["events"][number]> = []

  take({ events }: Pick<EventPage, "events">): void {
    for (const event of events) {
      this.seen.push(event)
      if (event.type === "undone") {
        for (const { name, record } of event.names) {
          const key = binaryString(name)
          this.expired.delete(key)
          if (record === undefined) this.records.delete(key)
          else this.records.set(key, said(record))
        }
      } else if (event.type === "expired") this.expired.add(binaryString(event.record.name))
      else if (event.type !== "expiring" && event.type !== "block") {
        this.records.set(binaryString(event.record.name), said(event.record))
        this.expired.delete(binaryString(event.record.name))
      }
    }
  }
}

/** All records of names.db, as a replica has them. */
export const recordsOf = (records: Iterable<NameEntry>): ReadonlyMap<string, string> =>
  new Map([...records].map((record) => [binaryString(record.name), said(record)]))

type Events = ReturnType<Branches["events"]>

/** Reads the pages behind a cursor until there are no more, at most `most`. */
export const readAll = (
  events: Events,
  from: EventCursor,
  { before = true, blocks = false, most = Infinity, notices = false }: Partial<EventOptions> & {
    readonly most?: number
  } = {}
) =>
  Effect.gen(function*() {
    const pages: Array<EventPage> = []
    for (let at = from; pages.length < most;) {
      const page = yield* events.page(at, { notices, blocks, before })
      pages.push(page)
      at = page.next
      if (page.isEnd) break
    }
    return pages
  })
