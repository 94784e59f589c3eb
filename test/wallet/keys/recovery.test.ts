import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted, TestClock } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { newDocument } from "../../../src/wallet/keys/makeDocument.ts"
import { makeRecovery } from "../../../src/wallet/keys/recovery.ts"
import { makeVault } from "../../../src/wallet/keys/Vault.ts"
import * as WalletFile from "../../../src/wallet/keys/WalletFile.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { withCheapScrypt } from "../../support/cheapScrypt.ts"
import { asleepFor } from "../../support/eventually.ts"

const PASSPHRASE = Redacted.make("correct horse")

const walletOf = (blank = false) =>
  Effect.gen(function*() {
    const path = join(yield* temporaryDirectory, "wallet.json")
    const document = yield* newDocument({ network: "regtest", now: 0, privateKeys: true, blank })
    const file = yield* WalletFile.create(path, document)
    const vault = yield* makeVault(file, { isOwn: () => false, maxFee: 0 })
    const words = (yield* vault.secrets).mnemonic?.split(" ") ?? []
    const recovery = makeRecovery({ file, vault })
    const check = (...given: ReadonlyArray<readonly [place: number, word: string]>) =>
      recovery.checkWords(new Map(given.map(([place, word]) => [place, Redacted.make(word)])))
    const at = (place: number): readonly [number, string] => [place, words[place - 1] ?? ""]
    return { path, vault, words, recovery, check, at }
  })

/** Another word of the list. */
const other = (word: string): string => word === "abandon" ? "zoo" : "abandon"

describe("the check of recovery words", () => {
  it.scoped("keeps its time if all words are right, in any spelling", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_700_000_000_000)
      const { at, check, path, recovery, words } = yield* walletOf()
      assert.deepStrictEqual([recovery.isPhraseKept(), recovery.phraseChecked()], [false, undefined])
      assert.isTrue(yield* check(at(3), [11, ` ${words[10]?.toUpperCase()} `], at(24)))
      assert.deepStrictEqual([recovery.isPhraseKept(), recovery.phraseChecked()], [true, 1_700_000_000])
      const reread = yield* WalletFile.open(path, "regtest")
      assert.deepInclude(reread.document, { phraseKept: true, phraseChecked: 1_700_000_000 })
      assert.include(readFileSync(path, "utf8"), "\"phraseChecked\": 1700000000")
    }))

  it.scoped("answers a wrong word after a second, and calls at one time one after the other", () =>
    Effect.gen(function*() {
      const { at, check, recovery, words } = yield* walletOf()
      const wrong: readonly [number, string] = [24, other(words[23] ?? "")]
      const first = yield* Effect.fork(check(at(1), at(2), wrong))
      const second = yield* Effect.fork(check(at(1), at(2), at(24)))
      yield* asleepFor("1 second")
      yield* TestClock.adjust("999 millis")
      assert.isNull(yield* Fiber.poll(first).pipe(Effect.map((exit) => exit._tag === "None" ? null : exit)))
      assert.isUndefined(recovery.phraseChecked())
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual([yield* Fiber.join(first), yield* Fiber.join(second)], [false, true])
    }))

  it.scoped("keeps the second of a wrong answer for a caller that leaves: its time tells nothing", () =>
    Effect.gen(function*() {
      const { at, check, recovery, words } = yield* walletOf()
      const first = yield* Effect.fork(check(at(1), at(2), [24, other(words[23] ?? "")]))
      yield* asleepFor("1 second")
      yield* Fiber.interruptFork(first)
      const second = yield* Effect.fork(check(at(1), at(2), at(24)))
      yield* TestClock.adjust("999 millis")
      assert.isUndefined(recovery.phraseChecked())
      yield* TestClock.adjust("1 millis")
      assert.isTrue(yield* Fiber.join(second))
    }))

  it.scoped("needs three words that the wallet has, and a wallet that has words", () =>
    Effect.gen(function*() {
      const { at, check } = yield* walletOf()
      assert.deepInclude(yield* Effect.flip(check(at(1), at(2))), { code: "range", reason: "give 3 words at least" })
      assert.deepInclude(yield* Effect.flip(check(at(1), at(2), [25, "zoo"])), {
        code: "range",
        reason: "the wallet has 24 words, so that there is no word 25"
      })
      const blank = yield* walletOf(true)
      assert.deepInclude(yield* Effect.flip(blank.check([1, "a"], [2, "b"], [3, "c"])), { code: "no-words" })
    }))

  it.scoped("needs the unlocked wallet, and not one for renewals only", () =>
    Effect.gen(function*() {
      const { at, check, vault } = yield* walletOf()
      yield* vault.encrypt(PASSPHRASE)
      assert.strictEqual((yield* Effect.flip(check(at(1), at(2), at(3))))._tag, "KeysLocked")
      yield* vault.unlock(PASSPHRASE, 60, { renewalsOnly: true })
      assert.strictEqual((yield* Effect.flip(check(at(1), at(2), at(3))))._tag, "KeysLocked")
      yield* vault.unlock(PASSPHRASE, 60)
      assert.isTrue(yield* check(at(1), at(2), at(3)))
    }).pipe(withCheapScrypt))
})
