import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { NONE } from "../../../src/chain/index/BlockIndex.ts"
import type { ChainState } from "../../../src/chain/state/ChainState.ts"
import { Connector } from "../../../src/chain/state/Connector.ts"
import type { Cursor, Follower } from "../../../src/chain/write/Follower.ts"
import { cursorOf, follow, type Following, nextMove } from "../../../src/chain/write/followers.ts"
import { decodeBlock } from "../../../src/protocol/block.ts"
import { type HeaderId, headerId } from "../../../src/protocol/keys.ts"
import { StorageCorrupted } from "../../../src/storage/errors.ts"
import { recordsOf } from "../../support/bytes.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { moveAll, openState } from "../../support/chainState.ts"
import { fixtureBytes } from "../../support/fixtures.ts"
import { withDirectory } from "../../support/temporary.ts"

const FORK = 60
const TIP = 64

const main = recordsOf(fixtureBytes("regtest-names/blocks.dat"))
/** Two blocks on top of block 60, on a branch that loses against the main chain. */
const stale = recordsOf(fixtureBytes("regtest-names/stale.dat")).slice(0, 2)

const offer = (state: ChainState, blocks: ReadonlyArray<Uint8Array>): void => {
  for (const bytes of blocks) assert.notStrictEqual(state.acceptBlock(decodeBlock(bytes)).type, "rejected")
}

interface Branched {
  readonly state: ChainState
  readonly staleIds: ReadonlyArray<HeaderId>
}

/** The main chain up to `TIP`. `connected`: whether the stale branch was the best chain for a while. */
const makeState = (directory: string, connected: boolean): Branched => {
  const state = openState(directory)
  offer(state, main.slice(1, FORK + 1))
  moveAll(state)
  if (connected) {
    offer(state, stale)
    moveAll(state)
    assert.strictEqual(state.active.height, FORK + 2)
  }
  offer(state, main.slice(FORK + 1, TIP + 1))
  moveAll(state)
  if (!connected) offer(state, stale)
  moveAll(state)
  assert.strictEqual(state.active.settledHeight, TIP)
  const staleIds = stale.map((bytes) => state.index.find(decodeBlock(bytes).hash))
  assert.isFalse(staleIds.includes(NONE))
  return { state, staleIds }
}

const withState = (connected: boolean, work: (state: ChainState, staleIds: ReadonlyArray<HeaderId>) => void): void =>
  withDirectory((directory) => {
    const { staleIds, state } = makeState(directory, connected)
    try {
      work(state, staleIds)
    } finally {
      state.close()
    }
  })

const unknown = new Uint8Array(32).fill(0xee)

