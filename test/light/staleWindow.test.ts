import { assert, describe } from "@effect/vitest"
import { Context, Effect, Layer, Logger, type Scope } from "effect"
import { NameClient } from "../../src/client/NameClient.ts"
import { type ConsensusParams, regtestParams } from "../../src/consensus/params.ts"
import { Light } from "../../src/light/Light.ts"
import * as LightClient from "../../src/node/lightClient.ts"
import { ServedBlocks } from "../network/sync/fakePeers.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { eventually } from "../support/eventually.ts"
import { GENESIS_BLOCK } from "../support/lightChain.ts"
import {
  following,
  type LightNodeOptions,
  type LightService,
  nextBlock,
  onLight,
  passUntil,
  registered,
  until,
  updated
} from "../support/lightNode.ts"
import { noPeers } from "../support/peers.ts"
import { pass, simulated } from "../support/simulated.ts"

/** A window that is older than what its node knows of the chain gives no answers. */

const OPEN = registered("d/open", "old")

const BLOCKS = [GENESIS_BLOCK]
while (BLOCKS.length <= 260) {
  const at = BLOCKS.length
  const transactions = at === 90 ? [OPEN] : at === 105 ? [updated("d/open", "new", OPEN)] : []
  BLOCKS.push(nextBlock(BLOCKS, { transactions }))
}
const [OLD_TIP, TIP] = [100, 120]

const served = (tip: number): ServedBlocks => new ServedBlocks(BLOCKS.slice(0, tip + 1))

/** The answer about the name, or the tag of the error. */
const answerOf = (light: LightService) =>
  Effect.gen(function*() {
    const answers = yield* Layer.build(
      Layer.provide(LightClient.namesLayer(undefined), Layer.merge(Layer.succeed(Light, light), noPeers))
    )
    const client = Context.get(answers, NameClient)
    const failed = (failure: { readonly _tag: string }) => Effect.succeed(failure._tag)
    return Effect.catchAll(Effect.map(client.resolveName("d/open"), ({ value }) => value), failed)
  })

const onNode = (
  use: (light: LightService) => Effect.Effect<void, unknown, Scope.Scope>,
  options?: LightNodeOptions
) => Effect.flatMap(temporaryDirectory, (directory) => onLight(directory, use, options))

describe("a window that is not up to date", () => {
  simulated(
    "does not answer while more than six newer blocks are missing",
    () =>
      onNode((light) =>
        Effect.gen(function*() {
          const { announce, connect } = yield* following(light)
          const answer = yield* answerOf(light)
          const stale = yield* connect(served(OLD_TIP))
          yield* until(light, OLD_TIP)
          assert.strictEqual(yield* answer, "old")
          // Six headers may be those of a peer that withholds their blocks.
          const withholding = yield* connect(served(OLD_TIP + 6), { serve: () => undefined })
          yield* eventually("six headers", () => Effect.runSync(light.progress).headers === OLD_TIP + 6)
          assert.strictEqual(yield* answer, "old")
          const next = BLOCKS.slice(OLD_TIP + 7, TIP + 1)
          withholding.served.extend(next)
          yield* announce(withholding, next)
          yield* eventually("all headers", () => Effect.runSync(light.progress).headers === TIP)
          assert.strictEqual(yield* answer, "NotSynced")
          const { of, phase } = yield* light.progress
          assert.deepStrictEqual([phase, of], ["window", OLD_TIP + TIP - OLD_TIP])
          assert.isFalse(stale.closed)
          yield* connect(served(TIP))
          yield* until(light, TIP)
          assert.strictEqual(yield* answer, "new")
        })
      )
  )

  const mining: ConsensusParams = { ...regtestParams, noRetargeting: false, retargetInterval: 100_000 }
  const timeOf = (height: number): number => BLOCKS[height]?.header.time ?? 0

  simulated("does not answer a day after its last block", () =>
    onNode((light) =>
      Effect.gen(function*() {
        const { connect } = yield* following(light)
        const answer = yield* answerOf(light)
        yield* connect(served(OLD_TIP))
        yield* passUntil("the window", () => Effect.runSync(light.progress).phase === "ready")
        assert.strictEqual(yield* answer, "old")
        yield* pass(20_000)
        assert.strictEqual(yield* answer, "NotSynced")
      }), { params: mining, maxTipAge: 310 }), { now: 1_000 * (timeOf(OLD_TIP) + 300) })

  simulated("says that its anchor is too close to the tip", () => {
    const lines: Array<unknown> = []
    const log = Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => void lines.push(message)))
    const hash = BLOCKS[90]?.hash ?? GENESIS_BLOCK.hash
    return onNode((light) =>
      Effect.gen(function*() {
        const { connect } = yield* following(light)
        yield* connect(served(OLD_TIP))
        yield* eventually("the log says it", () => JSON.stringify(lines).includes("the anchor is too close to the tip"))
        assert.isFalse(yield* light.complete)
      }), { params: { ...regtestParams, anchors: [{ height: 90, hash, chainwork: 182n }] }, log })
  })
})
