import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { toHex } from "../../../../src/protocol/bytes.ts"
import { descriptorChecksum } from "../../../../src/protocol/descriptor/descriptor.ts"
import { encodeExtendedKey } from "../../../../src/protocol/extendedKey.ts"
import { regtest } from "../../../../src/protocol/networks.ts"
import type { JsonValue } from "../../../../src/rpc/json/encodeJson.ts"
import { InvalidWalletRequest } from "../../../../src/wallet/errors.ts"
import {
  derivePath,
  fingerprintOf,
  HARDENED,
  masterKey,
  neutered,
  publicKeyOfExtended
} from "../../../../src/wallet/keys/hd.ts"
import type { Wallet } from "../../../../src/wallet/Wallet.ts"
import { fakeWallet, fakeWallets, type WalletMembers } from "../../../support/fakeWallet.ts"
import { walletNode } from "../../../support/walletNode.ts"

type Node = Effect.Effect.Success<ReturnType<typeof walletNode>>

const run = <A, E>(wallet: Wallet, use: (node: Node) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(walletNode(fakeWallets([wallet])), use))

describe("importdescriptors", () => {
  it.effect("passes each request to the wallet", () => {
    const fake = fakeWallet()
    return run(fake.wallet, ({ on }) =>
      Effect.gen(function*() {
        const answer = yield* on().call("importdescriptors", [
          { desc: "a", timestamp: "now" },
          { desc: "b", timestamp: 0, label: "rent" },
          { desc: "c", timestamp: 5, active: true, internal: true, range: 7, next_index: 3 },
          { desc: "d", timestamp: 5, range: [2, 9] }
        ])
        assert.deepStrictEqual(answer.value, Array.from({ length: 4 }, () => ({ success: true })))
        const plain = { label: undefined, active: false, internal: undefined, range: undefined, nextIndex: undefined }
        assert.deepStrictEqual(fake.calls, [
          ["importDescriptor", { ...plain, descriptor: "a", timestamp: undefined }],
          ["importDescriptor", { ...plain, descriptor: "b", timestamp: 1, label: "rent" }],
          [
            "importDescriptor",
            { ...plain, descriptor: "c", timestamp: 5, active: true, internal: true, range: [0, 7], nextIndex: 3 }
          ],
          ["importDescriptor", { ...plain, descriptor: "d", timestamp: 5, range: [2, 9] }]
        ])
      }))
  })

  it.effect("refuses texts that are too long for the wallet", () =>
    run(fakeWallet().wallet, ({ on }) =>
      Effect.gen(function*() {
        const [label, desc] = ["x".repeat(1_000), "x".repeat(160_000)]
        const { value } = yield* on().call("importdescriptors", [
          { desc, label, timestamp: 1 },
          { desc: `${desc}x`, timestamp: 1 },
          { desc, label: `${label}x`, timestamp: 1 }
        ])
        const tooLong = (what: string, most: number) => ({
          success: false,
          error: { code: -8, message: `Invalid parameter, ${what} is longer than ${most} characters` }
        })
        assert.deepStrictEqual(value, [{ success: true }, tooLong("descriptor", 160_000), tooLong("label", 1_000)])
      })))

  it.effect("answers each request separately", () => {
    const refuse = (code: InvalidWalletRequest["code"], reason: string) => new InvalidWalletRequest({ code, reason })
    const { wallet } = fakeWallet({
      importDescriptor: ({ descriptor }) => {
        switch (descriptor) {
          case "good":
            return Effect.succeed(["Range not given, using default keypool range"])
          case "range":
            return refuse("range", "Range is too large")
          case "keys":
            return refuse("no-keys", "Cannot import private keys to a wallet with private keys disabled")
          default:
            return refuse("descriptor", "Missing checksum")
        }
      }
    })
    return run(wallet, ({ on }) =>
      Effect.gen(function*() {
        const error = (code: number, message: string) => ({ success: false, error: { code, message } })
        const of = (desc: string, more: object = {}) => ({ desc, timestamp: 1, ...more })
        const { value } = yield* on().call("importdescriptors", [
          of("good"),
          of("bare"),
          of("range"),
          of("keys"),
          of("good", { label: "*" }),
          of("good", { range: "x" }),
          of("good", { active: 1 }),
          { timestamp: 1 }
        ])
        assert.deepStrictEqual(value, [
          { success: true, warnings: ["Range not given, using default keypool range"] },
          error(-5, "Missing checksum"),
          error(-8, "Range is too large"),
          error(-4, "Cannot import private keys to a wallet with private keys disabled"),
          error(-11, "Invalid label name"),
          error(-8, "Range must be specified as end or as [begin,end]"),
          error(-3, "JSON value of type number is not of expected type bool"),
          error(-8, "Descriptor not found.")
        ])
      }))
  })

  it.effect("refuses all requests without a time, during a scan and while the wallet is locked", () =>
    Effect.gen(function*() {
      const request = [{ desc: "a", timestamp: "now" }]
      const refusal = (wallet: Wallet, requests: unknown) =>
        run(wallet, ({ on }) => on().refusal("importdescriptors", requests))
      assert.deepStrictEqual(yield* refusal(fakeWallet().wallet, [{ desc: "a" }]), {
        code: -3,
        message: "Missing required timestamp field for key"
      })
      assert.strictEqual((yield* refusal(fakeWallet().wallet, [{ desc: "a", timestamp: "then" }])).code, -3)
      assert.strictEqual((yield* refusal(fakeWallet().wallet, [1])).code, -3)
      const busy = fakeWallet({ scanning: () => ({ duration: 0, progress: 0 }) }).wallet
      assert.strictEqual((yield* refusal(busy, request)).code, -4)
      assert.strictEqual((yield* refusal(fakeWallet({ encryption: () => "locked" }).wallet, request)).code, -13)
    }))
})

