import { assert, describe, it } from "@effect/vitest"
import { secp256k1 } from "@noble/curves/secp256k1.js"
import { Effect, Either, FastCheck } from "effect"
import { addressOf } from "../../../src/protocol/address.ts"
import { fromHex, toHex } from "../../../src/protocol/bytes.ts"
import { encodeExtendedKey } from "../../../src/protocol/extendedKey.ts"
import { mainnet, networks, regtest } from "../../../src/protocol/networks.ts"
import { describedScripts } from "../../../src/wallet/keys/descriptorScripts.ts"
import {
  accountPath,
  childPrivateKey,
  childPublicKey,
  derivePath,
  HARDENED,
  masterKey,
  neutered,
  pathText,
  publicKeyOfExtended,
  taprootOutputKey
} from "../../../src/wallet/keys/hd.ts"
import { parseMnemonic, seedOf } from "../../../src/wallet/keys/mnemonic.ts"
import { bitcoinNetworks } from "../../support/bitcoinNetworks.ts"
import { fixtureJson, hasShared } from "../../support/fixtures.ts"

const bytes = (hex: string): Uint8Array => fromHex(hex) ?? new Uint8Array()

const ABOUT = `${"abandon ".repeat(11)}about`

/**
 * The first receive key of the published example mnemonic, by purpose, on Bitcoin, because the examples are for
 * Bitcoin.
 */
const firstKey = (purpose: number, change: number) =>
  Effect.map(
    seedOf(Either.getOrThrow(parseMnemonic(ABOUT))),
    (seed) => derivePath(masterKey(mainnet, seed), [HARDENED + purpose, HARDENED, HARDENED, change, 0])
  )

describe("published examples", () => {
  // The test vectors of the BIPs. BIP 44 has none; its address is from other wallets.
  it.effect.each(
    [
      [44, 0, "pkh", "1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA"],
      [84, 0, "wpkh", "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"],
      [84, 1, "wpkh", "bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el"],
      [86, 0, "tr", "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr"],
      [86, 1, "tr", "bc1p3qkhfews2uk44qtvauqyr2ttdsw7svhkl9nkm9s9c3x4ax5h60wqwruhk7"]
    ] as const
  )("purpose %d, chain %d", ([purpose, change, name, address]) =>
    Effect.map(firstKey(purpose, change), (key) => {
      const derived = {
        publicKey: publicKeyOfExtended(key),
        origin: { fingerprint: bytes("00000000"), path: [] },
        position: 0
      }
      const single = {
        kind: "single",
        origin: undefined,
        apostrophe: false,
        position: 0,
        publicKey: derived.publicKey,
        xonly: false,
        privateKey: undefined
      } as const
      const [script] = describedScripts(
        name === "tr" ? { name, key: single, leaves: [] } : { name, key: single },
        () => derived
      )
      assert.strictEqual(script && addressOf(bitcoinNetworks.main, script.script), address)
    }))
})

describe("accountPath", () => {
  it.each(
    [
      ["mainnet", 44, "/44h/7h/0h"],
      ["mainnet", 86, "/86h/7h/0h"],
      ["testnet", 49, "/49h/1h/0h"],
      ["regtest", 84, "/84h/1h/0h"]
    ] as const
  )("of %s and %d is %s", (network, purpose, path) => {
    assert.strictEqual(pathText(accountPath(networks[network], purpose)), path)
  })

  it("pathText prints the requested hardening mark", () => {
    assert.strictEqual(pathText([HARDENED, HARDENED - 1], "'"), "/0'/2147483647")
  })
})

interface Bip32Vector {
  readonly seed?: string
  readonly chains?: ReadonlyArray<{ readonly path: string; readonly xpub: string; readonly xprv: string }>
}

const pathOf = (text: string): ReadonlyArray<number> =>
  text.split("/").slice(1).map((step) => Number.parseInt(step, 10) + (step.endsWith("'") ? HARDENED : 0))

describe("children", () => {
  const seeds = FastCheck.uint8Array({ minLength: 16, maxLength: 64 })
  const indexes = FastCheck.integer({ min: 0, max: HARDENED - 1 })

  it("are the same by full derivation and by the fast functions", () => {
    FastCheck.assert(
      FastCheck.property(seeds, indexes, (seed, index) => {
        const parent = masterKey(regtest, seed)
        const child = derivePath(parent, [index])
        const parentPublic = publicKeyOfExtended(parent)
        assert.deepStrictEqual(toHex(childPrivateKey(parent, parentPublic, index)), toHex(child.key))
        const publicKey = toHex(publicKeyOfExtended(child))
        assert.strictEqual(toHex(childPublicKey(neutered(parent), index)), publicKey)
        assert.strictEqual(toHex(childPublicKey(parent, index)), publicKey)
        assert.deepStrictEqual(derivePath(neutered(parent), [index, 0]), neutered(derivePath(parent, [index, 0])))
      }),
      { numRuns: 15 }
    )
  })

  it("are refused if they are hardened and only the public key is known", () => {
    const parent = masterKey(regtest, new Uint8Array(32).fill(1))
    assert.throws(() => childPublicKey(parent, HARDENED), RangeError)
    assert.throws(() => childPrivateKey(parent, publicKeyOfExtended(parent), HARDENED), RangeError)
    assert.throws(() => derivePath(neutered(parent), [HARDENED]))
  })
})

describe("taprootOutputKey", () => {
  it("adds the tweak of BIP 341 to the point with even y", () => {
    // BIP 341, wallet test vectors, first of scriptPubKey.
    const internal = bytes("d6889cb081036e0faefa3a35157ad71086b123b2b144b649798b494c300a961d")
    assert.strictEqual(
      toHex(taprootOutputKey(internal)),
      "53a1f6e454df1aa2776a2814a721372d6258050de330b3c6d10ee8f4e0dda343"
    )
  })

  it("refuses bytes that are not an x coordinate", () => {
    assert.throws(() => taprootOutputKey(new Uint8Array(32).fill(0xff)), RangeError)
    assert.isFalse(secp256k1.utils.isValidPublicKey(new Uint8Array(33).fill(0xff)))
  })
})

describe.skipIf(!hasShared)("the vectors of BIP 32", () => {
  it("give the extended keys", () => {
    let count = 0
    for (const { chains = [], seed = "" } of fixtureJson<ReadonlyArray<Bip32Vector>>("bips/bip32_vectors.json")) {
      for (const { path, xprv, xpub } of chains) {
        const key = derivePath(masterKey(mainnet, bytes(seed)), pathOf(path))
        assert.strictEqual(encodeExtendedKey(mainnet, key), xprv)
        assert.strictEqual(encodeExtendedKey(mainnet, neutered(key)), xpub)
        count++
      }
    }
    assert.isAbove(count, 10)
  })
})
