import { assert, describe, it } from "@effect/vitest"
import { scrypt } from "@noble/hashes/scrypt.js"
import { Effect, FastCheck, Redacted } from "effect"
import { toHex } from "../../../src/protocol/bytes.ts"
import {
  changePassphrase,
  makeEncryption,
  makeSecret,
  openMasterKey,
  openSecret,
  passphraseKey,
  SCRYPT,
  sealSecret
} from "../../../src/wallet/keys/seal.ts"
import { MAX_SCRYPT_LOG_N } from "../../../src/wallet/keys/WalletDocument.ts"
import { withCheapScrypt } from "../../support/cheapScrypt.ts"
import { blockingDisk, overDisk } from "../../support/disk.ts"

const key = new Uint8Array(32).fill(7)
const pass = (text: string) => Redacted.make(text)

describe("sealSecret", () => {
  it("opens only with the same key and field", () => {
    FastCheck.assert(FastCheck.property(FastCheck.fullUnicodeString(), FastCheck.nat(31), (text, at) => {
      const sealed = sealSecret(key, { field: "seed", text })
      assert.strictEqual(openSecret(key, { field: "seed", sealed }), text)
      assert.throws(() => openSecret(key, { field: "mnemonic", sealed }))
      const other = key.slice()
      other[at] = 0
      assert.throws(() => openSecret(other, { field: "seed", sealed }))
    }))
  })

  it("detects every changed byte, and missing bytes", () => {
    const sealed = sealSecret(key, { field: "seed", text: "word" })
    for (let at = 0; at < sealed.length; at++) {
      const changed = sealed.slice(0, at) + (sealed[at] === "0" ? "1" : "0") + sealed.slice(at + 1)
      assert.throws(() => openSecret(key, { field: "seed", sealed: changed }), undefined, undefined, `digit ${at}`)
    }
    for (const cut of [0, 2, 40, sealed.length - 2]) {
      assert.throws(() => openSecret(key, { field: "seed", sealed: sealed.slice(0, cut) }))
    }
    assert.throws(() => openSecret(key, { field: "seed", sealed: `${sealed}zz` }), TypeError)
  })

  it("gives a different result each time", () => {
    assert.notStrictEqual(
      sealSecret(key, { field: "seed", text: "word" }),
      sealSecret(key, { field: "seed", text: "word" })
    )
  })

  it("leaves a secret plain without a key", () => {
    assert.deepStrictEqual(makeSecret(undefined, { field: "seed", text: "word" }), { plain: "word" })
    assert.notInclude(JSON.stringify(makeSecret(key, { field: "seed", text: "word" })), "word")
  })
})

describe("passphraseKey", () => {
  it.effect("counts zero bytes at the end of a passphrase", () =>
    Effect.gen(function*() {
      for (const text of ["open", "open\0", "op\0en"]) {
        const { encryption, masterKey } = yield* makeEncryption(pass(text))
        assert.deepStrictEqual(yield* openMasterKey(encryption, pass(text)), masterKey)
        for (const other of [`${text}\0`, `${text}\0\0`, text.replace(/\0$/, "x")].filter((each) => each !== text)) {
          assert.strictEqual((yield* Effect.flip(openMasterKey(encryption, pass(other))))._tag, "WrongPassphrase")
        }
      }
    }).pipe(withCheapScrypt))

  it.effect("matches the reference implementation of scrypt", () =>
    Effect.gen(function*() {
      for (const { logN, p, r } of [{ logN: 10, r: 8, p: 1 }, { logN: 11, r: 1, p: 3 }]) {
        const salt = new Uint8Array([1, 2, 3])
        const reference = scrypt("a pass\u00e9".normalize("NFKD"), salt, { N: 2 ** logN, r, p, dkLen: 32 })
        const key = passphraseKey(pass("a pass\u00e9"), { logN, r, p, salt })
        assert.strictEqual(toHex(yield* key), toHex(reference))
        assert.strictEqual(toHex(yield* key.pipe(overDisk(blockingDisk))), toHex(reference))
      }
    }))

  it.live("does not block the event loop", () =>
    Effect.gen(function*() {
      let turns = 0
      const turn = (): void => {
        turns++
        next = setImmediate(turn)
      }
      let next = setImmediate(turn)
      yield* passphraseKey(pass("x"), { ...SCRYPT, salt: new Uint8Array(32) })
      clearImmediate(next)
      assert.isAbove(turns, 5)
    }))

  it.effect("stays within the limits of a wallet file", () =>
    Effect.gen(function*() {
      assert.isAtMost(128 * 16 * 2 ** MAX_SCRYPT_LOG_N, 2 ** 31)
      assert.strictEqual((yield* passphraseKey(pass(""), { logN: 10, r: 1, p: 1, salt: new Uint8Array() })).length, 32)
    }))
})

describe("makeEncryption", () => {
  it.effect("has the full cost unless a test lowers it", () =>
    Effect.gen(function*() {
      assert.deepInclude((yield* makeEncryption(pass("x"))).encryption, SCRYPT)
    }))

  it.effect(
    "opens the same master key with its passphrase, and after a change with the new one",
    () =>
      Effect.gen(function*() {
        const { encryption, masterKey } = yield* makeEncryption(pass("first"))
        const before = toHex(masterKey)
        assert.strictEqual(toHex(yield* openMasterKey(encryption, pass("first"))), before)
        assert.strictEqual((yield* Effect.flip(openMasterKey(encryption, pass("First"))))._tag, "WrongPassphrase")
        const changed = yield* changePassphrase(encryption, pass("first"), pass("second"))
        assert.strictEqual(toHex(yield* openMasterKey(changed, pass("second"))), before)
        assert.strictEqual((yield* Effect.flip(openMasterKey(changed, pass("first"))))._tag, "WrongPassphrase")
        assert.notDeepEqual(changed.salt, encryption.salt)
        const wrong = yield* Effect.flip(changePassphrase(encryption, pass("second"), pass("third")))
        assert.strictEqual(wrong._tag, "WrongPassphrase")
      }).pipe(withCheapScrypt)
  )

  it.effect("refuses an empty passphrase", () =>
    Effect.gen(function*() {
      const refused = yield* Effect.flip(makeEncryption(pass("")))
      assert.strictEqual(refused.code, "empty-passphrase")
    }))
})