describe("descriptors and their keys", () => {
  const master = masterKey(regtest, new Uint8Array(32).fill(7))
  const path = [HARDENED + 44, HARDENED + 1, HARDENED]
  const account = derivePath(master, path)
  const xpub = encodeExtendedKey(regtest, neutered(account))
  const segwit = encodeExtendedKey(regtest, neutered(derivePath(master, [HARDENED + 84, ...path.slice(1)])))
  const topPublic = encodeExtendedKey(regtest, neutered(master))
  const top = encodeExtendedKey(regtest, master)

  const listed = (secret: boolean) => {
    const key = secret ? `${top}/44h/1h/0h` : `[e58120f7/44h/1h/0h]${xpub}`
    const shared = { timestamp: 5, active: true, range: [0, 19] as const, next: 3 }
    return [
      { ...shared, descriptor: `pkh(${key}/1/*)#y`, internal: true },
      { ...shared, descriptor: `pkh(${key}/0/*)#x`, internal: false },
      {
        timestamp: 6,
        active: false,
        descriptor: "addr(x)#z",
        internal: undefined,
        range: undefined,
        next: undefined
      }
    ]
  }

  const wallet = (overrides: WalletMembers = {}) =>
    fakeWallet({ name: "w", descriptors: (secret) => Effect.succeed(listed(secret)), ...overrides }).wallet

  it.effect("are listed in order", () =>
    run(wallet(), ({ on }) =>
      Effect.gen(function*() {
        const { value } = yield* on().call("listdescriptors")
        const shared = { timestamp: 5, active: true, range: [0, 19], next: 3, next_index: 3 }
        assert.deepStrictEqual(value, {
          wallet_name: "w",
          descriptors: [
            { desc: "addr(x)#z", timestamp: 6, active: false },
            { desc: `pkh([e58120f7/44h/1h/0h]${xpub}/0/*)#x`, internal: false, ...shared },
            { desc: `pkh([e58120f7/44h/1h/0h]${xpub}/1/*)#y`, internal: true, ...shared }
          ]
        })
        assert.include((yield* on().call("listdescriptors", true)).text, top)
      })))

  it.effect("show the keys at the top, with their private keys", () =>
    run(wallet(), ({ on }) =>
      Effect.gen(function*() {
        const descriptors = [1, 0].map((change) => ({
          desc: `pkh([e58120f7/44h/1h/0h]${xpub}/${change}/*)#${"xy"[change]}`,
          active: true
        }))
        assert.deepStrictEqual((yield* on().call("gethdkeys")).value, [
          { xpub: topPublic, has_private: true, descriptors }
        ])
        assert.deepStrictEqual((yield* on().call("gethdkeys", { private: true, active_only: true })).value, [
          { xpub: topPublic, has_private: true, xprv: top, descriptors }
        ])
      })))

  it.effect("omit locked and missing private keys", () =>
    Effect.gen(function*() {
      yield* run(wallet({ encryption: () => "locked" }), ({ on }) =>
        Effect.gen(function*() {
          assert.strictEqual((yield* on().refusal("listdescriptors", true)).code, -13)
          assert.strictEqual((yield* on().refusal("gethdkeys", { private: true })).code, -13)
          assert.deepInclude((yield* on().call("gethdkeys")).value, {
            xpub,
            has_private: true,
            descriptors: [1, 0].map((change) => ({
              desc: `pkh([e58120f7/44h/1h/0h]${xpub}/${change}/*)#${"xy"[change]}`,
              active: true
            }))
          })
        }))
      yield* run(wallet({ hasPrivateKeys: false }), ({ on }) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* on().refusal("listdescriptors", true), {
            code: -4,
            message: "Can't get private descriptor string for watch-only wallets"
          })
          const { text } = yield* on().call("gethdkeys", { private: true })
          assert.include(text, `"has_private":false`)
          assert.notInclude(text, "xprv")
        }))
    }))

  it.effect("are added for an address type, from the only active key or a given one", () =>
    Effect.gen(function*() {
      const made = wallet()
      yield* run(made, ({ on }) =>
        Effect.gen(function*() {
          const { value } = yield* on().call("createwalletdescriptor", "bech32")
          const mark = toHex(fingerprintOf(publicKeyOfExtended(master)))
          const descs = [0, 1].map((change) => `wpkh([${mark}/84h/1h/0h]${segwit}/${change}/*)`)
          assert.deepStrictEqual(value, { descs: descs.map((text) => `${text}#${descriptorChecksum(text) ?? ""}`) })
          assert.deepStrictEqual((yield* on().call("createwalletdescriptor", "bech32", { internal: true })).value, {
            descs: descs.slice(1).map((text) => `${text}#${descriptorChecksum(text) ?? ""}`)
          })
          const refused = (...given: ReadonlyArray<JsonValue>) => on().refusal("createwalletdescriptor", ...given)
          assert.deepStrictEqual(yield* refused("bech32", { hdkey: top }), {
            code: -5,
            message: "Unable to parse HD key. Please provide a valid xpub"
          })
          assert.deepStrictEqual(yield* refused("bech32", { hdkey: xpub }), {
            code: -5,
            message: `Private key for ${xpub} is not known`
          })
          assert.deepStrictEqual(yield* refused("bech33"), { code: -5, message: "Unknown address type 'bech33'" })
        }))
      yield* run(wallet({ descriptors: () => Effect.succeed([]) }), ({ on }) =>
        Effect.map(on().refusal("createwalletdescriptor", "bech32"), ({ code, message }) => {
          assert.deepStrictEqual([code, message.slice(0, 37)], [-5, "Unable to determine which HD key to u"])
        }))
      yield* run(
        wallet({
          encryption: () =>
            "locked"
        }),
        ({ on }) =>
          Effect.map(on().refusal("createwalletdescriptor", "bech32"), ({ code }) =>
            assert.strictEqual(code, -13))
      )
    }))
})
