import * as Effect from "effect/Effect"
import type { ConnectedBlock } from "../../src/chain/write/Follower.ts"
import { type ConsensusParams, paramsOf } from "../../src/consensus/params.ts"
import { makeNameEvents, type NameEvents } from "../../src/names/events/NameEvents.ts"
import type { EventTree } from "../../src/names/events/resume.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import { binaryString } from "../../src/protocol/bytes.ts"
import { headerId } from "../../src/protocol/keys.ts"
import { networks } from "../../src/protocol/networks.ts"
import { blockOf, NAMES_PER_BLOCK } from "./nameDb.ts"

/** names.db with many operations, and the log of its events, over a chain without forks. */

/** Blocks that are connected at once. */
const BATCH = 256

const params: ConsensusParams = paramsOf(networks.mainnet)

export class BenchChain {
  private readonly hashes: Array<Uint8Array> = []
  private readonly heights = new Map<string, number>()
  private readonly names: number

  constructor(names: number) {
    this.names = names
  }

  /** The next block: in the first round each name is registered, then each is updated, and so on. */
  next(): ConnectedBlock {
    const height = this.hashes.length
    const first = height * NAMES_PER_BLOCK
    const block = blockOf(height, {
      first: first % this.names,
      count: NAMES_PER_BLOCK,
      round: Math.floor(first / this.names)
    })
    this.hashes.push(block.hash)
    this.heights.set(binaryString(block.hash), height)
    return block
  }

  /** Connects blocks until there are so many operations. */
  grow(operations: number) {
    const { hashes } = this
    const next = (): ConnectedBlock => this.next()
    return Effect.gen(function*() {
      const { follower } = yield* NameDb.NameDb
      while (hashes.length * NAMES_PER_BLOCK < operations) yield* follower.apply(Array.from({ length: BATCH }, next))
    })
  }

  private get tree(): EventTree {
    const { hashes, heights } = this
    return {
      find: (hash) => headerId(heights.get(binaryString(hash)) ?? -1),
      hash: (id) => hashes[id] ?? new Uint8Array(32),
      height: (id) => id,
      parent: (id) => headerId(id - 1),
      ancestor: (_, height) => headerId(height),
      count: () => hashes.length,
      isFailed: () => false,
      time: (id) => 1_300_000_000 + id * 600,
      tip: () => headerId(hashes.length - 1),
      forkPoint: (a, b) => headerId(Math.min(a, b))
    }
  }

  get events(): Effect.Effect<typeof NameEvents.Service, never, NameDb.NameDb> {
    const { tree } = this
    return Effect.gen(function*() {
      const { commits, readLog } = yield* NameDb.NameDb
      return makeNameEvents({ params, tree, readLog, commits: yield* commits, touchedBy: () => Effect.succeed([]) })
    })
  }
}
