import { Effect, Layer, Stream } from "effect"
import { Wallets } from "../../src/wallet/Wallets.ts"

const refused = () => Effect.dieMessage("there are no wallets")

/** A node without wallets (`-disablewallet`). */
export const noWallets: Layer.Layer<Wallets> = Layer.succeed(Wallets, {
  enabled: false,
  loaded: () => [],
  get: () => undefined,
  twinsOf: () => [],
  onDisk: Effect.succeed([]),
  create: refused,
  load: refused,
  unload: refused,
  restore: refused,
  changes: Stream.empty
})
