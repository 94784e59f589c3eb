import { Chunk, Effect, FastCheck, Stream } from "effect"
import type { ConnectedBlock } from "../../../src/chain/write/Follower.ts"
import type { NameDb } from "../../../src/names/NameDb.ts"
import { EMPTY } from "../../../src/protocol/bytes.ts"
import { hash256 } from "../../../src/protocol/hash.ts"
import { applyAll, blockAt, type Operation, text, withNewDb } from "../blocks.ts"
import { Branches } from "./world.ts"

export type Db = typeof NameDb.Service

/** Blocks of a branch, behind the ones that it has in common with the first. */
export const branchOf = (
  letter: string,
  lists: ReadonlyArray<ReadonlyArray<Operation>>,
  from: number
): ReadonlyArray<ConnectedBlock> =>
  lists.map((list, i) => ({ ...blockAt(from + i, list), hash: hash256(text(`${letter} ${from + i}`)) }))

export const stored = (db: Db) =>
  Effect.map(Stream.runCollect(db.scanByPrefix({ prefix: EMPTY })), (found) => Chunk.toReadonlyArray(found))

export const operation: FastCheck.Arbitrary<Operation> = FastCheck.record({
  name: FastCheck.constantFrom(...["d/a", "d/b", "d/c", "id/a", "x"].map(text)),
  value: FastCheck.constantFrom(text("1"), text("2"), EMPTY),
  owner: FastCheck.constantFrom(text("alice"), text("bob")),
  rand: FastCheck.constantFrom(Uint8Array.of(1), Uint8Array.of(2))
}, { requiredKeys: ["name", "value", "owner"] })

export const lists = (minLength: number, maxLength: number) =>
  FastCheck.array(FastCheck.array(operation, { maxLength: 3 }), { minLength, maxLength })

export const rand = Uint8Array.of(7)
export const name = text("d/example")

/** Blocks of names on the best chain, and the events of them. */
export const withBlocks = (
  lists: ReadonlyArray<ReadonlyArray<Operation>>,
  use: (world: {
    readonly db: Db
    readonly branches: Branches
    readonly blocks: ReadonlyArray<ConnectedBlock>
    readonly events: ReturnType<Branches["events"]>
  }) => Effect.Effect<void, unknown>
) =>
  withNewDb((db) =>
    Effect.gen(function*() {
      const blocks = branchOf("shared", lists, 0)
      const branches = new Branches()
      branches.add(blocks)
      branches.tip = blocks.at(-1)
      yield* applyAll(db, [blocks])
      yield* use({ db, branches, blocks, events: branches.events(db) })
    })
  )
