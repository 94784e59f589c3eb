import { assert, describe, it } from "@effect/vitest"
import { DEFAULT_POLICY } from "../../../src/mempool/policy/Policy.ts"
import { checkSize, checkStandard, isTaprootName } from "../../../src/mempool/policy/standard.ts"
import { type Bytes, concat, EMPTY } from "../../../src/protocol/bytes.ts"
import { NAME_TX_VERSION, type NameOperation, nameScript } from "../../../src/protocol/nameOperation.ts"
import { Op, pushData } from "../../../src/protocol/script.ts"
import {
  makeTransaction,
  NO_WITNESS,
  Transaction,
  type TransactionInput,
  type TransactionOutput
} from "../../../src/protocol/transaction.ts"
import { text } from "../../support/regtest.ts"
import { parseScript } from "../../support/scriptAssembly.ts"

const bytes = (size: number): Uint8Array => new Uint8Array(size).fill(2)

const KEY_HASH = concat(Uint8Array.of(Op.OP_0, 20), bytes(20))
const TAPROOT = concat(Uint8Array.of(Op.OP_1, 32), bytes(32))
const FUTURE = concat(Uint8Array.of(Op.OP_2, 32), bytes(32))
const ANCHOR = Uint8Array.of(Op.OP_1, 2, 0x4e, 0x73)
const UPDATE: NameOperation = { op: "name_update", name: text("d/a"), value: text("{}") }

const named = (address: Bytes): Uint8Array => nameScript(UPDATE, address)

const output = (script: Bytes, value = 100_000): TransactionOutput => ({ value, script })

const input = (overrides: Partial<TransactionInput> = {}): TransactionInput => ({
  prevout: new Uint8Array(36).fill(1),
  scriptSig: EMPTY,
  sequence: 0xffffffff,
  witness: NO_WITNESS,
  ...overrides
})

const transaction = (parts: {
  readonly version?: number
  readonly inputs?: ReadonlyArray<TransactionInput>
  readonly outputs?: ReadonlyArray<TransactionOutput>
}): Transaction =>
  makeTransaction({ version: 2, lockTime: 0, inputs: [input()], outputs: [output(KEY_HASH)], ...parts })

const reason = (parts: Parameters<typeof transaction>[0]): string | undefined =>
  checkStandard(transaction(parts))?.reason

const ofScript = (...scripts: ReadonlyArray<Bytes>): string | undefined =>
  reason({ outputs: scripts.map((script) => output(script)) })

const nullData = (size: number): Uint8Array => concat(Uint8Array.of(Op.OP_RETURN), new Uint8Array(size - 1))

const key = pushData(bytes(33))

const multisig = (required: number, count: number): Uint8Array =>
  concat(
    Uint8Array.of(Op.OP_1 - 1 + required),
    ...Array.from({ length: count }, () => key),
    Uint8Array.of(Op.OP_1 - 1 + count, Op.OP_CHECKMULTISIG)
  )

