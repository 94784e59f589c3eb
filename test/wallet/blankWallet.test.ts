import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { decodeAddress, scriptOf } from "../../src/protocol/address.ts"
import { COIN } from "../../src/protocol/amount.ts"
import { regtest } from "../../src/protocol/networks.ts"
import { withChecksum } from "../../src/wallet/keys/descriptors.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { withWallets } from "../support/liveWallets.ts"

const PRIVATE = withChecksum("pkh(cTe1f5rdT8A8DFgVWTjyPwACsDPJM9ff4QngFxUixCSvvbg1x6sh)")
const PUBLIC = withChecksum("addr(n11u97aH3ncjKCvJ6dQ1VuEBjgW1ighwvV)")

const importing = (descriptor: string) => ({
  descriptor,
  label: "",
  timestamp: 7,
  active: false,
  internal: false,
  range: undefined,
  nextIndex: undefined
})

describe("a blank wallet", () => {
  it.scopedLive("has no keys until one is imported, even after a restart", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const request = { privateKeys: true, blank: true, passphrase: undefined, loadOnStart: true }
      yield* withWallets(directory, ({ wallets }) =>
        Effect.gen(function*() {
          const wallet = yield* wallets.create({ ...request, name: "keys" })
          assert.isTrue(wallet.keys.isBlank())
          assert.isUndefined(wallet.keys.birthtime())
          const refused = yield* Effect.flip(wallet.keys.newAddress({ type: "legacy", label: "" }))
          assert.deepInclude({ ...refused }, { code: "no-keys" })
          yield* wallet.keys.importDescriptor(importing(PRIVATE))
          assert.isFalse(wallet.keys.isBlank())
          assert.strictEqual(wallet.keys.birthtime(), 7)
          yield* wallets.create({ ...request, name: "empty" })
        }))
      yield* withWallets(directory, ({ wallets }) =>
        Effect.sync(() => {
          assert.isFalse(wallets.get("keys")?.keys.isBlank())
          assert.isTrue(wallets.get("empty")?.keys.isBlank())
        }))
    }))

  it.scopedLive("without private keys stays blank, and one that was not made blank is not", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const request = { privateKeys: false, passphrase: undefined, loadOnStart: true }
      yield* withWallets(directory, ({ wallets }) =>
        Effect.gen(function*() {
          const blank = yield* wallets.create({ ...request, name: "blank", blank: true })
          yield* blank.keys.importDescriptor(importing(PUBLIC))
          assert.isTrue(blank.keys.isBlank())
          // Before anything else, such as its coins, is looked at.
          const payment = blank.payments.pay({ outputs: [{ value: 1_000_000, script: Uint8Array.of(0x51) }] })
          assert.strictEqual((yield* Effect.flip(payment))._tag, "WalletWatchOnly")
          const watching = yield* wallets.create({ ...request, name: "watching", blank: false })
          assert.isFalse(watching.keys.isBlank())
          assert.isUndefined(watching.keys.birthtime())
        }))
    }))

  it.scopedLive("says that it lacks the scripts of the coins that would pay", () =>
    Effect.gen(function*() {
      yield* withWallets(yield* temporaryDirectory, ({ mine, wallets }) =>
        Effect.gen(function*() {
          const wallet = yield* wallets.create({
            privateKeys: false,
            passphrase: undefined,
            loadOnStart: true,
            name: "watching",
            blank: true
          })
          yield* wallet.keys.importDescriptor(importing(PUBLIC))
          const read = decodeAddress(regtest, "n11u97aH3ncjKCvJ6dQ1VuEBjgW1ighwvV")
          const script = scriptOf("destination" in read ? read.destination : assert.fail())
          yield* mine(1, { script })
          yield* mine(100)
          assert.lengthOf(wallet.ledger.coins(), 1)
          const fund = (value: number) =>
            Effect.flip(Effect.asVoid(wallet.payments.fund({ outputs: [{ value, script }], changeScript: script })))
          assert.deepInclude(yield* fund(COIN), {
            code: "unsolvable",
            reason: "Missing solving data for estimating transaction size"
          })
          assert.strictEqual((yield* fund(60 * COIN))._tag, "FundsMissing")
        }))
    }))
})
