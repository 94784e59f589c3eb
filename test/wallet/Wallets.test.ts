import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { existsSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { turnOfEventLoop } from "../../src/base/turns.ts"
import { COIN } from "../../src/protocol/amount.ts"
import { SCRYPT, ScryptCost } from "../../src/wallet/keys/seal.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { fundedDirectory, withWallets } from "../support/liveWallets.ts"
import { ADDRESS } from "../support/mempool.ts"
import { withoutChecksum } from "../support/walletText.ts"

const request = {
  name: "w1",
  privateKeys: true,
  blank: false,
  passphrase: undefined,
  loadOnStart: undefined
}

describe("Wallets", () => {
  it.scopedLive("the first start creates wallet.json with a seed, later starts read it", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const file = join(directory, "wallet.json")
      const first = yield* withWallets(directory, ({ wallet }) =>
        Effect.map(wallet.keys.newAddress({ type: "legacy", label: "" }), ({ path }) => [path, wallet.path]))
      assert.deepStrictEqual(first, ["m/44h/1h/0h/0/0", file])
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      const { seed } = JSON.parse(readFileSync(file, "utf8"))
      const next = yield* withWallets(directory, ({ wallet }) =>
        wallet.keys.newAddress({ type: "legacy", label: "" }))
      assert.strictEqual(next.path, "m/44h/1h/0h/0/1")
      assert.deepStrictEqual(JSON.parse(readFileSync(file, "utf8")).seed, seed)
    }))

  it.scopedLive("a node without wallets, or without a default one, makes no file", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withWallets(directory, ({ wallets }) =>
        Effect.gen(function*() {
          assert.isFalse(wallets.enabled)
          assert.strictEqual((yield* Effect.flip(wallets.create(request)))._tag, "InvalidWalletRequest")
        }), { enabled: false })
      yield* withWallets(directory, ({ wallets }) => Effect.sync(() => assert.deepStrictEqual(wallets.loaded(), [])), {
        loadDefault: false
      })
      assert.isFalse(existsSync(join(directory, "wallet.json")))
    }))

  it.scopedLive("named wallets are created, follow the chain, unload, load, and load on startup if asked to", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withWallets(directory, ({ mine, wallets }) =>
        Effect.gen(function*() {
          const wallet = yield* wallets.create({ ...request, loadOnStart: true })
          assert.deepStrictEqual(wallets.loaded().map(({ name }) => name), ["", "w1"])
          const { script } = yield* wallet.keys.newAddress({ type: "bech32", label: "" })
          yield* mine(1, { script })
          assert.strictEqual((yield* wallet.ledger.balances).immature, 50 * COIN)
          assert.deepInclude(yield* Effect.flip(wallets.create(request)), { code: "exists" })
          yield* wallets.unload("w1", undefined)
          assert.isUndefined(wallets.get("w1"))
          assert.deepInclude(yield* Effect.flip(wallets.unload("w1", undefined)), { code: "missing" })
          yield* mine(2, { script })
          assert.strictEqual(wallet.ledger.lastBlock().height, 1, "an unloaded wallet receives no blocks")
          const again = yield* wallets.load("w1", undefined)
          assert.strictEqual((yield* again.ledger.balances).immature, 150 * COIN)
          assert.deepStrictEqual(yield* wallets.onDisk, ["", "w1"])
        }))
      yield* withWallets(directory, ({ wallets }) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(wallets.loaded().map(({ name }) => name), ["", "w1"])
          yield* wallets.unload("w1", false)
          yield* wallets.unload("", false)
        }))
      yield* withWallets(directory, ({ wallets }) => Effect.sync(() => assert.deepStrictEqual(wallets.loaded(), [])))
    }))

  it.scopedLive("a damaged wallets.json is renamed, and all wallets are loaded from then on", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const file = join(directory, "wallets.json")
      yield* withWallets(directory, ({ wallets }) =>
        Effect.gen(function*() {
          yield* wallets.create({ ...request, loadOnStart: true })
          yield* wallets.create({ ...request, name: "w2", loadOnStart: false })
        }))
      const whole = readFileSync(file, "utf8")
      for (const damaged of [whole.replace("w1", "w0"), whole.slice(0, -3), "[]"]) {
        writeFileSync(file, damaged)
        for (let start = 0; start < 2; start++) {
          yield* withWallets(directory, ({ wallets }) =>
            Effect.sync(() => {
              assert.deepStrictEqual(wallets.loaded().map(({ name }) => name), ["", "w1", "w2"])
            }))
        }
        assert.strictEqual(readFileSync(`${file}.damaged`, "utf8"), damaged)
      }
      // Version 0.1.0 writes no checksum.
      writeFileSync(file, withoutChecksum(whole))
      yield* withWallets(
        directory,
        ({ wallets }) => Effect.sync(() => assert.deepStrictEqual(wallets.loaded().map(({ name }) => name), ["", "w1"]))
      )
    }))

  it.scopedLive("a restore leaves the copy and its folder unchanged", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const elsewhere = yield* temporaryDirectory
      yield* withWallets(directory, ({ wallet, wallets }) =>
        Effect.gen(function*() {
          const copy = join(elsewhere, "copy.json")
          yield* wallet.recovery.backup(copy)
          // Of another node's copy, which may be in progress.
          const draft = `${copy}.${"0".repeat(32)}.new`
          writeFileSync(draft, "another's")
          yield* wallets.restore({ name: "again", file: copy, loadOnStart: undefined })
          assert.strictEqual(readFileSync(draft, "utf8"), "another's")
        }))
    }))

  it.scopedLive("a wallet name with a meaning in paths is refused", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withWallets(directory, ({ wallets }) =>
        Effect.gen(function*() {
          for (
            const name of ["../w", "a/b", "a\\b", ".", "..", "..hidden", ". hidden", "a\0", "w.", " w", "x".repeat(81)]
          ) {
            const refused = yield* Effect.flip(wallets.create({ ...request, name }))
            assert.strictEqual(refused._tag, "InvalidWalletRequest", name)
            assert.strictEqual((yield* Effect.flip(wallets.load(name, undefined)))._tag, "InvalidWalletRequest", name)
          }
          yield* wallets.create({ ...request, name: "x".repeat(80) })
          yield* wallets.create({ ...request, name: "Geld für Namen_1.2" })
          yield* wallets.create({ ...request, name: ".hidden" })
          assert.include(yield* wallets.onDisk, ".hidden")
        }))
    }))

  it.scopedLive("a wallet created with a passphrase is encrypted from its first byte on, and locked", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const passphrase = Redacted.make("correct horse")
      yield* withWallets(directory, ({ mine, wallets }) =>
        Effect.gen(function*() {
          const wallet = yield* wallets.create({ ...request, passphrase })
          assert.notInclude(readFileSync(join(directory, "wallets", "w1.json"), "utf8"), "\"plain\"")
          assert.strictEqual(wallet.vault.encryption(), "locked")
          const { script } = yield* wallet.keys.newAddress({ type: "legacy", label: "" })
          yield* mine(1, { script })
          yield* mine(100)
          const payment = { outputs: [{ value: COIN, script: ADDRESS }] }
          assert.strictEqual((yield* Effect.flip(wallet.payments.pay(payment)))._tag, "KeysLocked")
          assert.strictEqual((yield* wallet.payments.fund(payment)).transaction.inputs[0]?.scriptSig.length, 0)
          yield* wallet.vault.unlock(passphrase, 60)
          yield* wallet.payments.pay(payment)
          yield* wallet.vault.lock
          assert.strictEqual((yield* Effect.flip(wallet.keys.signer))._tag, "KeysLocked")
        }))
    }))

  it.scopedLive("a backup gives the same wallet under another name", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withWallets(directory, ({ fund, wallet, wallets }) =>
        Effect.gen(function*() {
          yield* fund
          const copy = join(directory, "copy.json")
          yield* wallet.recovery.backup(copy)
          assert.strictEqual((yield* Effect.flip(wallet.recovery.backup(copy)))._tag, "StorageUnavailable")
          assert.deepStrictEqual(wallets.twinsOf(wallet.name), [])
          const restored = yield* wallets.restore({ name: "again", file: copy, loadOnStart: undefined })
          assert.strictEqual((yield* restored.ledger.balances).trusted, 50 * COIN)
          assert.deepStrictEqual([wallets.twinsOf("again"), wallets.twinsOf(wallet.name)], [[wallet.name], ["again"]])
          yield* wallets.unload("again", undefined)
          assert.deepStrictEqual(wallets.twinsOf(wallet.name), [])
          const none = join(directory, "none.json")
          assert.deepInclude(
            yield* Effect.flip(wallets.restore({ name: "none", file: none, loadOnStart: undefined })),
            { code: "missing" }
          )
        }))
    }))

  it.scopedLive("an unloaded wallet learns of no transaction until it is loaded again", () =>
    Effect.gen(function*() {
      yield* withWallets(yield* fundedDirectory, ({ wallet, wallets }) =>
        Effect.gen(function*() {
          const old = yield* wallets.create(request)
          const { script } = yield* old.keys.newAddress({ type: "legacy", label: "" })
          yield* wallets.unload("w1", undefined)
          yield* wallet.payments.pay({ outputs: [{ value: COIN, script }] })
          assert.deepStrictEqual(old.ledger.transactions(), [])
          const again = yield* wallets.load("w1", undefined)
          assert.lengthOf(again.ledger.transactions(), 1)
        }))
    }))

  it.scopedLive("a caller with a reference to an unloaded wallet cannot write its file", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const file = join(directory, "wallets", "w1.json")
      yield* withWallets(directory, ({ wallets }) =>
        Effect.gen(function*() {
          const old = yield* wallets.create(request)
          // One change in progress when the wallet is unloaded, and one later.
          const encrypting = Effect.provideService(old.vault.encrypt(Redacted.make("slow")), ScryptCost, SCRYPT)
          const slow = yield* Effect.fork(Effect.either(encrypting))
          yield* turnOfEventLoop
          yield* wallets.unload("w1", undefined)
          const wallet = yield* wallets.load("w1", undefined)
          yield* wallet.keys.newAddress({ type: "legacy", label: "kept" })
          const text = readFileSync(file, "utf8")
          assert.include(text, "kept")
          const failure = yield* Effect.flip(old.keys.newAddress({ type: "legacy", label: "" }))
          assert.deepInclude(failure, { _tag: "StorageUnavailable", reason: "the wallet is no longer loaded" })
          assert.strictEqual((yield* slow)._tag, "Left")
          assert.strictEqual(readFileSync(file, "utf8"), text)
        }))
    }), 30_000)

  it.scopedLive("a new wallet does not replace a link to a file that is missing for now", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const file = join(directory, "wallet.json")
      symlinkSync(join(directory, "away.json"), file)
      const failure = yield* Effect.flip(withWallets(directory, () => Effect.void))
      assert.deepInclude(failure, { file, reason: "it is a link to a file that is not there" })
      assert.isTrue(lstatSync(file).isSymbolicLink())
      assert.isFalse(existsSync(join(directory, "away.json")))
    }))

  it.scopedLive("a list or a folder of wallets that is of the wrong kind is reported in words", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      mkdirSync(join(directory, "wallets.json"))
      const failure = yield* Effect.flip(withWallets(directory, () => Effect.void))
      assert.deepInclude(failure, { doing: "reading", reason: "it is a directory" })
      const other = yield* temporaryDirectory
      writeFileSync(join(other, "wallets"), "")
      yield* withWallets(other, ({ wallets }) =>
        Effect.gen(function*() {
          const reason = "a part of the path is not a directory"
          assert.deepInclude(yield* Effect.flip(wallets.onDisk), { doing: "reading", reason })
        }))
    }))

  it.scopedLive("the error of a damaged wallet.json names the file, which stays unchanged", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const file = join(directory, "wallet.json")
      for (const content of ["", "not JSON", "{\"version\": 1"]) {
        writeFileSync(file, content)
        const failure = yield* Effect.flip(withWallets(directory, () => Effect.void))
        assert.deepInclude(failure, { _tag: "WalletDamaged", file })
        assert.strictEqual(readFileSync(file, "utf8"), content)
      }
    }))
})
