import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { encodeAddress, scriptOf } from "../../../../src/protocol/address.ts"
import { toHex } from "../../../../src/protocol/bytes.ts"
import { hash160, sha256 } from "../../../../src/protocol/hash.ts"
import { multiScript } from "../../../../src/protocol/miniscript/script.ts"
import { regtest } from "../../../../src/protocol/networks.ts"
import { makeTransaction } from "../../../../src/protocol/transaction.ts"
import { InvalidWalletRequest } from "../../../../src/wallet/errors.ts"
import type { OwnScript } from "../../../../src/wallet/keys/WalletKeys.ts"
import type { Wallet } from "../../../../src/wallet/Wallet.ts"
import { fakeWallet, fakeWallets, ownScript, secretOf, walletTx } from "../../../support/fakeWallet.ts"
import { pubkeyOf } from "../../../support/keys.ts"
import { walletNode } from "../../../support/walletNode.ts"

type Node = Effect.Effect.Success<ReturnType<typeof walletNode>>

const run = <A, E>(use: (node: Node) => Effect.Effect<A, E>, wallet: Wallet = fakeWallet().wallet) =>
  Effect.scoped(Effect.flatMap(walletNode(fakeWallets([wallet])), use))

const infoOf = (own: OwnScript, address = own.address) =>
  run(
    ({ on }) => Effect.map(on().call("getaddressinfo", address), ({ value }) => value),
    fakeWallet({}, { scripts: [own] }).wallet
  )

describe("new addresses", () => {
  it.effect("are labelled and always different", () => {
    const fake = fakeWallet()
    return run(({ on }) =>
      Effect.gen(function*() {
        const { call } = on()
        const [first, second, change] = [
          (yield* call("getnewaddress", "rent", "bech32")).value,
          (yield* call("getnewaddress")).value,
          (yield* call("getrawchangeaddress", "legacy")).value
        ]
        assert.strictEqual(new Set([first, second, change]).size, 3)
        assert.deepStrictEqual(fake.scripts.map(({ change, type }) => [type, change]), [
          ["bech32", false],
          ["legacy", false],
          ["legacy", true]
        ])
        assert.deepStrictEqual((yield* call("listlabels")).value, ["", "rent"])
        assert.deepStrictEqual((yield* call("getaddressesbylabel", "rent")).value, {
          [String(first)]: { purpose: "receive" }
        })
      }), fake.wallet)
  })

  it.effect("have labels within the wallet's maximum length", () =>
    run(({ on }) =>
      Effect.gen(function*() {
        const { call, refusal } = on()
        const long = "x".repeat(1_000)
        const tooLong = { code: -8, message: "Invalid parameter, label is longer than 1000 characters" }
        const address = (yield* call("getnewaddress", long)).value
        yield* call("setlabel", address, long)
        assert.deepStrictEqual(yield* refusal("getnewaddress", `${long}x`), tooLong)
        assert.deepStrictEqual(yield* refusal("setlabel", address, `${long}x`), tooLong)
      })
    ))

  it.effect("are refused for unknown types, for the label `*`, and without keys", () =>
    run(
      ({ on }) =>
        Effect.gen(function*() {
          const { refusal } = on()
          assert.deepStrictEqual(yield* refusal("getnewaddress", "", "x"), {
            code: -5,
            message: "Unknown address type 'x'"
          })
          assert.deepStrictEqual(yield* refusal("getnewaddress", "*"), { code: -11, message: "Invalid label name" })
          const none = { code: -4, message: "Error: This wallet has no available keys" }
          assert.deepStrictEqual(yield* refusal("getnewaddress"), none)
          assert.deepStrictEqual(yield* refusal("getrawchangeaddress", "bech32m"), {
            code: -12,
            message: "Error: No bech32m addresses available."
          })
        }),
      fakeWallet({
        newAddress: () => new InvalidWalletRequest({ code: "no-keys", reason: "no keys" }),
        newChangeAddress: () => new InvalidWalletRequest({ code: "address-type", reason: "none of this type" })
      }).wallet
    ))
})

