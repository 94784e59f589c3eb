import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Redacted } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { displayHash, toHex } from "../../../src/protocol/bytes.ts"
import { withChecksum as checked } from "../../../src/wallet/keys/descriptors.ts"
import { type ImportRequest, prepareImport } from "../../../src/wallet/keys/importDescriptor.ts"
import { encryption, seededDocument } from "../../../src/wallet/keys/makeDocument.ts"
import { openMasterKey } from "../../../src/wallet/keys/seal.ts"
import { Secrets } from "../../../src/wallet/keys/Secrets.ts"
import { checkSecrets } from "../../../src/wallet/keys/secretsCheck.ts"
import { makeVault } from "../../../src/wallet/keys/Vault.ts"
import { decodeDocument, encodeDocument, type WalletDocument } from "../../../src/wallet/keys/WalletDocument.ts"
import * as WalletFile from "../../../src/wallet/keys/WalletFile.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { withCheapScrypt } from "../../support/cheapScrypt.ts"
import { ADDRESS as SCRIPT, nameTx, output } from "../../support/mempool.ts"
import { makeCoinbase, nameNew, saltOf, text } from "../../support/regtest.ts"
import { withoutChecksum } from "../../support/walletText.ts"

/**
 * Single bit flips in wallet.json. A file with a checksum is refused after any flip. In a file without one, as 0.1.0
 * wrote it, a damaged key, mnemonic, descriptor, salt or transaction is detected because it contradicts another member.
 * `SVCD_ALL_FLIPS=1` tries every bit of that file as well, which takes some minutes.
 */
const ALL = process.env["SVCD_ALL_FLIPS"] === "1"
const SAMPLE = 400

const MNEMONIC = Redacted.make("legal winner thank year wave sausage worth useful legal winner thank yellow")
const PASSPHRASE = Redacted.make("correct horse")
const LABELLED = "ncrt1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq8w7hxl"
const WIF = "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA"
const XPRV =
  "tprv8ZgxMBicQKsPe5YMU9gHen4Ez3ApihUfykaqUorj9t6FDqy3nP6eoXiAo2ssvpAjoLroQxHqr3R5nE3a5dU3DHTjTgJDd7zrbniJr6nrCzd"

const [NAME, RAND] = [text("d/damaged"), saltOf(7)]
const funding = makeCoinbase(1, [{ value: 100_000_000, script: SCRIPT }])
const registering = nameTx(nameNew(NAME, RAND), [output(funding)])

const imported = (document: WalletDocument, request: Partial<ImportRequest>): WalletDocument =>
  Either.getOrThrow(prepareImport(document, {
    descriptor: "",
    label: "",
    timestamp: 0,
    active: false,
    internal: false,
    range: undefined,
    nextIndex: undefined,
    ...request
  }, undefined)).change(document)

/** A wallet with content in every member. */
const fixture: Effect.Effect<WalletDocument> = Effect.gen(function*() {
  const createdAt = 1_700_000_000
  const seeded = yield* seededDocument({ network: "regtest", mnemonic: MNEMONIC, createdAt, birthday: createdAt })
  const single = imported(seeded, { descriptor: checked(`pkh(${WIF})`) })
  const ranged = imported(single, { descriptor: checked(`wpkh(${XPRV}/0h/*)`), range: [0, 9] })
  return {
    ...ranged,
    labels: [...ranged.labels, { address: LABELLED, label: "rent", purpose: "send" }],
    registrations: [{
      name: NAME,
      rand: RAND,
      value: text("{}"),
      newTxid: registering.txid,
      newVout: 0,
      firstUpdateTxid: undefined,
      step: "committed",
      note: "",
      failure: undefined,
      createdAt,
      destination: SCRIPT
    }],
    transactions: [{
      txid: displayHash(registering.txid),
      hex: toHex(registering.bytes),
      time: createdAt,
      order: 0,
      abandoned: false
    }],
    queue: [toHex(funding.bytes)],
    lockedCoins: [{ txid: displayHash(funding.txid), vout: 0 }]
  }
})

const flipped = (bytes: Uint8Array, bit: number): Buffer => {
  const other = Buffer.from(bytes)
  other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return other
}

/** Bits spread over the file, the same in each run. */
const sample = (bits: number, count: number): ReadonlyArray<number> =>
  count >= bits
    ? Array.from({ length: bits }, (_, bit) => bit)
    : Array.from({ length: count }, (_, at) => Math.floor((at * 0.618_033_988_75 % 1) * bits))

/** The content that no flip may change. */
const essence = ({ accounts, imports, registrations, seed, transactions }: WalletDocument) => ({
  words: seed?.mnemonic,
  // Digits in upper case are the same seed.
  seed: seed !== undefined && "plain" in seed.seed ? seed.seed.plain.toLowerCase() : undefined,
  fingerprint: seed?.fingerprint,
  xpubs: accounts.map(({ purpose, xpub }) => [purpose, xpub]),
  imports: imports.map(({ descriptor, privateKeys, secret }) => [descriptor, privateKeys, secret]),
  transactions: transactions.map(({ txid }) => txid),
  registrations: registrations.map(({ name, rand }) => [name, rand])
})

