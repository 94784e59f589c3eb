import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { regtestParams } from "../../../../src/consensus/params.ts"
import { mineParent, minimalAuxpow, parentCoinbase } from "../../../../src/mempool/mining/minimalAuxpow.ts"
import { encodeAddress, scriptOf } from "../../../../src/protocol/address.ts"
import { displayHash, EMPTY, parseDisplayHash, toHex } from "../../../../src/protocol/bytes.ts"
import { hash160 } from "../../../../src/protocol/hash.ts"
import { regtest } from "../../../../src/protocol/networks.ts"
import { psbtOf } from "../../../../src/protocol/psbt/Psbt.ts"
import { runSteps } from "../../../../src/protocol/steps.ts"
import { makeTransaction, NO_WITNESS, outpoint } from "../../../../src/protocol/transaction.ts"
import { InvalidWalletRequest, WalletWatchOnly } from "../../../../src/wallet/errors.ts"
import { withChecksum } from "../../../../src/wallet/keys/descriptors.ts"
import { prepareImport } from "../../../../src/wallet/keys/importDescriptor.ts"
import { KeyRing } from "../../../../src/wallet/keys/KeyRing.ts"
import { emptyDocument } from "../../../../src/wallet/keys/WalletDocument.ts"
import { verifyMessage } from "../../../../src/wallet/signing/message.ts"
import { parsePsbtSteps, psbtText } from "../../../../src/wallet/signing/psbtText.ts"
import type { Wallet } from "../../../../src/wallet/Wallet.ts"
import {
  fakeWallet,
  fakeWallets,
  ownScript,
  secretOf,
  type WalletMembers,
  walletTx
} from "../../../support/fakeWallet.ts"
import { pubkeyOf } from "../../../support/keys.ts"
import { walletNode } from "../../../support/walletNode.ts"

type Node = Effect.Effect.Success<ReturnType<typeof walletNode>>

const run = <A, E>(wallet: Wallet, use: (node: Node) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(walletNode(fakeWallets([wallet])), use))

const CREDIT = makeTransaction({
  version: 2,
  inputs: [{ prevout: new Uint8Array(36), scriptSig: EMPTY, sequence: 0, witness: NO_WITNESS }],
  outputs: [{ value: 1e8, script: ownScript(1).script }],
  lockTime: 0
})

const SPEND = makeTransaction({
  version: 2,
  inputs: [{ prevout: outpoint(CREDIT.txid, 0), scriptSig: EMPTY, sequence: 0xfffffffd, witness: NO_WITNESS }],
  outputs: [{ value: 99_000_000, script: ownScript(2).script }],
  lockTime: 0
})

const PREVTX = { txid: displayHash(CREDIT.txid), vout: 0, scriptPubKey: toHex(ownScript(1).script), amount: 1 }

const holder = (overrides: WalletMembers = {}) =>
  fakeWallet(overrides, {
    keys: [1],
    scripts: [ownScript(1), ownScript(2)],
    transactions: [walletTx(CREDIT)]
  }).wallet

const locked = holder({ encryption: () => "locked" })
const watching = holder({ hasPrivateKeys: false, signer: new WalletWatchOnly() })
const LOCKED = { code: -13, message: "Error: Please enter the wallet passphrase with walletpassphrase first." }

describe("walletprocesspsbt of a watch-only wallet", () => {
  it.effect("adds the keys, leaves, origins and trees of taproot inputs and outputs", () =>
    Effect.gen(function*() {
      const [inner, leaf] = [pubkeyOf(secretOf(7)), pubkeyOf(secretOf(8))].map((key) => toHex(key.subarray(1)))
      const document = emptyDocument({ network: "regtest", createdAt: 1, privateKeys: false })
      const imported = prepareImport(document, {
        descriptor: withChecksum(`tr(${inner},{pk(${leaf}),pk(${inner})})`),
        label: undefined,
        timestamp: 0,
        active: false,
        internal: false,
        range: undefined,
        nextIndex: undefined
      }, undefined)
      const ring = yield* KeyRing.make(Either.getOrThrow(imported).change(document))
      const [own = assert.fail()] = ring.all()
      const credit = makeTransaction({ ...CREDIT, outputs: [{ value: 1e8, script: own.script }] })
      const spend = makeTransaction({
        ...SPEND,
        inputs: SPEND.inputs.map((each) => ({ ...each, prevout: outpoint(credit.txid, 0) })),
        outputs: [{ value: 99_000_000, script: own.script }]
      })
      const { wallet } = fakeWallet(
        { hasPrivateKeys: false, signer: new WalletWatchOnly(), knowledge: ring.signer(undefined) },
        { scripts: [own], transactions: [walletTx(credit)] }
      )
      yield* run(wallet, ({ on }) =>
        Effect.gen(function*() {
          const { value } = yield* on().call("walletprocesspsbt", psbtText(psbtOf(spend)))
          const parsed = runSteps(parsePsbtSteps(Object(value).psbt))
          const { inputs: [input], outputs: [output] } = "error" in parsed ? assert.fail(parsed.error) : parsed.psbt
          assert.strictEqual(toHex(input?.taprootInternalKey ?? EMPTY), inner)
          assert.strictEqual(input?.taprootLeaves.size, 2)
          assert.strictEqual(input?.taprootOrigins.size, 2)
          assert.strictEqual(toHex(output?.taprootInternalKey ?? EMPTY), inner)
          assert.deepStrictEqual(output?.taprootTree?.map(({ depth }) => depth), [1, 1])
        }))
    }))
})