describe("labels", () => {
  it.effect("apply to the wallet's addresses and to others", () =>
    run(
      ({ on }) =>
        Effect.gen(function*() {
          const { call, refusal } = on()
          yield* call("setlabel", ownScript(1).address, "mine")
          yield* call("setlabel", ownScript(9).address, "theirs")
          assert.deepStrictEqual((yield* call("listlabels", "send")).value, ["theirs"])
          assert.deepStrictEqual((yield* call("listlabels", "receive")).value, ["mine"])
          assert.deepStrictEqual((yield* call("listlabels", "")).value, ["mine", "theirs"])
          assert.strictEqual((yield* refusal("listlabels", "x")).code, -8)
          assert.deepStrictEqual(yield* refusal("setlabel", "x", "y"), { code: -5, message: "Invalid address" })
          assert.strictEqual((yield* refusal("setlabel", ownScript(1).address, "*")).code, -11)
          assert.deepStrictEqual(yield* refusal("getaddressesbylabel", "x"), {
            code: -11,
            message: "No addresses with label x"
          })
        }),
      fakeWallet({}, { scripts: [ownScript(1)] }).wallet
    ))
})

describe("getaddressinfo", () => {
  it.effect("describes the address of a key", () =>
    Effect.gen(function*() {
      const own = ownScript(1)
      assert.deepStrictEqual(yield* infoOf(own), {
        address: own.address,
        scriptPubKey: toHex(own.script),
        ismine: true,
        solvable: true,
        desc: own.descriptor,
        parent_desc: own.parentDescriptor,
        iswatchonly: false,
        isscript: false,
        iswitness: false,
        pubkey: toHex(pubkeyOf(secretOf(1))),
        iscompressed: true,
        ischange: true,
        timestamp: 1_500_000_000,
        hdkeypath: "m/44h/1h/0h/0/1",
        hdseedid: "00".repeat(20),
        hdmasterfingerprint: "e58120f7",
        labels: []
      })
    }))

  it.effect("says that an own address without a label is change", () =>
    Effect.gen(function*() {
      const [given, change] = [ownScript(1), ownScript(2)]
      const foreign = ownScript(3)
      const labels = new Map([[given.address ?? "", { label: "", purpose: "receive" as const }]])
      const { wallet } = fakeWallet({}, { scripts: [given, change], labels })
      yield* run(({ on }) =>
        Effect.gen(function*() {
          const isChange = ({ address }: OwnScript) =>
            Effect.map(on().call("getaddressinfo", address), ({ value }) => (value as { ischange: boolean }).ischange)
          assert.deepStrictEqual(
            [yield* isChange(given), yield* isChange(change), yield* isChange(foreign)],
            [false, true, false]
          )
          // A label makes it an address that the owner gave out.
          yield* on().call("setlabel", change.address, "rent")
          assert.isFalse(yield* isChange(change))
        }), wallet)
    }))

  it.effect("describes an address of a script hash", () =>
    Effect.gen(function*() {
      const publicKey = pubkeyOf(secretOf(1))
      const program = { kind: "witness", version: 0, program: hash160(publicKey) } as const
      const redeemScript = scriptOf(program)
      const nested = { kind: "scripthash", hash: hash160(redeemScript) } as const
      const own = ownScript(1, { script: scriptOf(nested), address: encodeAddress(regtest, nested), redeemScript })
      assert.deepInclude(yield* infoOf(own), {
        isscript: true,
        iswitness: false,
        script: "witness_v0_keyhash",
        hex: toHex(redeemScript),
        pubkey: toHex(publicKey),
        embedded: {
          isscript: false,
          iswitness: true,
          witness_version: 0,
          witness_program: toHex(program.program),
          pubkey: toHex(publicKey),
          address: encodeAddress(regtest, program),
          scriptPubKey: toHex(redeemScript)
        }
      })
    }))

  it.effect("describes an address inside the address inside a script hash: sh(wsh(pkh(...)))", () =>
    Effect.gen(function*() {
      const publicKey = pubkeyOf(secretOf(1))
      const innermost = { kind: "pubkeyhash", hash: hash160(publicKey) } as const
      const witnessScript = scriptOf(innermost)
      const program = { kind: "witness", version: 0, program: sha256(witnessScript) } as const
      const redeemScript = scriptOf(program)
      const nested = { kind: "scripthash", hash: hash160(redeemScript) } as const
      const address = encodeAddress(regtest, nested)
      const info = yield* infoOf(ownScript(1, { script: scriptOf(nested), address, redeemScript, witnessScript }))
      assert.deepInclude(info, {
        script: "witness_v0_scripthash",
        embedded: {
          isscript: true,
          iswitness: true,
          witness_version: 0,
          witness_program: toHex(program.program),
          script: "pubkeyhash",
          hex: toHex(witnessScript),
          pubkey: toHex(publicKey),
          embedded: {
            isscript: false,
            iswitness: false,
            pubkey: toHex(publicKey),
            iscompressed: true,
            address: encodeAddress(regtest, innermost),
            scriptPubKey: toHex(witnessScript)
          },
          address: encodeAddress(regtest, program),
          scriptPubKey: toHex(redeemScript)
        }
      })
    }))

  it.effect("describes keys that share an address", () =>
    Effect.gen(function*() {
      const pubkeys = [1, 2].map((number) => pubkeyOf(secretOf(number)))
      const witnessScript = multiScript(2, pubkeys)
      const program = { kind: "witness", version: 0, program: sha256(witnessScript) } as const
      const own = ownScript(1, {
        script: scriptOf(program),
        address: encodeAddress(regtest, program),
        witnessScript,
        publicKey: undefined,
        path: undefined,
        masterFingerprint: undefined,
        descriptor: "addr(x)#y",
        parentDescriptor: undefined
      })
      const info = yield* infoOf(own)
      assert.deepInclude(info, {
        isscript: true,
        iswitness: true,
        script: "multisig",
        pubkeys: pubkeys.map(toHex),
        sigsrequired: 2,
        solvable: false
      })
      assert.notProperty(info, "desc")
      assert.notProperty(info, "hdkeypath")
    }))

  it.effect("describes the form of a foreign address, and reports why a text is not an address", () =>
    Effect.gen(function*() {
      const info = yield* infoOf(ownScript(1), ownScript(2).address)
      assert.deepInclude(info, { ismine: false, solvable: false, isscript: false, ischange: false, labels: [] })
      assert.notProperty(info, "pubkey")
      yield* run(({ on }) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* on().refusal("getaddressinfo", "x"), {
            code: -5,
            message: "Invalid checksum or length of Base58 address (P2PKH or P2SH)"
          })
        })
      )
    }))
})

