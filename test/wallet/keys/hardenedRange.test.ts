import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, FastCheck, Redacted } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { toHex } from "../../../src/protocol/bytes.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { faultless, publicDescriptor, withChecksum } from "../../../src/wallet/keys/descriptors.ts"
import { expandDescriptor } from "../../../src/wallet/keys/expandDescriptor.ts"
import { deriveHardened, StoredKeys } from "../../../src/wallet/keys/hardenedKeys.ts"
import { prepareImport } from "../../../src/wallet/keys/importDescriptor.ts"
import { KeyRing } from "../../../src/wallet/keys/KeyRing.ts"
import { seededDocument } from "../../../src/wallet/keys/makeDocument.ts"
import { parseMnemonic } from "../../../src/wallet/keys/mnemonic.ts"
import { parseDescriptor } from "../../../src/wallet/keys/parseDescriptor.ts"
import { Secrets } from "../../../src/wallet/keys/Secrets.ts"
import { checkSecrets } from "../../../src/wallet/keys/secretsCheck.ts"
import type { WalletDocument } from "../../../src/wallet/keys/WalletDocument.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { withCheapScrypt } from "../../support/cheapScrypt.ts"
import { type LiveNode, withWallets } from "../../support/liveWallets.ts"

const MASTER =
  "tprv8ZgxMBicQKsPd7Uf69XL1XwhmjHopUGep8GuEiJDZmbQz6o58LninorQAfcKZWARbtRtfnLcJ5MQ2AtHcQJCCRUcMRvmDUjyEmNUWwx8UbK"

const RANGE = `wpkh(${MASTER}/0h/*h)`

const request = (
  text: string,
  more: { readonly range?: readonly [number, number]; readonly lookahead?: number } = {}
) => ({
  descriptor: withChecksum(text),
  label: undefined,
  timestamp: 0,
  active: true,
  internal: false,
  range: undefined,
  nextIndex: undefined,
  ...more
})

const parsed = (text: string) => Either.getOrThrow(parseDescriptor(regtest, withChecksum(text)))

/** The scripts of a range, from its private keys. */
const scriptsOf = (text: string, first: number, end: number): ReadonlyArray<string> => {
  const expand = expandDescriptor(parsed(text))
  return Array.from({ length: end - first }, (_, at) => toHex(expand(first + at)[0]?.script ?? assert.fail()))
}

const seeded = seededDocument({
  network: "regtest",
  mnemonic: Either.getOrThrow(
    parseMnemonic("abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about")
  ),
  createdAt: 10,
  birthday: 5
})

const withImport = (document: WalletDocument, each: ReturnType<typeof request>): WalletDocument =>
  Either.getOrThrow(prepareImport(document, each, undefined)).change(document)

const givenOut = (ring: KeyRing) => Either.map(ring.next("bech32", { change: false }), ({ own }) => toHex(own.script))