describe("signmessage", () => {
  const address = ownScript(1).address ?? ""

  it.effect("makes a signature that anyone can verify", () =>
    run(holder(), ({ on }) =>
      Effect.gen(function*() {
        const { value } = yield* on().call("signmessage", address, "hello")
        assert.strictEqual(verifyMessage(regtest, { address, signature: String(value), message: "hello" }), "valid")
      })))

  it.effect("is refused without the key, for a locked wallet, and for other addresses", () =>
    Effect.gen(function*() {
      const refusal = (wallet: Wallet, of: string | undefined) =>
        run(wallet, ({ on }) => on().refusal("signmessage", of, "hello"))
      assert.deepStrictEqual(yield* refusal(locked, address), LOCKED)
      const none = { code: -4, message: "Private key not available" }
      assert.deepStrictEqual(yield* refusal(watching, address), none)
      assert.deepStrictEqual(yield* refusal(holder(), ownScript(9).address), none)
      assert.deepStrictEqual(yield* refusal(holder(), "x"), { code: -5, message: "Invalid address" })
      const p2sh = encodeAddress(regtest, { kind: "scripthash", hash: new Uint8Array(20) })
      assert.deepStrictEqual(yield* refusal(holder(), p2sh), {
        code: -3,
        message: "Address does not refer to key"
      })
    }))
})

describe("signrawtransactionwithwallet", () => {
  const hex = toHex(SPEND.bytes)

  it.effect("signs the inputs for which it has keys", () =>
    run(holder(), ({ on }) =>
      Effect.gen(function*() {
        const { value } = yield* on().call("signrawtransactionwithwallet", hex, [PREVTX])
        assert.deepInclude(value, { complete: true })
        const { value: blind } = yield* on().call("signrawtransactionwithwallet", hex)
        assert.deepInclude(blind, { complete: false })
      })))

  it.effect("has the scripts of its own script hashes", () => {
    const publicKey = pubkeyOf(secretOf(1))
    const redeemScript = scriptOf({ kind: "witness", version: 0, program: hash160(publicKey) })
    const script = scriptOf({ kind: "scripthash", hash: hash160(redeemScript) })
    const wallet = fakeWallet({}, { keys: [1], scripts: [ownScript(1, { script, redeemScript })] }).wallet
    return run(wallet, ({ on }) =>
      Effect.gen(function*() {
        const prevtx = { ...PREVTX, scriptPubKey: toHex(script) }
        const { value } = yield* on().call("signrawtransactionwithwallet", hex, [prevtx])
        assert.deepInclude(value, { complete: true })
      }))
  })

  it.effect("leaves other inputs unsigned, and is refused while the wallet is locked", () =>
    Effect.gen(function*() {
      const { value } = yield* run(watching, ({ on }) => on().call("signrawtransactionwithwallet", hex, [PREVTX]))
      assert.deepInclude(value, { complete: false, hex })
      yield* run(locked, ({ on }) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* on().refusal("signrawtransactionwithwallet", hex), LOCKED)
          assert.strictEqual((yield* on().refusal("signrawtransactionwithwallet", "zz")).code, -22)
        }))
      yield* run(holder(), ({ on }) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* on().refusal("signrawtransactionwithwallet", hex, [], "x"), {
            code: -8,
            message: "'x' is not a valid sighash parameter."
          })
        }))
    }))
})

