import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Redacted } from "effect"
import { addressOf } from "../../../src/protocol/address.ts"
import { type Bytes, concat, toHex } from "../../../src/protocol/bytes.ts"
import { hash160, sha256 } from "../../../src/protocol/hash.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { Op, pushData } from "../../../src/protocol/script.ts"
import { KeysLocked } from "../../../src/wallet/errors.ts"
import { withChecksum } from "../../../src/wallet/keys/descriptors.ts"
import { prepareImport } from "../../../src/wallet/keys/importDescriptor.ts"
import { KeyRing } from "../../../src/wallet/keys/KeyRing.ts"
import { encryption, newDocument } from "../../../src/wallet/keys/makeDocument.ts"
import { openMasterKey } from "../../../src/wallet/keys/seal.ts"
import { Secrets } from "../../../src/wallet/keys/Secrets.ts"
import { encodeDocument } from "../../../src/wallet/keys/WalletDocument.ts"
import { publicKeyOf } from "../../../src/wallet/signing/SigningProvider.ts"
import { withCheapScrypt } from "../../support/cheapScrypt.ts"
import {
  about,
  imported,
  MASTER,
  MASTER_PUBLIC,
  ONE,
  PHRASE,
  request,
  taken,
  TWO,
  TYPES,
  watching,
  WIF
} from "./rings.ts"

