import { Effect, Layer, Logger, TestContext } from "effect"
import { join } from "node:path"
import { turnOfEventLoop } from "../../src/base/turns.ts"
import { NameClient } from "../../src/client/NameClient.ts"
import { EmbeddedNode } from "../../src/node/clients.ts"
import { searchBuilt, withDb } from "../names/blocks.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { fillDirectory } from "../support/embedded.ts"
import { madeOnce } from "../support/madeOnce.ts"

/** Embedded clients as programs make them, and a data directory for them. */

const quiet = Logger.remove(Logger.defaultLogger)

export const embedded = (config: Parameters<typeof EmbeddedNode.layer>[0]) =>
  Layer.provide(EmbeddedNode.layer({ network: "regtest", maxPeers: 0, disableWallet: true, ...config }), quiet)

/** The height of the chain in `filledDirectory`. */
export const HEIGHT = 600

/** A directory with the chain of the fixtures, its names, and their search indexes. */
export const filledDirectory = Effect.tap(temporaryDirectory, (into) =>
  madeOnce({
    name: "embedded-names",
    into,
    make: (draft) =>
      Effect.gen(function*() {
        yield* fillDirectory(draft, HEIGHT)
        // The names follow at the next start, and their search indexes some time later.
        yield* Effect.provide(Effect.asVoid(NameClient), embedded({ dataDir: draft }))
        yield* Effect.provide(withDb(join(draft, "names.db"), searchBuilt), [TestContext.TestContext, quiet])
      })
  }))

/** Gives a forked stream its turn: it subscribes without I/O. */
export const subscribed = turnOfEventLoop
