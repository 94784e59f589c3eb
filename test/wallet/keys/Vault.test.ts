import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Redacted, TestClock } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { KeysLocked } from "../../../src/wallet/errors.ts"
import { newDocument } from "../../../src/wallet/keys/makeDocument.ts"
import { makeVault } from "../../../src/wallet/keys/Vault.ts"
import * as WalletFile from "../../../src/wallet/keys/WalletFile.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { withCheapScrypt } from "../../support/cheapScrypt.ts"

const NO_RENEWALS = { isOwn: () => false, maxFee: 0 }

const PASSPHRASE = Redacted.make("correct horse")

const plain = Effect.gen(function*() {
  const path = join(yield* temporaryDirectory, "wallet.json")
  const document = yield* newDocument({ network: "regtest", now: 0, privateKeys: true, blank: false })
  return { path, vault: yield* makeVault(yield* WalletFile.create(path, document), NO_RENEWALS) }
})

const encrypted = Effect.gen(function*() {
  const { path, vault } = yield* plain
  assert.strictEqual(vault.encryption(), "none")
  assert.strictEqual((yield* vault.secrets).mnemonic?.split(" ").length, 24)
  assert.deepInclude(yield* Effect.flip(vault.lock), { code: "not-encrypted" })
  assert.deepInclude(yield* Effect.flip(vault.unlock(PASSPHRASE, 1)), { code: "not-encrypted" })
  yield* vault.encrypt(PASSPHRASE)
  assert.notInclude(readFileSync(path, "utf8"), "\"plain\"")
  return vault
})

