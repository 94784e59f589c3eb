import { assert, describe } from "@effect/vitest"
import { Chunk, Effect, Layer, Stream } from "effect"
import { Chain } from "../../src/chain/Chain.ts"
import { ChainCoins } from "../../src/chain/ChainCoins.ts"
import { SyncStatus } from "../../src/chain/SyncStatus.ts"
import { LightPart, NO_LIGHT } from "../../src/light/LightPart.ts"
import { makeNameAnswers } from "../../src/light/NameAnswers.ts"
import { NameDb } from "../../src/names/NameDb.ts"
import { EMPTY } from "../../src/protocol/bytes.ts"
import { nameField } from "../../src/protocol/nameText.ts"
import { DataHealth } from "../../src/storage/DataHealth.ts"
import { type LightService, until } from "../support/lightNode.ts"
import { noTree } from "../support/noTree.ts"
import { attack, MAIN } from "./lightStage.ts"

const NO_FOLLOWER = {
  name: "none",
  cursor: Effect.succeed(undefined),
  apply: () => Effect.void,
  rewind: () => Effect.void
}

/** Answers of a node whose names come from a window. */
const answersOver = (light: LightService) =>
  Effect.provide(
    makeNameAnswers(Effect.succeed(false)),
    Layer.mergeAll(
      Layer.mock(Chain, { params: light.params, tree: noTree }),
      Layer.mock(ChainCoins, {}),
      Layer.mock(NameDb, { atOnce: () => assert.fail("the chain was asked"), follower: NO_FOLLOWER }),
      Layer.mock(SyncStatus, {}),
      Layer.mock(DataHealth, {}),
      Layer.succeed(LightPart, {
        ...NO_LIGHT,
        current: () => light,
        hold: Effect.succeed(light),
        stays: true
      })
    )
  )

describe("NameAnswers over a window", () => {
  attack("lists all names without a count, and so many with one", ({ connect, light }) =>
    Effect.gen(function*() {
      yield* connect(MAIN)
      yield* until(light, MAIN.length - 1)
      const { scan, scanByPrefix } = yield* answersOver(light)
      const all = ["d/late", "d/open", "d/other", "d/stolen"]
      const names = <E>(found: Stream.Stream<{ readonly record: { readonly name: Uint8Array } }, E>) =>
        Effect.map(Stream.runCollect(found), Chunk.toReadonlyArray).pipe(
          Effect.map((records) => records.map(({ record }) => nameField(record.name)).sort())
        )
      assert.deepStrictEqual(yield* names(scan({})), all)
      assert.deepStrictEqual(yield* names(scanByPrefix({ prefix: EMPTY })), all)
      assert.lengthOf(yield* names(scan({ count: 2 })), 2)
      assert.lengthOf(yield* names(scanByPrefix({ prefix: EMPTY, count: 2 })), 2)
    }))
})