const temporaryWallet = Effect.map(temporaryDirectory, (directory) => join(directory, "wallet.json"))

describe("a wallet.json with a flipped bit", () => {
  it.effect("is refused wherever the bit is", () =>
    Effect.gen(function*() {
      const document = yield* fixture
      const bytes = Buffer.from(encodeDocument(document))
      let meant = 0
      for (let bit = 0; bit < 8 * bytes.length; bit++) {
        const decoded = decodeDocument(flipped(bytes, bit).toString("utf8"))
        if (Either.isLeft(decoded)) continue
        meant++
        // A flip between members that is still white space in JSON; none is known.
        assert.deepStrictEqual(decoded.right.document, document, `bit ${bit}`)
      }
      assert.strictEqual(meant, 0)
    }), 60_000)

  it.scoped("is refused by the program, and the file stays unchanged", () =>
    Effect.gen(function*() {
      const path = yield* temporaryWallet
      const bytes = Buffer.from(encodeDocument(yield* fixture))
      for (const bit of sample(8 * bytes.length, 200)) {
        const damaged = flipped(bytes, bit)
        writeFileSync(path, damaged)
        const failure = yield* Effect.flip(WalletFile.open(path, "regtest"))
        assert.strictEqual(failure._tag, "WalletDamaged", `bit ${bit}`)
        assert.isTrue(damaged.equals(readFileSync(path)))
      }
    }))

  it.scopedLive(
    "of 0.1.0, without a checksum, keeps keys, words, salts and transactions or is refused",
    () =>
      Effect.gen(function*() {
        const path = yield* temporaryWallet
        const document = yield* fixture
        const { mnemonicPassphrase: _, ...seed } = document.seed ?? assert.fail("no seed")
        const bytes = Buffer.from(withoutChecksum(encodeDocument({ ...document, seed })))
        const bits = sample(8 * bytes.length, ALL ? Number.POSITIVE_INFINITY : SAMPLE)
        const expected = essence(document)
        let accepted = 0
        for (const bit of bits) {
          writeFileSync(path, flipped(bytes, bit))
          const found = yield* Effect.either(WalletFile.read(path, "regtest"))
          if (Either.isLeft(found)) {
            assert.strictEqual(found.left._tag, "WalletDamaged", `bit ${bit}`)
            continue
          }
          accepted++
          assert.deepStrictEqual(essence(found.right.document), expected, `bit ${bit}`)
        }
        assert.isBelow(accepted / bits.length, 0.1)
      }),
    ALL ? 1_800_000 : 120_000
  )

  it.scoped("is refused at unlock if the bit is in a sealed secret", () =>
    Effect.gen(function*() {
      const plain = yield* fixture
      const document = (yield* withCheapScrypt(encryption(plain, PASSPHRASE)))(plain)
      const { encryption: sealing } = document
      if (sealing === undefined) return assert.fail("it is not encrypted")
      const masterKey = yield* openMasterKey(sealing, PASSPHRASE)
      const check = (damaged: WalletDocument) =>
        checkSecrets(damaged, new Secrets(() => damaged, Uint8Array.from(masterKey)))
      assert.deepStrictEqual(yield* check(document), { problem: undefined, wordsSuffice: true })
      const whole = withoutChecksum(encodeDocument(document))
      const bytes = Buffer.from(whole)
      for (const { 0: member, index } of whole.matchAll(/"sealed": "[0-9a-f]+"/g)) {
        const first = 8 * (index + "\"sealed\": \"".length)
        for (const at of sample(8 * (member.length - "\"sealed\": \"\"".length), 40)) {
          const decoded = decodeDocument(flipped(bytes, first + at).toString("utf8"))
          if (Either.isRight(decoded)) {
            assert.isDefined((yield* check(decoded.right.document)).problem, `${index} ${at}`)
          }
        }
      }
    }))
})