describe("a key ring from a mnemonic", () => {
  it.effect("gives out the addresses of the published paths, in their order", () =>
    Effect.gen(function*() {
      const ring = yield* KeyRing.make(yield* about, 3)
      // The addresses that other wallets show for this mnemonic on a test network.
      const expected = {
        legacy: ["mkpZhYtJu2r87Js3pDiWJDmPte2NRZ8bJV", "m/44h/1h/0h/0/0"],
        "p2sh-segwit": ["2Mww8dCYPUpKHofjgcXcBCEGmniw9CoaiD2", "m/49h/1h/0h/0/0"],
        bech32: [undefined, "m/84h/1h/0h/0/0"],
        bech32m: [undefined, "m/86h/1h/0h/0/0"]
      }
      for (const type of TYPES) {
        const { own } = taken(ring, type)
        assert.strictEqual(own.path, expected[type][1])
        if (expected[type][0] !== undefined) assert.strictEqual(own.address, expected[type][0])
        assert.strictEqual(own.type, type)
        assert.isTrue(own.spendable)
        assert.isFalse(own.change)
        assert.strictEqual(own.timestamp, 5)
        assert.strictEqual(toHex(own.masterFingerprint ?? new Uint8Array()), "73c5da0a")
        assert.strictEqual(own.parentDescriptor?.includes("[73c5da0a/"), true)
        assert.strictEqual(taken(ring, type).own.path?.endsWith("/0/1"), true)
        const change = taken(ring, type, true).own
        assert.isTrue(change.change)
        assert.strictEqual(change.path?.endsWith("/1/0"), true)
      }
    }))

  it.effect("recognizes its scripts, with or without a name prefix, and no others", () =>
    Effect.gen(function*() {
      const ring = yield* KeyRing.make(yield* about, 3)
      assert.strictEqual(ring.size, 4 * 2 * 3)
      const { own } = taken(ring, "legacy")
      assert.strictEqual(ring.own(own.script)?.address, own.address)
      const prefix = concat(
        Uint8Array.of(Op.OP_3),
        pushData(Uint8Array.of(100)),
        pushData(Uint8Array.of(1)),
        Uint8Array.of(Op.OP_2DROP, Op.OP_DROP)
      )
      assert.strictEqual(ring.own(concat(prefix, own.script))?.address, own.address)
      assert.isUndefined(ring.own(own.script.subarray(1)))
      assert.isUndefined(ring.own(new Uint8Array()))
    }))

  it.effect("watches the gap after the last address given out or used, and restarts there", () =>
    Effect.gen(function*() {
      const document = yield* about
      const ring = yield* KeyRing.make(document, 3)
      const far = yield* KeyRing.make(document, 10)
      const scripts = Array.from({ length: 6 }, () => taken(far, "legacy").own.script)
      const at = (index: number): Bytes => scripts[index] ?? new Uint8Array()
      assert.deepStrictEqual([2, 3].map((index) => ring.own(at(index)) !== undefined), [true, false])
      assert.isFalse(ring.markUsed(at(3)), "not its own yet")
      assert.isTrue(ring.markUsed(at(2)))
      assert.isFalse(ring.markUsed(at(2)), "known already")
      assert.isFalse(ring.markUsed(at(0)), "before what is used")
      assert.isDefined(ring.own(at(5)))
      assert.deepStrictEqual(ring.keypool(), { receive: 12, change: 12 })
      assert.strictEqual(taken(ring, "legacy").own.address, addressOf(regtest, at(3)))
      const saved = ring.save(document)
      assert.deepStrictEqual(saved.accounts.map(({ change, receive }) => [receive, change]), [[4, 0], [0, 0], [0, 0], [
        0,
        0
      ]])
      const again = yield* KeyRing.make(saved, 3)
      assert.strictEqual(taken(again, "legacy").own.address, addressOf(regtest, at(4)))
      // An older ring does not make used addresses unused.
      const older = yield* KeyRing.make(document, 3)
      assert.deepStrictEqual(older.save(saved).accounts, saved.accounts)
    }))

  it.effect("signs with the keys of the addresses that it gives out", () =>
    Effect.gen(function*() {
      const document = yield* about
      const ring = yield* KeyRing.make(document, 3)
      const secrets = new Secrets(() => document, undefined)
      for (const type of TYPES) {
        for (const change of [false, true]) {
          const { own } = taken(ring, type, change)
          const publicKey = own.publicKey ?? new Uint8Array()
          const key = ring.privateKeyFor(own.script, secrets)
          assert.strictEqual(key && toHex(publicKeyOf(key)), toHex(publicKey))
          const signer = ring.signer(secrets)
          assert.deepStrictEqual(signer.key(hash160(publicKey)), key)
          assert.deepStrictEqual(signer.pubkey(hash160(publicKey)), publicKey)
          assert.strictEqual(signer.origin(hash160(publicKey))?.path.length, 5)
          assert.isUndefined(ring.signer(undefined).key(hash160(publicKey)))
          if (own.redeemScript !== undefined) {
            assert.deepStrictEqual(signer.redeemScript(own.script.subarray(2, 22)), own.redeemScript)
          }
          if (type === "bech32m") {
            assert.deepStrictEqual(signer.taproot(own.script.subarray(2))?.internalKey, publicKey.subarray(1))
          }
        }
      }
      assert.isUndefined(ring.signer(secrets).key(new Uint8Array(20)))
      secrets.wipe()
    }))

  it.effect("lists its descriptors, and with secrets also the master key", () =>
    Effect.gen(function*() {
      const document = yield* about
      const ring = yield* KeyRing.make(document, 3)
      const secret = ring.descriptors(new Secrets(() => document, undefined))
      assert.strictEqual(secret.length, 8)
      assert.strictEqual(secret[0]?.descriptor, withChecksum(`pkh(${MASTER}/44h/1h/0h/0/*)`))
      assert.deepStrictEqual(secret[3], {
        descriptor: withChecksum(`sh(wpkh(${MASTER}/49h/1h/0h/1/*))`),
        timestamp: 5,
        active: true,
        internal: true,
        range: [0, 2],
        next: 0
      })
      assert.notInclude(JSON.stringify(ring.descriptors()), "tprv")
    }))
})

