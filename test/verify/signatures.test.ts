import { assert, describe, it } from "@effect/vitest"
import { type Bytes, concat, EMPTY } from "../../src/protocol/bytes.ts"
import { hash160, sha256 } from "../../src/protocol/hash.ts"
import { nameScript } from "../../src/protocol/nameOperation.ts"
import { Op, pushData } from "../../src/protocol/script.ts"
import { makeTransaction, outpoint } from "../../src/protocol/transaction.ts"
import { type NameLink, type SignatureBudget, signatureFault } from "../../src/verify/nameLinks.ts"
import { signatures } from "../../src/verify/signatures.ts"
import { text } from "../support/regtest.ts"

/** Transfers that no owner signed, and transfers that cost much to check. */

const KEY = concat(Uint8Array.of(2), new Uint8Array(32).fill(0x11))

interface Spending {
  readonly scriptSig?: Bytes
  readonly witness?: ReadonlyArray<Bytes>
  /** Whether the operation spends another coin as well. */
  readonly spendsMore?: boolean
}

/** An operation that spends one whose owner is a script. */
const linkOf = (
  address: Bytes,
  { scriptSig = EMPTY, spendsMore = false, witness = [] }: Spending,
  height = 300_000
) => {
  const script = nameScript({ op: "name_update", name: text("d/x"), value: text("{}") }, address)
  const input = (txid: Bytes) => ({ prevout: outpoint(txid, 0), scriptSig: EMPTY, sequence: 0xffffffff, witness: [] })
  const parts = { version: 0x7100, outputs: [{ value: 1_000_000, script }], lockTime: 0 }
  const before = makeTransaction({ ...parts, inputs: [input(new Uint8Array(32).fill(7))] })
  const others = spendsMore ? [input(new Uint8Array(32).fill(8))] : []
  const next = makeTransaction({ ...parts, inputs: [{ ...input(before.txid), scriptSig, witness }, ...others] })
  return (budget: SignatureBudget): NameLink => ({
    network: "main",
    height,
    budget,
    tx: next.bytes,
    before: { tx: before.bytes, vout: 0 }
  })
}

const op = (...codes: ReadonlyArray<number>): Uint8Array => Uint8Array.from(codes)

const REDEEM = concat(pushData(KEY), op(Op.OP_CHECKSIG))

const SCRIPT_HASH = concat(op(Op.OP_HASH160), pushData(hash160(REDEEM)), op(Op.OP_EQUAL))

/** One key of twenty, as many times. */
const multisigs = (count: number): Uint8Array => {
  const keys = Array.from({ length: 20 }, () => pushData(KEY))
  const one = concat(op(Op.OP_0, Op.OP_0, Op.OP_1), ...keys, pushData(op(20)), op(Op.OP_CHECKMULTISIG, Op.OP_DROP))
  return concat(...Array.from({ length: count }, () => one), op(Op.OP_1))
}

describe("signatures", () => {
  // At these heights the chain itself had no such rules yet; a false block can claim any of them.
  it.each<readonly [what: string, address: Bytes, spending: Spending]>([
    ["a script hash", SCRIPT_HASH, { scriptSig: pushData(REDEEM) }],
    ["the hash of a key in a witness program", concat(op(Op.OP_0), pushData(hash160(KEY))), {}],
    ["the hash of a script in a witness program", concat(op(Op.OP_0), pushData(sha256(REDEEM))), {}]
  ])("refuse to spend %s without one, at every height", (_, address, spending) => {
    for (const height of [100, 300_000, 474_999, 475_000, 850_000]) {
      assert.isFalse(signatures(linkOf(address, spending, height)({ left: 400 })), String(height))
    }
  })

  it("of taproot owners are unknown where they cover coins that the proof lacks, or no rule asks for them", () => {
    const program = pushData(new Uint8Array(32).fill(9))
    const verdict = (script: Bytes, left: number, network: NameLink["network"] = "regtest", spendsMore = true) =>
      signatureFault({ ...linkOf(script, { spendsMore })({ left }), network }, script, signatures)
    const [taproot, later, first] = [op(Op.OP_1), op(Op.OP_16), op(Op.OP_0)].map((version) => concat(version, program))
    assert.strictEqual(verdict(taproot ?? EMPTY, 400), "unknown")
    assert.strictEqual(verdict(taproot ?? EMPTY, 400, "test"), "unknown")
    assert.strictEqual(verdict(taproot ?? EMPTY, 400, "main", false), "unknown")
    // With the name alone, the proof has all coins.
    assert.property(verdict(taproot ?? EMPTY, 400, "regtest", false), "fault")
    assert.strictEqual(verdict(later ?? EMPTY, 400), "unknown")
    assert.property(verdict(first ?? EMPTY, 400), "fault")
    assert.property(verdict(SCRIPT_HASH, 400), "fault")
    assert.property(verdict(taproot ?? EMPTY, -1), "fault")
  })

  it("count all signatures that a link may check against the budget of the proof", () => {
    const budget = { left: 45 }
    const link = linkOf(multisigs(1), {})
    signatures(link(budget))
    assert.strictEqual(budget.left, 25)
    signatures(link(budget))
    assert.strictEqual(budget.left, 5)
    assert.isFalse(signatures(link(budget)))
    assert.isBelow(budget.left, 0)
  })

  it.each<readonly [what: string, address: Bytes, spending: Spending]>([
    ["its script", multisigs(9), {}],
    ["a witness", concat(op(Op.OP_0), pushData(sha256(multisigs(9)))), { witness: [multisigs(9)] }],
    [
      "a script hash",
      concat(
        op(Op.OP_HASH160),
        pushData(hash160(op(...Array.from({ length: 21 }, () => Op.OP_CHECKSIG)))),
        op(Op.OP_EQUAL)
      ),
      { scriptSig: pushData(op(...Array.from({ length: 21 }, () => Op.OP_CHECKSIG))) }
    ]
  ])("check none of a link with too many of them in %s", (_, address, spending) => {
    const budget = { left: 400 }
    const start = performance.now()
    assert.isFalse(signatures(linkOf(address, spending)(budget)))
    assert.isBelow(budget.left, 0)
    assert.isBelow(performance.now() - start, 200)
  })
})