describe("checkStandard", () => {
  it("accepts versions 1 to 3 and that of names", () => {
    const versions = [0, 1, 3, 4, NAME_TX_VERSION - 1, NAME_TX_VERSION, NAME_TX_VERSION + 1, 0xffffffff]
    assert.deepStrictEqual(versions.map((version) => reason({ version })), [
      "version",
      undefined,
      undefined,
      "version",
      "version",
      undefined,
      "version",
      "version"
    ])
  })

  it("accepts a weight of 400,000", () => {
    const ofWeight = (weight: number): Transaction => {
      const base = transaction({ inputs: [input({ witness: [bytes(300_000)] })] })
      return transaction({ inputs: [input({ witness: [bytes(300_000 + weight - base.weight)] })] })
    }
    assert.deepStrictEqual([400_000, 400_001].map((weight) => ofWeight(weight).weight), [400_000, 400_001])
    assert.isUndefined(checkStandard(ofWeight(400_000)))
    assert.strictEqual(checkStandard(ofWeight(400_001))?.reason, "tx-size")
  })

  it("accepts scriptSigs of 1,650 bytes that only push, in any input", () => {
    const of = (scriptSig: Bytes): string | undefined => reason({ inputs: [input(), input({ scriptSig })] })
    assert.isUndefined(of(new Uint8Array(1650)))
    assert.strictEqual(of(new Uint8Array(1651)), "scriptsig-size")
    assert.isUndefined(of(Uint8Array.of(Op.OP_16, Op.OP_RESERVED)))
    assert.strictEqual(of(Uint8Array.of(Op.OP_NOP)), "scriptsig-not-pushonly")
    assert.strictEqual(of(Uint8Array.of(5, 1)), "scriptsig-not-pushonly")
  })

  it("accepts the usual scripts, with and without a name", () => {
    const scripts = [
      KEY_HASH,
      concat(Uint8Array.of(Op.OP_0, 32), bytes(32)),
      concat(Uint8Array.of(Op.OP_HASH160, 20), bytes(20), Uint8Array.of(Op.OP_EQUAL)),
      parseScript(`DUP HASH160 0x14 0x${"02".repeat(20)} EQUALVERIFY CHECKSIG`),
      multisig(2, 3)
    ]
    for (const script of scripts) {
      assert.deepStrictEqual([ofScript(script), ofScript(named(script))], [undefined, undefined])
    }
  })

  it("does not find a bare key behind a name: a script there may not begin with a push", () => {
    const script = concat(key, Uint8Array.of(Op.OP_CHECKSIG))
    assert.deepStrictEqual([ofScript(script), ofScript(named(script))], [undefined, "scriptpubkey"])
  })

  it("accepts witness programs of any version, but no name with one of version 1", () => {
    assert.deepStrictEqual([TAPROOT, FUTURE, ANCHOR].map((script) => ofScript(script)), [
      undefined,
      undefined,
      undefined
    ])
    assert.deepStrictEqual([TAPROOT, ANCHOR].map((script) => ofScript(named(script))), ["scriptpubkey", "scriptpubkey"])
    assert.isUndefined(ofScript(named(FUTURE)))
  })

  it("refuses scripts of unknown forms", () => {
    for (const script of [EMPTY, Uint8Array.of(Op.OP_1), concat(Uint8Array.of(Op.OP_0, 21), bytes(21))]) {
      assert.strictEqual(ofScript(KEY_HASH, script), "scriptpubkey")
    }
  })

  it("accepts multisignatures of up to three keys", () => {
    assert.deepStrictEqual([[1, 1], [3, 3], [1, 4]].map(([m = 0, n = 0]) => ofScript(multisig(m, n))), [
      undefined,
      undefined,
      "scriptpubkey"
    ])
    assert.strictEqual(ofScript(named(multisig(1, 4))), "scriptpubkey")
    const bare = transaction({ outputs: [output(multisig(1, 3))] })
    assert.strictEqual(checkStandard(bare, { ...DEFAULT_POLICY, bareMultisig: false })?.reason, "bare-multisig")
  })

  it("accepts 100,000 bytes of null data, in all outputs together", () => {
    // With its other bytes such a transaction exceeds the largest weight, so this one does not have them.
    const of = (...sizes: ReadonlyArray<number>): string | undefined =>
      checkStandard(
        new Transaction({
          bytes: new Uint8Array(100),
          version: 2,
          inputs: [input()],
          outputs: sizes.map((size) => output(nullData(size), 0)),
          lockTime: 0,
          hasWitness: false,
          witnessSize: 0
        })
      )?.reason
    assert.deepStrictEqual([of(100_000), of(100_001)], [undefined, "datacarrier"])
    assert.deepStrictEqual([of(60_000, 40_000), of(60_000, 40_001)], [undefined, "datacarrier"])
  })

  it("refuses null data behind a name, and data with other opcodes than pushes", () => {
    assert.strictEqual(ofScript(named(nullData(4))), "scriptpubkey")
    assert.strictEqual(ofScript(Uint8Array.of(Op.OP_RETURN, Op.OP_NOP)), "scriptpubkey")
  })

  it("allows a transaction one dust output", () => {
    const dust = output(KEY_HASH, 0)
    assert.isUndefined(reason({ outputs: [dust, output(KEY_HASH)] }))
    assert.strictEqual(reason({ outputs: [dust, output(KEY_HASH), dust] }), "dust")
  })

  it("returns the first reason of many", () => {
    const bad = {
      version: 9,
      inputs: [input({ scriptSig: Uint8Array.of(Op.OP_NOP) })],
      outputs: [output(EMPTY, 0), output(EMPTY, 0)]
    }
    assert.strictEqual(reason(bad), "version")
    assert.strictEqual(reason({ ...bad, version: 1 }), "scriptsig-not-pushonly")
    assert.strictEqual(reason({ ...bad, version: 1, inputs: [input()] }), "scriptpubkey")
  })
})

describe("checkSize", () => {
  it("accepts 65 bytes, without witnesses", () => {
    const of = (size: number, witness = NO_WITNESS): Transaction =>
      transaction({ inputs: [input({ witness })], outputs: [output(nullData(size - 60), 0)] })
    assert.deepStrictEqual([64, 65].map((size) => of(size).strippedSize), [64, 65])
    assert.deepStrictEqual([64, 65].map((size) => checkSize(of(size))?.reason), ["tx-size-small", undefined])
    assert.strictEqual(checkSize(of(64, [bytes(100)]))?.reason, "tx-size-small")
  })
})

describe("isTaprootName", () => {
  it("is true for a name paid to a program of version 1", () => {
    assert.deepStrictEqual([TAPROOT, named(TAPROOT), named(KEY_HASH), named(FUTURE)].map(isTaprootName), [
      false,
      true,
      false,
      false
    ])
  })
})
