import { Effect, Either, Layer, Logger } from "effect"
import { cpSync } from "node:fs"
import { decodeConfig } from "../../src/client/config.ts"
import type { ClientConfig } from "../../src/client/NameClient.ts"
import { embeddedSettings, nodeAndClient } from "../../src/node/embedded.ts"
import { temporaryDirectory, testChain } from "./chain.ts"
import { fixtureBlocks } from "./chainFixture.ts"

/** Embedded clients for tests, and a data directory with the chain of the fixtures. */

/** A node and the client in front of it, without a log. `renews`: whether the wallet renews names by itself. */
export const nodeWithClient = (config: ClientConfig, { renews = true } = {}) => {
  const decoded = Either.getOrThrow(decodeConfig({ network: "regtest", maxPeers: 0, ...config }))
  const settings = Either.getOrThrow(embeddedSettings(decoded))
  return nodeAndClient(decoded, {
    ...settings,
    chain: { ...settings.chain, verifyThreads: 0 },
    wallet: { ...settings.wallet, autoRenew: renews }
  }).pipe(
    Layer.provide(Logger.remove(Logger.defaultLogger))
  )
}

/** Puts the chain of the fixtures into a directory, up to a height. */
export const fillDirectory = (dataDir: string, height: number) =>
  Effect.gen(function*() {
    const chain = yield* testChain
    const blocks = fixtureBlocks("regtest-names/blocks.dat.gz").slice(1, height + 1)
    yield* chain.sink.acceptHeaders(blocks)
    yield* chain.sink.deliver(blocks, true)
  }).pipe(Effect.provide(nodeWithClient({ dataDir, disableWallet: true })))

/** A copy of a directory, which is removed with the scope. */
export const copyOf = (directory: string) =>
  Effect.tap(temporaryDirectory, (copy) => Effect.sync(() => cpSync(directory, copy, { recursive: true })))