describe("a key ring with imports", () => {
  it.effect("owns all scripts that pay to an imported key", () =>
    Effect.gen(function*() {
      const document = imported(yield* about, request(`combo(${WIF})`, { label: "mine" }))
      const ring = yield* KeyRing.make(document, 2)
      const own = [...ring.all()].filter((each) => each.parentDescriptor === withChecksum(`combo(${ONE})`))
      assert.deepStrictEqual(own.map(({ address }) => address), [
        undefined,
        "mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r",
        "ncrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kwsfjw6",
        "2NAUYAHhujozruyzpsFRP63mbrdaU5wnEpN"
      ])
      assert.isTrue(own.every(({ spendable, timestamp, path }) => spendable && timestamp === 7 && path === "m"))
      assert.deepStrictEqual(document.labels.map(({ address, label }) => [address.slice(0, 4), label]), [
        ["mrCD", "mine"],
        ["ncrt", "mine"],
        ["2NAU", "mine"]
      ])
      const secrets = new Secrets(() => document, undefined)
      const key = ring.privateKeyFor(own[0]?.script ?? new Uint8Array(), secrets)
      assert.strictEqual(key && toHex(key.privateKey), `${"0".repeat(63)}1`)
      assert.strictEqual(ring.descriptors(secrets).at(-1)?.descriptor, withChecksum(`combo(${WIF})`))
      assert.notInclude(JSON.stringify(ring.descriptors()), WIF)
    }))

  it.effect("gives out addresses of an active import before the seed, and of the later of two imports", () =>
    Effect.gen(function*() {
      const start = yield* about
      const first = request(`wpkh(${MASTER}/5h/*)`, { active: true, range: [2, 4], nextIndex: 3 })
      const second = request(`wpkh(${MASTER}/6h/*)`, { active: true, range: [0, 9] })
      const document = imported(start, first)
      const ring = yield* KeyRing.make(document, 2)
      assert.strictEqual(taken(ring, "bech32").own.path, "m/5h/3")
      assert.strictEqual(taken(ring, "bech32", true).own.path, "m/84h/1h/0h/1/0")
      assert.strictEqual(taken(ring, "legacy").own.path, "m/44h/1h/0h/0/0")
      const prepared = Either.getOrThrow(prepareImport(document, second, undefined))
      yield* ring.add(prepared.entry)
      assert.strictEqual(taken(ring, "bech32").own.path, "m/6h/0")
      const after = ring.save(prepared.change(document))
      assert.deepStrictEqual(after.imports.map(({ active, next }) => [active, next]), [[false, 4], [true, 1]])
      const active = ring.descriptors().filter((each) => each.active && each.descriptor.startsWith("wpkh(["))
      assert.deepStrictEqual(active.map(({ internal }) => internal), [true, false])
      const same = yield* KeyRing.make(after, 2)
      assert.strictEqual(taken(same, "bech32").own.path, "m/6h/1")
    }))

  it.effect("gives out the next address with a keypool of one, while a payment in the making holds the last", () =>
    Effect.gen(function*() {
      const change = request(`wpkh(${MASTER}/6h/*)`, { active: true, internal: true, range: [0, 0] })
      const receive = request(`wpkh(${MASTER}/5h/*)`, { active: true, range: [0, 0] })
      const ring = yield* KeyRing.make(imported(yield* about, receive, change), 1)
      for (const isChange of [false, true]) {
        const root = isChange ? "m/6h" : "m/5h"
        const { own, release } = Either.getOrThrow(ring.reserve("bech32", isChange))
        const second = Either.getOrThrow(ring.reserve("bech32", isChange))
        assert.deepStrictEqual([own.path, second.own.path], [`${root}/0`, `${root}/1`])
        assert.strictEqual(taken(ring, "bech32", isChange).own.path, `${root}/2`)
        for (const done of [release, second.release]) done()
      }
      const held = Either.getOrThrow(ring.reserve("bech32", true))
      assert.isDefined(ring.draft("bech32", true))
      held.release()
    }))

  it.effect("tells the words' end again by the blocks that are left", () =>
    Effect.gen(function*() {
      const ring = yield* KeyRing.make(yield* about, 3)
      const [first, second] = [taken(ring, "bech32").own.script, taken(ring, "bech32").own.script]
      for (const script of [first, second]) ring.markUsed(script, true)
      taken(ring, "bech32")
      assert.strictEqual(ring.words()?.left, 1_000 - 1)
      for (let given = 3; given < 1_002; given++) taken(ring, "bech32")
      assert.deepStrictEqual(ring.words(), { left: 0, beyond: 0, lost: 0 })
      const failure = Either.getOrThrow(Either.flip(ring.next("bech32", { change: false })))
      assert.match(failure.message, /^the last 1000 bech32 addresses were not paid/)
      const unsure = Either.getOrThrow(Either.flip(ring.next("bech32", { change: false, knows: false })))
      assert.match(unsure.message, /scanned so far.* Wait until svcd has scanned the chain/)
      ring.forgetBlocks()
      ring.markUsed(first, true)
      assert.deepStrictEqual(ring.words(), { left: 0, beyond: 1, lost: 0 })
    }))

  it.effect("watches the range of an import, and the gap after its used addresses", () =>
    Effect.gen(function*() {
      const document = imported(watching, request(`pkh([00000000/1]${MASTER_PUBLIC}/*)`, { range: [5, 7] }))
      const ring = yield* KeyRing.make(document, 2)
      const paths = () => [...ring.all()].map(({ path }) => path)
      assert.deepStrictEqual(paths(), ["m/1/5", "m/1/6", "m/1/7"])
      const last = [...ring.all()].at(-1)
      assert.isFalse(last?.spendable)
      assert.isTrue(ring.markUsed(last?.script ?? new Uint8Array()))
      assert.deepStrictEqual(paths(), ["m/1/5", "m/1/6", "m/1/7", "m/1/8", "m/1/9"])
      assert.isTrue(Either.isLeft(ring.next("legacy", { change: false })), "it is not active")
      assert.isFalse(ring.gives("legacy", false))
    }))

  it.effect("knows the scripts behind script hashes", () =>
    Effect.gen(function*() {
      const document = imported(watching, request(`sh(wsh(multi(1,${ONE},${TWO})))`))
      const ring = yield* KeyRing.make(document)
      const [own] = ring.all()
      const signer = ring.signer(undefined)
      const redeem = own?.redeemScript ?? new Uint8Array()
      assert.deepStrictEqual(signer.redeemScript(hash160(redeem)), redeem)
      const witness = own?.witnessScript ?? new Uint8Array()
      assert.strictEqual(witness.at(-1), Op.OP_CHECKMULTISIG)
      assert.deepStrictEqual(signer.witnessScript(sha256(witness)), witness)
      assert.isUndefined(own?.publicKey)
      assert.isUndefined(own?.path)
      assert.isFalse(own?.spendable)
    }))

  it.effect("can sign a multisig script if it has enough of the keys", () =>
    Effect.gen(function*() {
      const start = yield* about
      const spendable = (threshold: number) =>
        Effect.map(
          KeyRing.make(imported(start, request(`sh(multi(${threshold},${WIF},${TWO}))`)), 0),
          (ring) => [...ring.all()].map((own) => own.spendable)
        )
      assert.deepStrictEqual(yield* spendable(1), [true])
      assert.deepStrictEqual(yield* spendable(2), [false])
    }))
})

