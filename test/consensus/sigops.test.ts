import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { Flag, NO_FLAGS } from "../../src/consensus/flags.ts"
import { countSigops, inputSigopCost, legacySigops, transactionSigopCost } from "../../src/consensus/sigops.ts"
import type { Coin } from "../../src/consensus/view.ts"
import { type Bytes, concat, EMPTY } from "../../src/protocol/bytes.ts"
import { nameScript, parseNameScript } from "../../src/protocol/nameOperation.ts"
import { Op, pushData, ScriptCursor } from "../../src/protocol/script.ts"
import { NO_WITNESS, outpoint } from "../../src/protocol/transaction.ts"
import { coinbaseInput, currency, text } from "../support/regtest.ts"

const { OP_1, OP_2, OP_3, OP_16, OP_CHECKMULTISIG, OP_CHECKMULTISIGVERIFY, OP_CHECKSIG, OP_CHECKSIGVERIFY, OP_RETURN } =
  Op

const script = (...parts: ReadonlyArray<number | Bytes>): Uint8Array =>
  concat(...parts.map((part) => typeof part === "number" ? Uint8Array.of(part) : part))

describe("countSigops", () => {
  it.each([
    { name: "nothing", bytes: EMPTY, plain: 0, accurate: 0 },
    { name: "single checks", bytes: script(OP_CHECKSIG, OP_CHECKSIGVERIFY), plain: 2, accurate: 2 },
    { name: "a multisig of three", bytes: script(OP_3, OP_CHECKMULTISIG), plain: 20, accurate: 3 },
    { name: "a multisig of 16", bytes: script(OP_16, OP_CHECKMULTISIGVERIFY), plain: 20, accurate: 16 },
    { name: "a multisig of 0", bytes: script(Op.OP_0, OP_CHECKMULTISIG), plain: 20, accurate: 20 },
    { name: "a multisig whose count is pushed", bytes: script(1, 2, OP_CHECKMULTISIG), plain: 20, accurate: 20 },
    {
      name: "a multisig after another opcode",
      bytes: script(OP_2, Op.OP_NOP, OP_CHECKMULTISIG),
      plain: 20,
      accurate: 20
    },
    { name: "a multisig at the very start", bytes: script(OP_CHECKMULTISIG), plain: 20, accurate: 20 },
    { name: "bytes after OP_RETURN", bytes: script(OP_RETURN, OP_CHECKSIG), plain: 1, accurate: 1 },
    { name: "no bytes that are pushed", bytes: script(2, OP_CHECKSIG, OP_CHECKSIG), plain: 0, accurate: 0 },
    {
      name: "bytes before a push that is cut short",
      bytes: script(OP_CHECKSIG, 3, OP_CHECKSIG),
      plain: 1,
      accurate: 1
    },
    {
      name: "bytes before a length that is cut short",
      bytes: script(OP_CHECKSIG, Op.OP_PUSHDATA2, 1),
      plain: 1,
      accurate: 1
    },
    {
      name: "nothing within long pushes",
      bytes: script(pushData(new Uint8Array(300).fill(OP_CHECKSIG)), OP_CHECKSIG),
      plain: 1,
      accurate: 1
    },
    { name: "nothing of CHECKSIGADD", bytes: script(Op.OP_CHECKSIGADD), plain: 0, accurate: 0 }
  ])("countSigops counts $name", ({ accurate, bytes, plain }) => {
    assert.strictEqual(countSigops(bytes, false), plain)
    assert.strictEqual(countSigops(bytes, true), accurate)
  })

  it.prop("countSigops reads scripts as the cursor does", {
    bytes: FastCheck.uint8Array({ maxLength: 60 }).map((random) =>
      random.map((byte) => byte % 3 === 0 ? byte & 0x4f : byte)
    )
  }, ({ bytes }) => {
    const cursor = new ScriptCursor(bytes)
    let count = 0
    while (cursor.next()) {
      if (cursor.opcode === OP_CHECKSIG || cursor.opcode === OP_CHECKSIGVERIFY) count++
      if (cursor.opcode === OP_CHECKMULTISIG || cursor.opcode === OP_CHECKMULTISIGVERIFY) count += 20
    }
    assert.strictEqual(countSigops(bytes, false), count)
  })
})

const P2SH = script(Op.OP_HASH160, pushData(new Uint8Array(20)), Op.OP_EQUAL)
const P2WPKH = script(Op.OP_0, pushData(new Uint8Array(20)))
const P2WSH = script(Op.OP_0, pushData(new Uint8Array(32)))
const P2TR = script(OP_1, pushData(new Uint8Array(32)))
const REDEEM = script(OP_1, OP_2, OP_CHECKMULTISIG)
const ALL = Flag.P2SH | Flag.WITNESS
const ANYTHING = script(Op.OP_NOP)

const named = (address: Bytes): Uint8Array =>
  nameScript({ op: "name_update", name: text("d/example"), value: text("{}") }, address)