describe("nextMove", () => {
  it("nextMove goes forward from the best chain, and from the first block without a cursor", () => {
    withState(false, (state) => {
      assert.deepStrictEqual(nextMove(state, undefined), { type: "forward", from: 0 })
      for (const height of [0, 17, TIP]) {
        assert.deepStrictEqual(nextMove(state, cursorOf(state, state.active.at(height))), {
          type: "forward",
          from: height + 1
        })
      }
    })
  })

  it("nextMove rewinds from an earlier best chain to the fork point", () => {
    withState(true, (state, ids) => {
      for (const id of ids) {
        assert.deepStrictEqual(nextMove(state, cursorOf(state, id)), {
          type: "rewind",
          to: { height: FORK, hash: decodeBlock(main[FORK] ?? new Uint8Array(0)).hash.slice() }
        })
      }
    })
  })

  it("nextMove rewinds from a branch that was never connected if the chain has reached its height", () => {
    withState(false, (state, ids) => {
      for (const id of ids) {
        assert.deepStrictEqual(nextMove(state, cursorOf(state, id)), {
          type: "rewind",
          to: cursorOf(state, state.active.at(FORK))
        })
      }
    })
  })

  it("nextMove waits for a block above the tip that is unknown or was never connected", () => {
    withState(false, (state) => {
      assert.deepStrictEqual(nextMove(state, { height: TIP + 1, hash: unknown }), { type: "wait" })
      const ahead = decodeBlock(main[TIP + 1] ?? new Uint8Array(0))
      assert.strictEqual(state.acceptHeader(ahead).type, "new")
      assert.deepStrictEqual(nextMove(state, { height: TIP + 1, hash: ahead.hash }), { type: "wait" })
    })
  })

  it("nextMove rewinds to genesis if the cursor's block is unknown and the chain has another one at its height", () => {
    withState(false, (state) => {
      for (const height of [1, TIP]) {
        assert.deepStrictEqual(nextMove(state, { height, hash: unknown }), {
          type: "rewind",
          to: cursorOf(state, headerId(0))
        })
      }
    })
  })

  it("nextMove rewinds to the newest block of the trail that the chain knows", () => {
    withState(false, (state, ids) => {
      const cursor = { height: TIP, hash: unknown }
      const lost = [cursor, { height: TIP - 1, hash: unknown }]
      const known = cursorOf(state, state.active.at(TIP - 2))
      const older = cursorOf(state, state.active.at(TIP - 3))
      assert.deepStrictEqual(nextMove(state, cursor, [...lost, known, older]), { type: "rewind", to: known })
      assert.deepStrictEqual(nextMove(state, cursor, lost), { type: "rewind", to: cursorOf(state, headerId(0)) })
      const branch = cursorOf(state, ids[1] ?? NONE)
      assert.deepStrictEqual(nextMove(state, cursor, [...lost, branch, older]), {
        type: "rewind",
        to: cursorOf(state, state.active.at(FORK))
      })
    })
  })

  it("nextMove does not wait above the tip on a branch that left the chain", () => {
    withState(false, (state) => {
      const cursor = { height: TIP + 2, hash: unknown }
      const above = [cursor, { height: TIP + 1, hash: unknown }]
      const tip = cursorOf(state, state.active.tip)
      const below = cursorOf(state, state.active.at(TIP - 1))
      assert.deepStrictEqual(nextMove(state, cursor, [...above, tip, below]), { type: "wait" })
      assert.deepStrictEqual(nextMove(state, cursor, [...above, { height: TIP, hash: unknown }, below]), {
        type: "rewind",
        to: below
      })
      assert.deepStrictEqual(nextMove(state, cursor, above), { type: "wait" })
    })
  })

  it("nextMove rewinds from disconnected blocks of the best chain", () => {
    withState(false, (state) => {
      const tip = cursorOf(state, state.active.tip)
      state.forks.invalidate(state.active.at(TIP - 1))
      moveAll(state)
      assert.strictEqual(state.active.settledHeight, TIP - 2)
      assert.deepStrictEqual(nextMove(state, tip), { type: "rewind", to: cursorOf(state, state.active.at(TIP - 2)) })
    })
  })

  it("a rewind leads to a forward move", () => {
    withState(true, (state, ids) => {
      const move = nextMove(state, cursorOf(state, ids[1] ?? NONE))
      if (move.type !== "rewind") return assert.fail()
      assert.deepStrictEqual(nextMove(state, move.to), { type: "forward", from: FORK + 1 })
    })
  })
})

