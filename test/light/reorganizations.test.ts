import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { type ConsensusParams, regtestParams } from "../../src/consensus/params.ts"
import type { Block } from "../../src/protocol/block.ts"
import { eventually } from "../support/eventually.ts"
import { names, namesOf, registered, until } from "../support/lightNode.ts"
import { attack, extended, GENESIS } from "./lightStage.ts"

describe("reorganizations of a light node", () => {
  /** A name lives longer than the chain is: the window is all of it. */
  const long: ConsensusParams = { ...regtestParams, expiry: "growing" }

  const COMMON = extended([GENESIS], 460, {
    at: Object.fromEntries(Array.from({ length: 460 }, (_, height) => [height, [registered(`d/${height}`, "common")]]))
  })

  const truthOf = (blocks: ReadonlyArray<Block>) => namesOf(blocks, long)

  attack("of 1 to 288 blocks after the window is complete, and beyond", (stage) =>
    Effect.gen(function*() {
      const { announce, connect, light } = stage
      let blocks = COMMON
      const peer = yield* connect(blocks)
      yield* until(light, blocks.length - 1)
      for (const [branch, depth] of [1, 2, 31, 287, 288, 289, 400].entries()) {
        const tip = blocks.length - 1
        const at = { [tip + 1]: [registered(`d/${tip}`, `branch ${branch}`)] }
        const other = extended(blocks.slice(0, tip - depth + 1), tip + 1, { branch: branch + 1, at })
        peer.served.extend(other.slice(tip - depth + 1))
        yield* announce(peer, other.slice(tip - depth + 1))
        yield* until(light, tip + 1)
        assert.deepStrictEqual(yield* names(light), truthOf(other), `${depth} blocks`)
        blocks = other
      }
    }), long)

  attack("of 1 to 288 blocks while the window is filled", (stage) =>
    Effect.gen(function*() {
      const { announce, connect, light } = stage
      let blocks = COMMON
      const peer = yield* connect(blocks, { lacks: (height) => height < 300 })
      yield* eventually("a part of the window", () => Effect.runSync(light.progress).blocks >= 100)
      for (const [branch, depth] of [1, 12, 100, 288].entries()) {
        const tip = blocks.length - 1
        const other = extended(blocks.slice(0, tip - depth + 1), tip + 1, { branch: branch + 1 })
        peer.served.extend(other.slice(tip - depth + 1))
        yield* announce(peer, other.slice(tip - depth + 1))
        yield* eventually(`the tip after ${depth} blocks`, () => Effect.runSync(light.progress).tip.height === tip + 1)
        const known = yield* names(light)
        const truth = truthOf(other)
        for (const [name, value] of known) assert.strictEqual(value, truth.get(name), `${depth}: ${name}`)
        blocks = other
      }
      yield* connect(blocks)
      yield* until(light, blocks.length - 1)
      assert.deepStrictEqual(yield* names(light), truthOf(blocks))
    }), long)
})