describe("an address that is paid, and that another copy of the wallet gave out", () => {
  it.effect("gets an empty label with those before it, if it is for receiving and active", () =>
    Effect.gen(function*() {
      const document = imported(yield* about, request(`wpkh(${MASTER}/*)`, { range: [0, 9] }))
      const ring = yield* KeyRing.make(document, 3)
      const at = (path: string) => [...ring.all()].find((own) => own.path === path) ?? assert.fail(path)
      for (const path of ["m/84h/1h/0h/0/1", "m/84h/1h/0h/1/0", "m/2"]) ring.markUsed(at(path).script)
      const expected = ["m/84h/1h/0h/0/0", "m/84h/1h/0h/0/1"].map((path) => ({
        address: at(path).address ?? "",
        label: "",
        purpose: "receive" as const
      }))
      const saved = ring.save(document)
      assert.deepStrictEqual(saved.labels, expected)
      assert.deepStrictEqual(ring.save(saved).labels, expected)
      const named = {
        ...document,
        labels: [{ address: expected[0]?.address ?? "", label: "x", purpose: "receive" as const }]
      }
      assert.deepStrictEqual(ring.save(named).labels[0]?.label, "x")
    }))
})

describe("encryption", () => {
  it.scopedLive("seals every secret, and the ring signs once it is unlocked", () =>
    Effect.gen(function*() {
      const plain = imported(yield* about, request(`combo(${WIF})`))
      const passphrase = Redacted.make("correct horse")
      const document = (yield* withCheapScrypt(encryption(plain, passphrase)))(plain)
      const text = encodeDocument(document)
      for (const secret of ["abandon", WIF, "tprv", "correct horse", `${"0".repeat(63)}1`]) {
        assert.notInclude(text, secret)
      }
      assert.include(encodeDocument(plain), WIF)
      const sealing = document.encryption
      if (sealing === undefined) {
        throw new Error("it is not encrypted")
      }
      const secrets = new Secrets(() => document, yield* openMasterKey(sealing, passphrase))
      assert.strictEqual(secrets.mnemonic, PHRASE)
      const ring = yield* KeyRing.make(document, 1)
      for (const own of ring.all()) {
        const key = ring.privateKeyFor(own.script, secrets)
        assert.strictEqual(key && toHex(publicKeyOf(key)), toHex(own.publicKey ?? new Uint8Array()))
      }
      // Later secrets are sealed as well, and only while the wallet is unlocked.
      const later = request(`pkh(${secondWif()})`)
      assert.isTrue(Either.isLeft(prepareImport(document, later, undefined)))
      const { entry } = Either.getOrThrow(prepareImport(document, later, secrets.sealingKey))
      assert.notInclude(JSON.stringify(entry), secondWif())
      // A key that was prepared before the encryption is not stored unsealed.
      const unsealed = Either.getOrThrow(prepareImport(plain, later, undefined))
      assert.throws(() => unsealed.change(document), TypeError)
      assert.strictEqual((yield* Effect.flip(encryption(document, passphrase))).code, "already-encrypted")
      secrets.wipe()
      assert.throws(() => secrets.mnemonic, KeysLocked)
      for (const own of ring.all()) assert.isUndefined(ring.privateKeyFor(own.script, secrets))
    }))

  it.scoped("is refused for a wallet without secrets", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* Effect.flip(encryption(watching, Redacted.make("x")))).code, "no-keys")
    }))
})

const secondWif = (): string => "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87K7XCyj5v"

describe("newDocument", () => {
  it.effect("makes wallets with a seed, without keys, and watch-only", () =>
    Effect.gen(function*() {
      const make = (privateKeys: boolean, blank: boolean) =>
        newDocument({ network: "mainnet", now: 9, privateKeys, blank })
      const [one, other] = [yield* make(true, false), yield* make(true, false)]
      assert.notDeepEqual(one.seed, other.seed)
      assert.deepStrictEqual([one.birthday, one.blank, one.accounts.length], [9, false, 4])
      const mnemonic = one.seed?.mnemonic
      assert.strictEqual(mnemonic !== undefined && "plain" in mnemonic && mnemonic.plain.split(" ").length, 24)
      for (const empty of [yield* make(true, true), yield* make(false, false)]) {
        assert.isUndefined(empty.seed)
        // As in Namecoin Core, a wallet without private keys is blank only if the caller asked for that.
        assert.strictEqual(empty.blank, empty.privateKeys)
        assert.isFalse((yield* KeyRing.make(empty)).gives("bech32", false))
      }
      assert.isFalse((yield* make(false, true)).privateKeys)
    }))
})