describe("received amounts", () => {
  const address = (number: number) => ownScript(number).address ?? ""

  const paying = (values: ReadonlyArray<readonly [number, number]>, tag: number) =>
    makeTransaction({
      version: 2,
      inputs: [],
      outputs: values.map(([number, value]) => ({ value, script: ownScript(number).script })),
      lockTime: tag
    })

  const block = (height: number) =>
    ({ type: "confirmed", height, hash: regtest.genesisHash, index: 0, blockTime: 0 }) as const

  const first = paying([[1, 1e8], [2, 2e8], [9, 5e8]], 1)
  const second = paying([[1, 3e8]], 2)
  const waiting = paying([[1, 4e8]], 3)

  const { wallet } = fakeWallet({ lastBlock: () => ({ height: 100, hash: regtest.genesisHash }) }, {
    scripts: [ownScript(1), ownScript(2), ownScript(3)],
    labels: new Map([
      [address(1), { label: "rent", purpose: "receive" as const }],
      [address(2), { label: "", purpose: "receive" as const }],
      [address(3), { label: "rent", purpose: "receive" as const }],
      [address(9), { label: "theirs", purpose: "send" as const }]
    ]),
    transactions: [
      walletTx(first, { state: block(91) }),
      walletTx(second, { state: block(96), spent: [first.outputs[0]] }),
      walletTx(waiting)
    ]
  })

  it.effect("are summed by address and by label", () =>
    run(({ on }) =>
      Effect.gen(function*() {
        const { call, refusal } = on()
        const text = (...call_: readonly [string, ...ReadonlyArray<unknown>]) =>
          Effect.map(call(...call_), ({ text }) => text)
        assert.strictEqual(yield* text("getreceivedbyaddress", address(1)), "4.00000000")
        assert.strictEqual(yield* text("getreceivedbyaddress", address(1), 6), "1.00000000")
        assert.strictEqual(yield* text("getreceivedbyaddress", address(1), 0), "8.00000000")
        assert.strictEqual(yield* text("getreceivedbylabel", "rent"), "4.00000000")
        const none = { code: -4, message: "Address not found in wallet" }
        assert.deepStrictEqual(yield* refusal("getreceivedbyaddress", address(9)), none)
        assert.deepStrictEqual(yield* refusal("getreceivedbylabel", "theirs"), none)
        assert.deepStrictEqual(yield* refusal("getreceivedbylabel", "x"), {
          code: -4,
          message: "Label not found in wallet"
        })
      }), wallet))

  it.effect("are listed by address and by label", () =>
    run(({ on }) =>
      Effect.gen(function*() {
        const { call, refusal } = on()
        const list = (...params: readonly [string, ...ReadonlyArray<unknown>]) =>
          Effect.map(
            call(...params),
            ({ value }) =>
              Array.isArray(value)
                ? value.map(({ amount, confirmations, label }) => [label, amount, confirmations])
                : []
          )
        assert.deepStrictEqual(yield* list("listreceivedbyaddress"), [["rent", 4, 5], ["", 2, 10]])
        assert.deepStrictEqual(yield* list("listreceivedbyaddress", 6), [["rent", 1, 10], ["", 2, 10]])
        assert.deepStrictEqual(yield* list("listreceivedbyaddress", 1, true), [
          ["rent", 4, 5],
          ["", 2, 10],
          ["rent", 0, 0],
          ["theirs", 0, 0]
        ])
        assert.deepStrictEqual(yield* list("listreceivedbyaddress", 1, true, false, address(2)), [["", 2, 10]])
        assert.strictEqual((yield* refusal("listreceivedbyaddress", 1, true, false, "x")).code, -4)
        assert.deepStrictEqual(yield* list("listreceivedbylabel"), [["", 2, 10], ["rent", 4, 5]])
        assert.deepStrictEqual(yield* list("listreceivedbylabel", 1, true), [
          ["", 2, 10],
          ["rent", 4, 5],
          ["theirs", 0, 0]
        ])
      }), wallet))

  it.effect("are grouped by common spending, including change", () => {
    const spend = paying([[3, 1e8], [9, 1e8]], 4)
    const grouped = fakeWallet({}, {
      scripts: [ownScript(1), ownScript(2), ownScript(3, { change: true }), ownScript(4)],
      transactions: [
        walletTx(first),
        walletTx(spend, { spent: [first.outputs[0], first.outputs[1]] }),
        walletTx(paying([[4, 1e8]], 5))
      ]
    })
    return run(({ on }) =>
      Effect.gen(function*() {
        const { value } = yield* on().call("listaddressgroupings")
        assert.deepStrictEqual(
          Array.isArray(value) ? value.map((group) => group.map(([address]: [string]) => address).sort()) : [],
          [[address(1), address(2), address(3)].sort(), [address(4)]]
        )
      }), grouped.wallet)
  })
})