describe("follow", () => {
  const opened = (connected: boolean) =>
    Effect.acquireRelease(
      Effect.map(temporaryDirectory, (directory) => makeState(directory, connected)),
      ({ state }) => Effect.sync(() => state.close())
    )

  /** The events of a follower from a cursor on, if the blocks above a height are unreadable. */
  const heardFrom = (state: ChainState, from: Cursor, readable: number) =>
    Effect.gen(function*() {
      const heard: Array<string> = []
      state.connector.connected = (id) => {
        if (state.index.height(id) <= readable) return Connector.prototype.connected.call(state.connector, id)
        throw new StorageCorrupted({ file: "blk00000.dat", found: "nothing", remedy: "Fetch it again" })
      }
      const follower: Follower = {
        name: "test",
        cursor: Effect.succeed(from),
        apply: (given) => Effect.sync(() => void heard.push(`+${given.map(({ height }) => height).join()}`)),
        rewind: ({ height }) => Effect.sync(() => void heard.push(`-${height}`)),
        arrived: Effect.sync(() => void heard.push("here"))
      }
      yield* follow(state, { follower, cursor: from, rebuilding: false }, { recent: new Map(), more: false })
      return heard
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))

  it.scoped("follow reports its arrival, even before an unreadable block", () =>
    Effect.gen(function*() {
      const { staleIds, state } = yield* opened(true)
      const from = cursorOf(state, staleIds[1] ?? NONE)
      assert.deepStrictEqual(yield* heardFrom(state, from, FORK), [`-${FORK}`, "here"])
      const part = [FORK + 1, FORK + 2].join()
      assert.deepStrictEqual(yield* heardFrom(state, from, FORK + 2), [`-${FORK}`, `+${part}`, "here"])
    }))

  it.scoped("follow lets a follower hold blocks while more are at hand, and makes it store them at the end", () =>
    Effect.gen(function*() {
      const { state } = yield* opened(false)
      const heard: Array<string> = []
      const hear = (what: string) => (given: ReadonlyArray<Cursor>) =>
        Effect.sync(() => void heard.push(`${what} ${given.map(({ height }) => height).join()}`))
      const follower: Follower = {
        name: "test",
        cursor: Effect.succeed(undefined),
        apply: hear("apply"),
        rewind: () => Effect.void,
        bulk: { hold: hear("hold"), settle: Effect.sync(() => void heard.push("settle")) }
      }
      const from = (height: number): Following => ({
        follower,
        cursor: cursorOf(state, state.active.at(height)),
        rebuilding: false
      })
      const following = from(TIP - 1)
      const recent = new Map()
      yield* follow(state, following, { recent, more: true })
      assert.deepStrictEqual(heard.splice(0), [`hold ${TIP}`])
      yield* follow(state, following, { recent, more: false })
      assert.deepStrictEqual(heard.splice(0), ["settle"])
      yield* follow(state, from(TIP - 1), { recent, more: false })
      assert.deepStrictEqual(heard.splice(0), [`apply ${TIP}`, "settle"])
      // A large block fills a batch, and another batch is behind it.
      state.connector.connected = (id) => {
        const connected = Connector.prototype.connected.call(state.connector, id)
        if (state.index.height(id) < TIP) Object.defineProperty(connected.block, "size", { value: 8 * 1024 * 1024 })
        return connected
      }
      yield* follow(state, from(TIP - 2), { recent, more: false })
      assert.deepStrictEqual(heard.splice(0), [`hold ${TIP - 1}`, `apply ${TIP}`, "settle"])
    }))

  it.scoped("follow gives a follower no more bytes of blocks at a time than it asks for", () =>
    Effect.gen(function*() {
      const { state } = yield* opened(false)
      const size = state.stored.block(state.active.at(FORK + 1)).size
      const heard: Array<string> = []
      const follower: Follower = {
        name: "test",
        batchBytes: size + 1,
        cursor: Effect.succeed(undefined),
        apply: (given) => Effect.sync(() => void heard.push(given.map(({ height }) => height).join())),
        rewind: () => Effect.void
      }
      const from = { follower, cursor: cursorOf(state, state.active.at(FORK)), rebuilding: false }
      yield* follow(state, from, { recent: new Map(), more: false })
      assert.deepStrictEqual(heard, [`${FORK + 1},${FORK + 2}`, `${FORK + 3},${FORK + 4}`])
    }))

  it.scoped("follow logs once that it waits for a block, and once that it continues", () =>
    Effect.gen(function*() {
      const { state } = yield* opened(false)
      const from = cursorOf(state, state.active.at(FORK))
      let readable = FORK
      state.connector.connected = (id) => {
        if (state.index.height(id) <= readable) return Connector.prototype.connected.call(state.connector, id)
        throw new StorageCorrupted({ file: "blk00000.dat", found: "nothing", remedy: "Fetch it again" })
      }
      const follower: Follower = {
        name: "test",
        cursor: Effect.succeed(from),
        apply: () => Effect.void,
        rewind: () => Effect.void
      }
      const following: Following = { follower, cursor: from, rebuilding: false }
      const logged: Array<string> = []
      const logger = Logger.make(({ message }) => void logged.push(String(message).split(":")[0] ?? ""))
      const told = Effect.provide(
        follow(state, following, { recent: new Map(), more: false }),
        Logger.replace(Logger.defaultLogger, logger)
      )
      yield* told
      yield* told
      assert.deepStrictEqual(logged, [`test waits at height ${FORK}`])
      readable = FORK + 2
      yield* told
      yield* told
      assert.deepStrictEqual(logged.slice(1), [
        `test continues from height ${FORK + 1}`,
        `test waits at height ${FORK + 2}`
      ])
    }))

  it.scoped("follow logs nothing if it has not moved", () =>
    Effect.gen(function*() {
      const { state } = yield* opened(false)
      assert.deepStrictEqual(yield* heardFrom(state, cursorOf(state, state.active.at(FORK)), FORK), [])
      assert.deepStrictEqual(yield* heardFrom(state, cursorOf(state, state.active.tip), TIP), [])
    }))
})