describe("walletprocesspsbt", () => {
  const psbt = psbtText(psbtOf(SPEND))

  const inputOf = (value: unknown) => {
    const parsed = runSteps(parsePsbtSteps(String(Reflect.get(Object(value), "psbt"))))
    return "error" in parsed ? assert.fail(parsed.error) : parsed.psbt.inputs[0] ?? assert.fail()
  }

  it.effect("adds the wallet's transaction, signs and finalizes", () =>
    run(holder(), ({ on }) =>
      Effect.gen(function*() {
        const { value } = yield* on().call("walletprocesspsbt", psbt)
        assert.deepInclude(value, { complete: true })
        assert.property(value, "hex")
        assert.isDefined(inputOf(value).finalScriptSig)
        const unfinished = yield* on().call("walletprocesspsbt", psbt, true, "ALL", true, false)
        const input = inputOf(unfinished.value)
        assert.isUndefined(input.finalScriptSig)
        assert.strictEqual(input.partialSignatures.size, 1)
        const [origin] = input.origins.values()
        assert.deepStrictEqual(origin?.origin.path, [0x8000002c, 0x80000001, 0x80000000, 0, 1])
        const silent = yield* on().call("walletprocesspsbt", psbt, true, "ALL", false, false)
        assert.strictEqual(inputOf(silent.value).origins.size, 0)
      })))

  it.effect("adds its data without signing, for a locked wallet or without keys", () =>
    Effect.gen(function*() {
      for (const wallet of [locked, watching, holder()]) {
        const { value } = yield* run(wallet, ({ on }) => on().call("walletprocesspsbt", psbt, false))
        assert.deepInclude(value, { complete: false })
        const input = inputOf(value)
        assert.isDefined(input.nonWitnessUtxo)
        assert.strictEqual(input.partialSignatures.size, 0)
        assert.strictEqual(input.origins.size, 1)
      }
      assert.deepStrictEqual(yield* run(locked, ({ on }) => on().refusal("walletprocesspsbt", psbt)), LOCKED)
      const garbled = yield* run(holder(), ({ on }) => on().refusal("walletprocesspsbt", "x"))
      assert.deepStrictEqual(garbled, { code: -22, message: "TX decode failed invalid base64" })
    }))
})

describe("getauxblock (reference/rpc.md 3.5)", () => {
  const proofOf = (hash: string): string => {
    const coinbase = parentCoinbase(parseDisplayHash(hash) ?? assert.fail())
    const work = { coinbase, bits: 0x207fffff, powLimit: regtestParams.powLimit }
    return toHex(minimalAuxpow(coinbase, mineParent(work, { first: 0, count: 1_000 }) ?? assert.fail()).bytes)
  }

  it.live("pays to one address until a block with it is in the chain", () => {
    const fake = fakeWallet()
    return run(fake.wallet, ({ chain, on }) =>
      Effect.gen(function*() {
        const { call, refusal } = on()
        const first = yield* call("getauxblock")
        assert.strictEqual((yield* call("getauxblock")).text, first.text)
        assert.strictEqual(fake.scripts.length, 1)
        const { hash } = JSON.parse(first.text)
        assert.strictEqual((yield* call("getauxblock", hash, proofOf(hash))).text, "true")
        assert.strictEqual(displayHash((yield* chain.tip).hash), hash)
        const block = yield* chain.block((yield* chain.tip).hash)
        assert.deepStrictEqual(block.transactions[0]?.outputs[0]?.script, fake.scripts[0]?.script)
        yield* call("getauxblock")
        assert.strictEqual(fake.scripts.length, 2)
        const half = yield* refusal("getauxblock", hash)
        assert.strictEqual(half.code, -1)
        assert.match(half.message, /^getauxblock /)
        assert.deepStrictEqual(yield* refusal("getauxblock", "00".repeat(32), "00"), {
          code: -8,
          message: "block hash unknown"
        })
      }))
  })

  it.live("requires a wallet with keys", () =>
    Effect.gen(function*() {
      const refusal = (wallet: Wallet) => run(wallet, ({ on }) => on().refusal("getauxblock"))
      assert.deepStrictEqual(yield* refusal(watching), {
        code: -4,
        message: "Error: Private keys are disabled for this wallet"
      })
      const empty = fakeWallet({ reserveAddress: () => new InvalidWalletRequest({ code: "no-keys", reason: "none" }) })
      assert.deepStrictEqual(yield* refusal(empty.wallet), {
        code: -12,
        message: "Failed to generate mining address: Error: This wallet has no available keys"
      })
    }))
})