describe("Vault", () => {
  it.scoped("an encrypted wallet is locked, and opens for the requested time", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(0)
      const vault = yield* encrypted
      assert.strictEqual((yield* Effect.flip(vault.secrets))._tag, "KeysLocked")
      assert.deepInclude(yield* Effect.flip(vault.encrypt(PASSPHRASE)), { code: "already-encrypted" })
      assert.strictEqual((yield* Effect.flip(vault.unlock(Redacted.make("x"), 9)))._tag, "WrongPassphrase")
      yield* vault.unlock(PASSPHRASE, 60)
      assert.strictEqual(vault.unlockedUntil(), 60)
      assert.strictEqual((yield* vault.secrets).mnemonic?.split(" ").length, 24)
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual(vault.encryption(), "unlocked")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(vault.encryption(), "locked")
      assert.strictEqual(vault.unlockedUntil(), 0)
    }).pipe(withCheapScrypt))

  it.scoped("a later unlock restarts the timer, also beyond the longest timer of the runtime", () =>
    Effect.gen(function*() {
      const vault = yield* encrypted
      yield* vault.unlock(PASSPHRASE, 10)
      yield* vault.unlock(PASSPHRASE, 100_000)
      yield* TestClock.adjust("99999 seconds")
      assert.strictEqual(vault.encryption(), "unlocked")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(vault.encryption(), "locked")
    }).pipe(withCheapScrypt))

  it.scoped("the time for renewals goes on after a full unlock, however often, and with secrets of its own", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(0)
      const vault = yield* encrypted
      const state = () => [vault.encryption(), vault.signsRenewals(), vault.unlockedUntil(), vault.renewalsUntil()]
      yield* vault.unlock(PASSPHRASE, 2_592_000, { renewalsOnly: true })
      assert.deepStrictEqual(state(), ["locked", true, 2_592_000, 2_592_000])
      for (const start of [0, 300]) {
        yield* vault.unlock(PASSPHRASE, 300)
        assert.deepStrictEqual(state(), ["unlocked", true, start + 300, 2_592_000])
        const full = yield* vault.secrets
        yield* TestClock.adjust("300 seconds")
        assert.deepStrictEqual(state(), ["locked", true, 2_592_000, 2_592_000])
        assert.isTrue(full.isWiped)
        assert.deepInclude(yield* Effect.flip(vault.secrets), { _tag: "KeysLocked", renewalsOnly: "" })
        assert.isUndefined(vault.sealingKey())
        assert.strictEqual(vault.opened()?.mnemonic?.split(" ").length, 24)
      }
      yield* TestClock.adjust(1000 * (2_592_000 - 601))
      assert.isTrue(vault.signsRenewals())
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(state(), ["locked", false, 0, 0])
    }).pipe(withCheapScrypt))

  it.scoped("a full unlock that is longer ends it all, a later one for renewals ends a full one, a lock ends both", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(0)
      const vault = yield* encrypted
      const state = () => [vault.encryption(), vault.signsRenewals(), vault.unlockedUntil(), vault.renewalsUntil()]
      const locked = ["locked", false, 0, 0]
      yield* vault.unlock(PASSPHRASE, 10, { renewalsOnly: true })
      yield* vault.unlock(PASSPHRASE, 20)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(state(), ["unlocked", true, 20, 0])
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(state(), locked)

      yield* vault.unlock(PASSPHRASE, 30)
      yield* vault.unlock(PASSPHRASE, 60, { renewalsOnly: true })
      assert.deepStrictEqual(state(), ["locked", true, 80, 80])
      yield* TestClock.adjust("59 seconds")
      assert.deepStrictEqual(state(), ["locked", true, 80, 80])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(state(), locked)

      yield* vault.unlock(PASSPHRASE, 60, { renewalsOnly: true })
      yield* vault.unlock(PASSPHRASE, 30)
      yield* vault.lock
      assert.deepStrictEqual(state(), locked)
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(state(), locked)
    }).pipe(withCheapScrypt))

  it.scoped("a timer that fires while its time is renewed does not end the new time", () =>
    Effect.gen(function*() {
      let fire = () => {}
      let isLate = false
      const clock: Clock.Clock = {
        ...Clock.make(),
        currentTimeMillis: Effect.sync(() => {
          // The old timer fires here, and its fiber runs only after the one that renews.
          if (isLate) fire()
          return 0
        }),
        sleep: () => Effect.async<void>((resume) => void (fire = () => resume(Effect.void)))
      }
      const vault = yield* encrypted
      yield* Effect.gen(function*() {
        yield* vault.unlock(PASSPHRASE, 60, { renewalsOnly: true })
        yield* Effect.yieldNow()
        isLate = true
        yield* vault.unlock(PASSPHRASE, 90, { renewalsOnly: true })
        isLate = false
        for (let turn = 0; turn < 5; turn++) yield* Effect.yieldNow()
        assert.deepStrictEqual([vault.signsRenewals(), vault.renewalsUntil()], [true, 90])
        // The new timer still ends its own time.
        fire()
        for (let turn = 0; turn < 5; turn++) yield* Effect.yieldNow()
        assert.deepStrictEqual([vault.signsRenewals(), vault.renewalsUntil()], [false, 0])
      }).pipe(Effect.withClock(clock))
    }).pipe(withCheapScrypt))

  it.scoped("a new passphrase opens the wallet, the old one does not", () =>
    Effect.gen(function*() {
      const vault = yield* encrypted
      const next = Redacted.make("battery staple")
      assert.strictEqual((yield* Effect.flip(vault.changePassphrase(next, PASSPHRASE)))._tag, "WrongPassphrase")
      yield* vault.changePassphrase(PASSPHRASE, next)
      assert.strictEqual((yield* Effect.flip(vault.unlock(PASSPHRASE, 9)))._tag, "WrongPassphrase")
      yield* vault.unlock(next, 9)
      const secrets = yield* vault.secrets
      yield* vault.lock
      assert.isTrue(secrets.isWiped)
      assert.throws(() => secrets.mnemonic, KeysLocked)
    }).pipe(withCheapScrypt))

  it.scopedLive("of simultaneous encryptions the first wins, and the others fail", () =>
    Effect.gen(function*() {
      const { path, vault } = yield* plain
      const before = yield* vault.secrets
      const passphrases = ["one", "two"].map((text) => Redacted.make(text))
      const exits = yield* Effect.forEach(passphrases, (each) => Effect.either(vault.encrypt(each)), {
        concurrency: "unbounded"
      })
      const won = passphrases.filter((_, at) => exits[at]?._tag === "Right")
      const lost = exits.flatMap((exit) => exit._tag === "Left" ? [exit.left] : [])
      assert.deepStrictEqual([won.length, lost.length], [1, 1])
      assert.deepInclude(lost[0], { code: "already-encrypted" })
      assert.notInclude(readFileSync(path, "utf8"), "\"plain\"")
      // The new lock closes what was open before.
      assert.throws(() => before.mnemonic, KeysLocked)
      for (const each of won) yield* vault.unlock(each, 60)
      const next = ["three", "four"].map((text) => Redacted.make(text))
      const [old = PASSPHRASE] = won
      const changes = yield* Effect.forEach(next, (each) => Effect.either(vault.changePassphrase(old, each)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(changes.map(({ _tag }) => _tag).sort(), ["Left", "Right"])
      const [last = PASSPHRASE] = next.filter((_, at) => changes[at]?._tag === "Right")
      yield* vault.unlock(last, 60)
    }).pipe(withCheapScrypt))
})
