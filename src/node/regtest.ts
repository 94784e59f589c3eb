import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as LogLevel from "effect/LogLevel"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Chain } from "../chain/Chain.ts"
import { InvalidRequest } from "../client/errors.ts"
import { NameClient } from "../client/NameClient.ts"
import { Miner } from "../mempool/mining/Miner.ts"
import { decodeAddress, scriptOf } from "../protocol/address.ts"
import { COIN } from "../protocol/amount.ts"
import { Wallets } from "../wallet/Wallets.ts"
import { Node } from "./layers/node.ts"
import { RegtestNode } from "./RegtestNode.ts"

/** A node on its own private network: `layerRegtest` of `svcd/testing` loads this file on use. */

/** Initial blocks. Coins of a block need 100 more blocks, so ten can be spent. */
const FIRST_BLOCKS = 110

/** Blocks have the machine's time: that of a `TestClock`, 1970, is before genesis. */
const machine = Clock.make()

const temporaryDirectory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "svcd-regtest-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

const make = Effect.gen(function*() {
  const chain = yield* Chain
  const miner = yield* Miner
  const wallet = (yield* Wallets).get("")
  if (wallet === undefined) return yield* Effect.dieMessage("a new node has a wallet")
  const { network } = chain.params
  const given = wallet.keys.newAddress({ type: wallet.rules.addressType, label: "" })
  const { script: miners } = yield* given

  const mine = (blocks = 1): Effect.Effect<number> =>
    miner.generate(1, miners, Infinity).pipe(
      Effect.zipRight(wallet.settled),
      Effect.repeatN(blocks - 1),
      Effect.when(() => blocks > 0),
      Effect.zipRight(Effect.map(chain.tip, ({ height }) => height)),
      Effect.withClock(machine),
      Effect.orDie
    )

  const fund = (address: string, coins = 1): Effect.Effect<void, InvalidRequest> =>
    Effect.gen(function*() {
      const parsed = decodeAddress(network, address)
      if ("error" in parsed) {
        return yield* new InvalidRequest({ field: "address", reason: "is not an address of the network" })
      }
      const value = Math.round(coins * COIN)
      yield* Effect.orDie(wallet.payments.pay({ outputs: [{ script: scriptOf(parsed.destination), value }] }))
      yield* mine()
    })

  yield* miner.generate(FIRST_BLOCKS, miners, Infinity)
  yield* wallet.settled
  const newAddress = given.pipe(
    Effect.map(({ address }) => address),
    Effect.filterOrDieMessage((address) => address !== undefined, "addresses of the wallet have texts"),
    Effect.orDie
  )
  return RegtestNode.of({ mine, fund, newAddress })
})

/** A failure to open in a new directory is a defect. */
export const layer: Layer.Layer<NameClient | RegtestNode> = Layer.unwrapScoped(
  Effect.map(temporaryDirectory, (dataDir) =>
    Layer.effect(RegtestNode, make).pipe(
      Layer.provideMerge(
        // A name expires unless the test updates it.
        Node.layer({ network: "regtest", dataDir, maxPeers: 0, listen: "", verifyThreads: 0, autoRenew: false })
      ),
      Layer.map((context) => Context.pick(NameClient, RegtestNode)(context))
    ))
).pipe(
  Layer.orDie,
  Layer.fresh,
  Layer.locallyWith(DefaultServices.currentServices, Context.add(Clock.Clock, machine)),
  Layer.locally(FiberRef.currentMinimumLogLevel, LogLevel.Warning)
)