describe("a wallet that contradicts itself", () => {
  const problemOf = (change: (document: WalletDocument) => WalletDocument) =>
    Effect.gen(function*() {
      const path = yield* temporaryWallet
      const changed = encodeDocument(change(yield* fixture))
      writeFileSync(path, changed)
      const found = yield* Effect.either(WalletFile.open(path, "regtest"))
      assert.strictEqual(readFileSync(path, "utf8"), changed)
      return Either.isLeft(found) && found.left._tag === "WalletDamaged" ? found.left.found : undefined
    })

  const withSeed = (change: Partial<NonNullable<WalletDocument["seed"]>>) => (document: WalletDocument) =>
    document.seed === undefined ? document : { ...document, seed: { ...document.seed, ...change } }

  const firstOf = <A extends object>(list: ReadonlyArray<A>, change: Partial<A>): ReadonlyArray<A> =>
    list.map((entry, at) => at === 0 ? { ...entry, ...change } : entry)

  const other = Redacted.make("letter advice cage absurd amount doctor acoustic avoid letter advice cage above")

  it.scoped("is refused with the contradiction, although its checksum is right", () =>
    Effect.gen(function*() {
      const stranger = yield* seededDocument({ network: "regtest", mnemonic: other, createdAt: 0, birthday: 0 })
      const cases: ReadonlyArray<readonly [string, (document: WalletDocument) => WalletDocument]> = [
        ["the words (seed.mnemonic) are damaged", withSeed({ mnemonic: { plain: "legal winner" } })],
        ["the words (seed.mnemonic) do not give the seed", withSeed({ mnemonic: { plain: Redacted.value(other) } })],
        ["the seed does not belong to seed.fingerprint", withSeed({ fingerprint: Uint8Array.of(1, 2, 3, 4) })],
        ["the seed does not belong to seed.fingerprint", withSeed({ seed: { plain: "00".repeat(64) } })],
        ["the seed is damaged", withSeed({ seed: { plain: "no digits" } })],
        [
          "the seed does not give the xpub of account 44h",
          (document) => ({ ...document, accounts: stranger.accounts })
        ],
        ["imports.0: its private keys are not those of its descriptor", (document) => ({
          ...document,
          imports: firstOf(document.imports, { secret: { plain: checked(`wpkh(${WIF})`) } })
        })],
        ["imports.0: its private keys are damaged", (document) => ({
          ...document,
          imports: firstOf(document.imports, { secret: { plain: "pkh()" } })
        })],
        ["transactions.0: its bytes are not those of its txid", (document) => ({
          ...document,
          transactions: firstOf(document.transactions, { txid: "ab".repeat(32) })
        })],
        ["registrations.0: name or salt do not open its NAME_NEW", (document) => ({
          ...document,
          registrations: firstOf(document.registrations, { rand: saltOf(8) })
        })],
        ["registrations.0: name or salt do not open its NAME_NEW", (document) => ({
          ...document,
          registrations: firstOf(document.registrations, { newVout: 1 })
        })],
        ["registrations.0: its NAME_FIRSTUPDATE is of another name", (document) => ({
          ...document,
          registrations: firstOf(document.registrations, { firstUpdateTxid: registering.txid })
        })],
        ["registrations.0: its owner is not an address", (document) => ({
          ...document,
          registrations: firstOf(document.registrations, { destination: Uint8Array.of(1) })
        })],
        ["labels.0: its address is not of regtest", (document) => ({
          ...document,
          labels: firstOf(document.labels, { address: `${LABELLED}q` })
        })],
        ["queue.0 is not a transaction", (document) => ({ ...document, queue: ["00"] })],
        ["birthday is later than createdAt", (document) => ({ ...document, birthday: document.createdAt + 1 })]
      ]
      assert.isUndefined(yield* problemOf((document) => document))
      for (const [problem, change] of cases) assert.strictEqual(yield* problemOf(change), problem)
    }))

  it.scoped("is refused at unlock if it is encrypted, and stays locked", () =>
    Effect.gen(function*() {
      const path = yield* temporaryWallet
      const plain = withSeed({ fingerprint: Uint8Array.of(1, 2, 3, 4) })(yield* fixture)
      writeFileSync(path, encodeDocument((yield* withCheapScrypt(encryption(plain, PASSPHRASE)))(plain)))
      const vault = yield* makeVault(yield* WalletFile.open(path, "regtest"), { isOwn: () => false, maxFee: 0 })
      const failure = yield* Effect.flip(vault.unlock(PASSPHRASE, 60))
      assert.deepInclude(failure, {
        _tag: "WalletDamaged",
        file: path,
        found: "the seed does not belong to seed.fingerprint"
      })
      assert.strictEqual(vault.encryption(), "locked")
    }))

  it.scoped("is not a wallet whose mnemonic has a passphrase, which is recorded for an older file", () =>
    Effect.gen(function*() {
      const path = yield* temporaryWallet
      const options = { network: "regtest", mnemonic: MNEMONIC, createdAt: 0, birthday: 0 } as const
      const [alone, along] = [
        yield* seededDocument(options),
        yield* seededDocument({ ...options, passphrase: PASSPHRASE })
      ]
      assert.deepStrictEqual([alone.seed?.mnemonicPassphrase, along.seed?.mnemonicPassphrase], [false, true])
      for (const document of [alone, along]) {
        const { mnemonicPassphrase, ...seed } = document.seed ?? assert.fail("no seed")
        writeFileSync(path, withoutChecksum(encodeDocument({ ...document, seed })))
        const file = yield* WalletFile.open(path, "regtest")
        assert.strictEqual(file.document.seed?.mnemonicPassphrase, mnemonicPassphrase)
        // The next write stores it, and the checksum.
        assert.notInclude(readFileSync(path, "utf8"), "checksum")
        yield* file.update((now) => ({ ...now, blank: false, lockedCoins: [{ txid: "ab".repeat(32), vout: 0 }] }))
        assert.include(readFileSync(path, "utf8"), `"mnemonicPassphrase": ${mnemonicPassphrase}`)
        assert.include(readFileSync(path, "utf8"), "\n  \"checksum\": \"")
      }
    }))
})