describe("a range of hardened keys", () => {
  it("property: stored keys give the scripts of the private ones, including those that are added later", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.constantFrom(RANGE, `sh(wpkh(${MASTER}/7/*'))`, `tr(${MASTER}/*h,pk(${MASTER}/1h/*h))`),
        FastCheck.integer({ min: 0, max: 0x7fffff00 }),
        FastCheck.array(FastCheck.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }),
        (text, first, steps) => {
          const descriptor = parsed(text)
          const stored = new StoredKeys(publicDescriptor(descriptor), first, deriveHardened(descriptor, [first, first]))
          for (const step of steps) stored.add(deriveHardened(descriptor, [stored.end, stored.end + step]))
          const read = new StoredKeys(publicDescriptor(descriptor), first, stored.stored)
          assert.strictEqual(read.end, first + steps.reduce((sum, step) => sum + step, 0))
          const [whole, part] = [deriveHardened(descriptor, [first, read.end]), stored.stored]
          assert.deepStrictEqual(part, whole)
        }
      ),
      { numRuns: 20 }
    )
  })

  it.effect("is imported with its public keys, and gives out its addresses without the private ones", () =>
    Effect.gen(function*() {
      const document = withImport(yield* seeded, request(RANGE, { lookahead: 3 }))
      const entry = document.imports[0] ?? assert.fail()
      assert.notInclude(entry.descriptor, "prv")
      assert.match(entry.descriptor, /\/0h\/\*h\)#/)
      const ring = yield* KeyRing.make(document, 3)
      const out = [givenOut(ring), givenOut(ring), givenOut(ring)]
      assert.deepStrictEqual(out.map(Either.getOrUndefined), [...scriptsOf(RANGE, 0, 3)])
      assert.strictEqual(
        [...ring.all()].find(({ script }) => toHex(script) === Either.getOrUndefined(out[1] ?? out[0] ?? assert.fail()))
          ?.path,
        "m/0h/1h"
      )
      const failure = Either.flip(givenOut(ring))
      assert.deepInclude(Either.getOrThrow(failure), { code: "used-up" })
      assert.deepInclude(Either.getOrThrow(Either.flip(givenOut(ring))), { code: "used-up" }, "nothing is skipped")
      ring.deriveWith(() => new Secrets(() => document, undefined))
      assert.strictEqual(Either.getOrUndefined(givenOut(ring)), scriptsOf(RANGE, 3, 4)[0])
      const saved = ring.save(document)
      assert.strictEqual(saved.imports[0]?.hardened?.[0]?.keys.length, 2 * 33 * 7, "three more than given out")
      assert.isUndefined((yield* checkSecrets(saved, new Secrets(() => saved, undefined))).problem)
      const again = yield* KeyRing.make(saved, 3)
      assert.strictEqual(Either.getOrUndefined(givenOut(again)), scriptsOf(RANGE, 4, 5)[0])
    }))

  it.effect("is watched by an older copy of the document as far as that goes, beside the scripts of a newer one", () =>
    Effect.gen(function*() {
      const older = withImport(yield* seeded, request(RANGE, { range: [0, 0], lookahead: 1 }))
      const newer = yield* KeyRing.make(older, 1)
      newer.deriveWith(() => new Secrets(() => older, undefined))
      yield* newer.refill(6)
      const records = newer.takeRecords()
      assert.isAbove(Math.max(...[...records.values()].map(({ length }) => length)), 5 * 22)
      const ring = yield* KeyRing.make(older, 1, { records })
      assert.strictEqual(Either.getOrUndefined(givenOut(ring)), scriptsOf(RANGE, 0, 1)[0])
      ring.deriveWith(() => new Secrets(() => older, undefined))
      assert.strictEqual(Either.getOrUndefined(givenOut(ring)), scriptsOf(RANGE, 1, 2)[0])
    }))

  it.effect("is refilled up to a number of unused addresses, and stays so while the wallet is locked", () =>
    Effect.gen(function*() {
      const document = withImport(yield* seeded, request(RANGE, { range: [0, 0], lookahead: 1 }))
      const ring = yield* KeyRing.make(document, 1)
      ring.deriveWith(() => new Secrets(() => document, undefined))
      yield* ring.refill(6)
      ring.deriveWith(() => undefined)
      // Legacy, p2sh-segwit, bech32 and bech32m, of which the import is one for receiving.
      assert.deepStrictEqual(ring.keypool(), { receive: 4 * 6, change: 4 * 6 })
      const out = Array.from({ length: 7 }, () => Either.getOrUndefined(givenOut(ring)))
      assert.deepStrictEqual(out, [...scriptsOf(RANGE, 0, 6), undefined])
    }))

  it.effect("with public keys of other private keys counts as damaged", () =>
    Effect.gen(function*() {
      const document = withImport(yield* seeded, request(RANGE, { lookahead: 2 }))
      const others = deriveHardened(parsed(`wpkh(${MASTER}/1h/*h)`), [0, 2])
      const damaged = { ...document, imports: document.imports.map((entry) => ({ ...entry, hardened: others })) }
      const { problem } = yield* checkSecrets(damaged, new Secrets(() => damaged, undefined))
      assert.include(problem, "the public keys of its hardened range")
      const without = { ...document, imports: document.imports.map(({ hardened: _, ...entry }) => entry) }
      assert.isTrue(Either.isLeft(yield* Effect.either(Effect.sandbox(KeyRing.make(without, 2)))))
    }))

  it.effect("is refused without its private key, or if it is very long", () =>
    Effect.gen(function*() {
      const reason = (text: string, range: readonly [number, number], document: WalletDocument) =>
        Either.match(prepareImport(document, request(text, { range }), undefined), {
          onLeft: ({ message }) => message,
          onRight: () => ""
        })
      const document = yield* seeded
      assert.strictEqual(
        reason(RANGE, [0, 20_000], document),
        "Range is too large: 10000 hardened keys are the maximum"
      )
      const shown = Either.getOrThrow(faultless(() => publicDescriptor(parsed(RANGE))))
      const watching = { ...document, privateKeys: false, imports: [], accounts: [] }
      const text = Either.getOrThrow(Either.right(shown)).name
      assert.strictEqual(text, "wpkh")
      assert.include(
        reason(
          RANGE.replace(
            MASTER,
            "tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTKvosUCJZL5B"
          ),
          [0, 1],
          watching
        ),
        "Cannot expand descriptor. Probably because of hardened derivations without private keys provided"
      )
    }))

  it.scopedLive(
    "of an encrypted wallet is known while it is locked, and grows when it is opened",
    () =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const passphrase = Redacted.make("correct horse")
        const next = ({ wallet }: LiveNode) =>
          Effect.map(wallet.keys.newAddress({ type: "bech32", label: "" }), ({ script }) => toHex(script))
        yield* withWallets(directory, (node) =>
          Effect.gen(function*() {
            const { keys, vault } = node.wallet
            yield* vault.encrypt(passphrase)
            yield* vault.unlock(passphrase, 60)
            yield* keys.importDescriptor({ ...request(RANGE, { range: [0, 0] }), timestamp: 0 })
            yield* vault.lock
            const scripts = scriptsOf(RANGE, 0, 101)
            assert.strictEqual(yield* next(node), scripts[0])
            yield* node.mine(1, { script: Uint8Array.from(Buffer.from(scripts[99] ?? "", "hex")) })
            assert.lengthOf(node.wallet.ledger.transactions(), 1)
            assert.deepInclude(yield* Effect.flip(next(node)), { code: "used-up" })
            yield* vault.unlock(passphrase, 60)
            yield* keys.refill()
            yield* vault.lock
            assert.strictEqual(yield* next(node), scripts[100])
          }))
        assert.notInclude(readFileSync(join(directory, "wallet.json"), "utf8"), MASTER)
        yield* withWallets(
          directory,
          (node) => Effect.map(next(node), (script) => assert.strictEqual(script, scriptsOf(RANGE, 101, 102)[0]))
        )
      }).pipe(withCheapScrypt),
    30_000
  )
})