describe("inputSigopCost", () => {
  it.each([
    { name: "P2SH", scriptSig: pushData(REDEEM), address: P2SH, witness: NO_WITNESS, flags: ALL, cost: 8 },
    {
      name: "P2SH before it was active",
      scriptSig: pushData(REDEEM),
      address: P2SH,
      witness: NO_WITNESS,
      flags: NO_FLAGS,
      cost: 0
    },
    {
      name: "P2SH whose last push counts",
      scriptSig: script(pushData(REDEEM), pushData(script(OP_CHECKSIG))),
      address: P2SH,
      witness: NO_WITNESS,
      flags: ALL,
      cost: 4
    },
    {
      name: "P2SH with OP_1 last: it pushes no bytes of the script",
      scriptSig: script(pushData(REDEEM), OP_1),
      address: P2SH,
      witness: NO_WITNESS,
      flags: ALL,
      cost: 0
    },
    { name: "P2SH with an empty script", scriptSig: EMPTY, address: P2SH, witness: NO_WITNESS, flags: ALL, cost: 0 },
    {
      name: "P2SH with more than pushes",
      scriptSig: script(Op.OP_NOP, pushData(REDEEM)),
      address: P2SH,
      witness: NO_WITNESS,
      flags: ALL,
      cost: 0
    },
    {
      name: "P2SH with a push cut short",
      scriptSig: script(pushData(REDEEM), 5),
      address: P2SH,
      witness: NO_WITNESS,
      flags: ALL,
      cost: 0
    },
    { name: "P2WPKH", scriptSig: EMPTY, address: P2WPKH, witness: NO_WITNESS, flags: ALL, cost: 1 },
    {
      name: "P2WPKH before it was active",
      scriptSig: EMPTY,
      address: P2WPKH,
      witness: NO_WITNESS,
      flags: Flag.P2SH,
      cost: 0
    },
    { name: "P2WSH", scriptSig: EMPTY, address: P2WSH, witness: [REDEEM], flags: ALL, cost: 2 },
    {
      name: "P2WSH whose last item counts",
      scriptSig: EMPTY,
      address: P2WSH,
      witness: [REDEEM, script(OP_CHECKSIG)],
      flags: ALL,
      cost: 1
    },
    { name: "P2WSH without a witness", scriptSig: EMPTY, address: P2WSH, witness: NO_WITNESS, flags: ALL, cost: 0 },
    { name: "P2TR", scriptSig: EMPTY, address: P2TR, witness: [REDEEM], flags: ALL, cost: 0 },
    { name: "P2SH-P2WPKH", scriptSig: pushData(P2WPKH), address: P2SH, witness: NO_WITNESS, flags: ALL, cost: 1 },
    { name: "P2SH-P2WSH", scriptSig: pushData(P2WSH), address: P2SH, witness: [REDEEM], flags: ALL, cost: 2 },
    {
      name: "5.2.3 P2SH of a name prefix and P2WSH",
      scriptSig: pushData(named(P2WSH)),
      address: P2SH,
      witness: [REDEEM],
      flags: ALL,
      cost: 2
    },
    { name: "a bare script", scriptSig: EMPTY, address: REDEEM, witness: NO_WITNESS, flags: ALL, cost: 0 }
  ])("inputSigopCost returns $cost for $name", ({ address, cost, flags, scriptSig, witness }) => {
    assert.strictEqual(inputSigopCost({ scriptSig, address, witness, flags }), cost)
  })
})

describe("transactionSigopCost", () => {
  const coin = (bytes: Bytes): Coin => ({ value: 1, script: bytes, height: 1, coinbase: false })
  const spend = (scriptSig: Bytes, witness: ReadonlyArray<Bytes> = NO_WITNESS) => ({
    prevout: outpoint(new Uint8Array(32).fill(1), 0),
    scriptSig,
    sequence: 0,
    witness
  })

  it("signature operations in the scripts of inputs and outputs count four times", () => {
    const transaction = currency([spend(script(OP_CHECKSIG))], [{ value: 1, script: REDEEM }])
    assert.strictEqual(legacySigops(transaction), 21)
    assert.strictEqual(transactionSigopCost(transaction, { coins: [coin(ANYTHING)], flags: NO_FLAGS }), 84)
  })

  it.each([
    { name: "P2SH", scriptSig: pushData(REDEEM), address: P2SH, witness: NO_WITNESS, cost: 8 },
    { name: "P2WPKH", scriptSig: EMPTY, address: P2WPKH, witness: NO_WITNESS, cost: 1 },
    { name: "P2WSH", scriptSig: EMPTY, address: P2WSH, witness: [REDEEM], cost: 2 }
  ])("5.2.4 the name prefix of $name is ignored", ({ address, cost, scriptSig, witness }) => {
    const transaction = currency([spend(scriptSig, witness)], [{ value: 1, script: ANYTHING }])
    for (const spent of [address, named(address)]) {
      assert.strictEqual(transactionSigopCost(transaction, { coins: [coin(spent)], flags: ALL }), cost)
      assert.strictEqual(
        transactionSigopCost(transaction, { coins: [coin(spent)], flags: ALL, spent: [parseNameScript(spent)] }),
        cost
      )
    }
  })

  it("5.2.4 the whole script of a name output is counted", () => {
    const output = { value: 1, script: named(script(OP_CHECKSIG)) }
    assert.strictEqual(
      transactionSigopCost(currency([spend(EMPTY)], [output]), { coins: [coin(ANYTHING)], flags: ALL }),
      4
    )
  })

  it("the script of a coinbase is counted too", () => {
    const transaction = currency([coinbaseInput(script(OP_CHECKSIG, OP_CHECKMULTISIG))], [{
      value: 1,
      script: ANYTHING
    }])
    assert.strictEqual(transactionSigopCost(transaction, { coins: [], flags: ALL }), 84)
  })
})
