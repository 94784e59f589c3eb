import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { Flag, NO_FLAGS } from "../../src/consensus/flags.ts"
import { type ScriptError, scriptErrorMessages } from "../../src/consensus/interpreter/scriptError.ts"
import { SighashContext } from "../../src/consensus/sighash.ts"
import { verifyInput, verifyTransaction } from "../../src/consensus/verifyInput.ts"
import { type Bytes, concat, EMPTY } from "../../src/protocol/bytes.ts"
import { hash160, sha256 } from "../../src/protocol/hash.ts"
import { addressScript, type NameOperation, nameScript } from "../../src/protocol/nameOperation.ts"
import { Op, pushData } from "../../src/protocol/script.ts"
import { makeTransaction, NO_WITNESS, outpoint } from "../../src/protocol/transaction.ts"
import { pubkeyOf, signEcdsa } from "../support/keys.ts"
import { parseScript } from "../support/scriptAssembly.ts"
import { coinOf, spend, spendingContext, type Unlock } from "../support/spending.ts"
import { spendings } from "../support/transactions.ts"

const SECRET = new Uint8Array(32).fill(3)
const PUBKEY = pubkeyOf(SECRET)
const VALUE = 1_000_000

const WITNESS = Flag.P2SH | Flag.WITNESS

const words = parseScript

const pushes = (...elements: ReadonlyArray<Bytes>): Bytes => concat(...elements.map(pushData))

const payToPubkeyHash = concat(words("DUP HASH160"), pushData(hash160(PUBKEY)), words("EQUALVERIFY CHECKSIG"))

const payToScriptHash = (redeem: Bytes): Bytes => concat(words("HASH160"), pushData(hash160(redeem)), words("EQUAL"))

const payToWitnessPubkeyHash = concat(Uint8Array.of(0, 20), hash160(PUBKEY))

const payToWitnessScriptHash = (script: Bytes): Bytes => concat(Uint8Array.of(0, 32), sha256(script))

const checkSig = concat(pushData(PUBKEY), words("CHECKSIG"))

const named = (operation: NameOperation) => (address: Bytes): Bytes => nameScript(operation, address)

const text = (value: string): Bytes => new TextEncoder().encode(value)

/** The possible prefixes of an address: nothing, or one of the three operations. */
const prefixes: ReadonlyArray<readonly [string, (address: Bytes) => Bytes]> = [
  ["no name", (address) => address],
  ["NAME_NEW", named({ op: "name_new", commitment: new Uint8Array(20) })],
  [
    "NAME_FIRSTUPDATE",
    named({ op: "name_firstupdate", name: text("d/a"), rand: new Uint8Array(20), value: text("{}") })
  ],
  ["NAME_UPDATE", named({ op: "name_update", name: text("d/a"), value: text("{}") })]
]

const verify = (script: Bytes, unlock: Unlock, flags = WITNESS) => spend(script, unlock, flags, VALUE)

const signLegacy = (script: Bytes, code = script): Uint8Array =>
  signEcdsa(spendingContext(script, {}, VALUE).legacy(0, code, 1), SECRET)

const signWitness = (script: Bytes, code: Bytes): Uint8Array =>
  signEcdsa(spendingContext(script, {}, VALUE).witnessV0(0, code, 1), SECRET)

describe.each(prefixes)("an input that spends %s", (_, prefix) => {
  it("an input with P2PKH signs the whole script", () => {
    const script = prefix(payToPubkeyHash)
    assert.isUndefined(verify(script, { scriptSig: pushes(signLegacy(script), PUBKEY) }))
    assert.isUndefined(verify(script, { scriptSig: pushes(signLegacy(script), PUBKEY) }, NO_FLAGS))
    assert.strictEqual(
      verify(script, { scriptSig: pushes(signLegacy(script), pubkeyOf(SECRET, false)) }),
      "EQUALVERIFY"
    )
    const other = prefix(concat(payToPubkeyHash, words("NOP")))
    assert.strictEqual(verify(script, { scriptSig: pushes(signLegacy(script, other), PUBKEY) }), "EVAL_FALSE")
  })

  it("an input with P2SH runs the redeem script, if the rule is active", () => {
    const script = prefix(payToScriptHash(checkSig))
    const signature = signLegacy(script, checkSig)
    assert.isUndefined(verify(script, { scriptSig: pushes(signature, checkSig) }))
    assert.strictEqual(verify(script, { scriptSig: pushes(EMPTY, checkSig) }), "EVAL_FALSE")
    assert.isUndefined(verify(script, { scriptSig: pushes(EMPTY, checkSig) }, NO_FLAGS))
    assert.strictEqual(verify(script, { scriptSig: pushes(signature, words("1")) }), "EVAL_FALSE")
    const busy = concat(pushes(signature), words("NOP"), pushes(checkSig))
    assert.strictEqual(verify(script, { scriptSig: busy }), "SIG_PUSHONLY")
    assert.isUndefined(verify(script, { scriptSig: busy }, NO_FLAGS))
  })

  it("an input with P2WPKH signs the usual code, without the name", () => {
    const script = prefix(payToWitnessPubkeyHash)
    const witness = [signWitness(script, payToPubkeyHash), PUBKEY]
    assert.isUndefined(verify(script, { witness }))
    assert.isUndefined(verify(script, {}, Flag.P2SH), "open to anyone before segwit")
    assert.strictEqual(verify(script, { witness: [signWitness(script, script), PUBKEY] }), "EVAL_FALSE")
    assert.strictEqual(verify(script, {}), "WITNESS_PROGRAM_MISMATCH")
    assert.strictEqual(verify(script, { witness: [EMPTY, ...witness] }), "WITNESS_PROGRAM_MISMATCH")
    assert.strictEqual(verify(script, { witness, scriptSig: words("1") }), "WITNESS_MALLEATED")
  })

  it("an input with P2WSH runs the script in the witness", () => {
    const script = prefix(payToWitnessScriptHash(checkSig))
    const signature = signWitness(script, checkSig)
    assert.isUndefined(verify(script, { witness: [signature, checkSig] }))
    assert.strictEqual(verify(script, { witness: [EMPTY, checkSig] }), "EVAL_FALSE")
    assert.strictEqual(verify(script, { witness: [signature, words("1")] }), "WITNESS_PROGRAM_MISMATCH")
    assert.strictEqual(verify(script, { witness: [] }), "WITNESS_PROGRAM_WITNESS_EMPTY")
    assert.strictEqual(verify(script, { witness: [EMPTY, signature, checkSig] }), "CLEANSTACK")
  })

  it("an input with P2WPKH in P2SH needs a scriptSig of one push", () => {
    const script = prefix(payToScriptHash(payToWitnessPubkeyHash))
    const witness = [signWitness(script, payToPubkeyHash), PUBKEY]
    assert.isUndefined(verify(script, { scriptSig: pushes(payToWitnessPubkeyHash), witness }))
    const twice = pushes(EMPTY, payToWitnessPubkeyHash)
    assert.strictEqual(verify(script, { scriptSig: twice, witness }), "WITNESS_MALLEATED_P2SH")
    const long = concat(Uint8Array.of(Op.OP_PUSHDATA1, 22), payToWitnessPubkeyHash)
    assert.strictEqual(verify(script, { scriptSig: long, witness }), "WITNESS_MALLEATED_P2SH")
    assert.isUndefined(verify(script, { scriptSig: long }, Flag.P2SH))
  })

  it("an input with an unknown program accepts every spend, unless discouraged", () => {
    const script = prefix(concat(words("2"), pushData(new Uint8Array(32))))
    const discouraged = WITNESS | Flag.DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM
    assert.strictEqual(verify(script, {}), "EVAL_FALSE", "a program of zeros leaves nothing true")
    const filled = prefix(concat(words("2"), pushData(new Uint8Array(32).fill(1))))
    assert.isUndefined(verify(filled, {}))
    assert.isUndefined(verify(filled, { witness: [EMPTY] }))
    assert.strictEqual(verify(filled, {}, discouraged), "DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM")
    const short = prefix(concat(words("0"), pushData(new Uint8Array(21).fill(1))))
    assert.strictEqual(verify(short, {}), "WITNESS_PROGRAM_WRONG_LENGTH")
  })

  it("an input may have a witness only if a program needs it", () => {
    const script = prefix(payToPubkeyHash)
    const scriptSig = pushes(signLegacy(script), PUBKEY)
    assert.strictEqual(verify(script, { scriptSig, witness: [EMPTY] }), "WITNESS_UNEXPECTED")
    assert.isUndefined(verify(script, { scriptSig, witness: [EMPTY] }, Flag.P2SH))
    const inner = prefix(payToScriptHash(words("1")))
    assert.strictEqual(verify(inner, { scriptSig: pushes(words("1")), witness: [EMPTY] }), "WITNESS_UNEXPECTED")
  })

  it("an input leaves one element under CLEANSTACK; a program always requires this", () => {
    const flags = WITNESS | Flag.CLEANSTACK
    const script = prefix(payToPubkeyHash)
    const signature = signLegacy(script)
    assert.isUndefined(verify(script, { scriptSig: pushes(signature, PUBKEY) }, flags))
    assert.strictEqual(verify(script, { scriptSig: pushes(EMPTY, signature, PUBKEY) }, flags), "CLEANSTACK")
    const redeem = prefix(payToScriptHash(words("1")))
    assert.isUndefined(verify(redeem, { scriptSig: pushes(words("1")) }, flags))
    assert.strictEqual(verify(redeem, { scriptSig: pushes(EMPTY, words("1")) }, flags), "CLEANSTACK")
    const program = prefix(payToWitnessScriptHash(words("1")))
    assert.isUndefined(verify(program, { witness: [words("1")] }, flags))
  })
})

describe("a name prefix", () => {
  const update = named({ op: "name_update", name: text("d/a"), value: text("{}") })

  it("a name prefix may precede a witness program in a redeem script", () => {
    const redeem = update(payToWitnessPubkeyHash)
    const script = payToScriptHash(redeem)
    const witness = [signWitness(script, payToPubkeyHash), PUBKEY]
    assert.isUndefined(verify(script, { scriptSig: pushes(redeem), witness }))
    assert.strictEqual(verify(script, { scriptSig: pushes(redeem) }), "WITNESS_PROGRAM_MISMATCH")
    assert.strictEqual(verify(script, { scriptSig: pushes(EMPTY, redeem), witness }), "WITNESS_MALLEATED_P2SH")
  })

  it("a name prefix that pushes more than 520 bytes makes an unspendable output", () => {
    const long = (size: number): Bytes =>
      named({ op: "name_update", name: text("d/a"), value: new Uint8Array(size) })(words("1"))
    assert.isUndefined(verify(long(520), {}))
    assert.strictEqual(verify(long(521), {}), "PUSH_SIZE")
    const witness = named({ op: "name_update", name: text("d/a"), value: new Uint8Array(521) })(payToWitnessPubkeyHash)
    const items = [signWitness(witness, payToPubkeyHash), PUBKEY]
    assert.strictEqual(verify(witness, { witness: items }), "PUSH_SIZE")
  })

  it("a name prefix with a name or value of one small byte violates MINIMALDATA", () => {
    const script = (value: Bytes): Bytes => named({ op: "name_update", name: text("d/a"), value })(words("1"))
    assert.isUndefined(verify(script(Uint8Array.of(17)), {}, Flag.MINIMALDATA))
    assert.strictEqual(verify(script(Uint8Array.of(16)), {}, Flag.MINIMALDATA), "MINIMALDATA")
    assert.isUndefined(verify(script(Uint8Array.of(16)), {}))
  })

  // reference/protocol.md 4.2: the address begins with the last byte of the bytes after the drops, whatever it belongs
  // to.
  it("a name prefix that covers a push hides P2SH in its last byte, and its execution differs", () => {
    const redeem = words("1")
    const script = concat(words("3 'a' 'b' 2DROP DROP"), Uint8Array.of(1), payToScriptHash(redeem))
    assert.deepStrictEqual(Array.from(addressScript(script)), Array.from(payToScriptHash(redeem)))
    // The opcode is data here: the pushed hash is compared with it, never the redeem script.
    assert.strictEqual(verify(script, { scriptSig: pushes(redeem) }), "EVAL_FALSE")
  })

  it("a name prefix that pushes both sides of the comparison makes the input invalid; upstream stops", () => {
    const hash = Uint8Array.from({ length: 20 }, () => Op.OP_HASH160)
    const tail = concat(pushData(hash), words("EQUAL"))
    const script = concat(words("3 'a' 'b' 2DROP DROP"), pushData(hash), tail)
    assert.deepStrictEqual(Array.from(addressScript(script)), Array.from(concat(words("HASH160"), tail)))
    assert.isUndefined(verify(script, {}, NO_FLAGS))
    assert.strictEqual(verify(script, {}), "EVAL_FALSE")
    // With an earlier push there is a redeem script.
    assert.isUndefined(verify(script, { scriptSig: pushes(words("1")) }))
  })
})

describe("verifyInput", () => {
  it("verifyInput runs both scripts one after the other, not as one", () => {
    assert.strictEqual(verify(words("1"), { scriptSig: words("RETURN") }), "OP_RETURN")
    assert.strictEqual(verify(words("ENDIF 1"), { scriptSig: words("1 IF") }), "UNBALANCED_CONDITIONAL")
    assert.strictEqual(
      verify(words("FROMALTSTACK"), { scriptSig: words("1 TOALTSTACK") }),
      "INVALID_ALTSTACK_OPERATION"
    )
    assert.isUndefined(verify(words("2 EQUAL"), { scriptSig: words("1 1ADD") }))
  })

  it("verifyInput refuses operators in the scriptSig under SIGPUSHONLY", () => {
    assert.strictEqual(verify(EMPTY, { scriptSig: words("1 NOP") }, Flag.SIGPUSHONLY), "SIG_PUSHONLY")
    assert.isUndefined(verify(EMPTY, { scriptSig: words("16") }, Flag.SIGPUSHONLY))
    assert.strictEqual(verify(EMPTY, { scriptSig: Uint8Array.of(2, 1) }, Flag.SIGPUSHONLY), "SIG_PUSHONLY")
  })

  it("verifyInput requires a true element at the end", () => {
    assert.strictEqual(verify(EMPTY, {}), "EVAL_FALSE")
    assert.strictEqual(verify(words("1 DROP"), {}), "EVAL_FALSE")
    assert.strictEqual(verify(words("0x01 0x80"), {}), "EVAL_FALSE")
  })

  it.prop("verifyInput returns a result for any scripts, with a message for each error", {
    spending: spendings,
    flags: FastCheck.nat({ max: (1 << 23) - 1 }),
    program: FastCheck.constantFrom(EMPTY, Uint8Array.of(0, 20), Uint8Array.of(0x51, 32), Uint8Array.of(0xa9, 20))
  }, ({ flags, program, spending }) => {
    const coins = spending.coins.map((coin) => coinOf(concat(program, coin.script), coin.value))
    const context = new SighashContext(spending.transaction, coins)
    const error: ScriptError | undefined = verifyInput({ context, index: spending.index, flags: flags | WITNESS })
    if (error !== undefined) assert.isString(scriptErrorMessages[error])
  }, { fastCheck: { numRuns: 500 } })
})

describe("verifyTransaction", () => {
  const scripts = [payToPubkeyHash, payToWitnessPubkeyHash, payToPubkeyHash, payToWitnessPubkeyHash]
  const coins = scripts.map((script, i) => coinOf(script, 1000 + i))
  const outputs = [{ value: 4000, script: payToPubkeyHash }]
  const unsigned = makeTransaction({
    version: 2,
    inputs: scripts.map((_, i) => ({
      prevout: outpoint(new Uint8Array(32).fill(i + 1), i),
      scriptSig: EMPTY,
      sequence: 0xfffffffd,
      witness: NO_WITNESS
    })),
    outputs,
    lockTime: 99
  })

  /** The transaction, with some of its inputs signed by a wrong key. */
  const signed = (wrong: ReadonlyArray<number> = []) => {
    const context = new SighashContext(unsigned, coins)
    const inputs = unsigned.inputs.map((input, i) => {
      const secret = wrong.includes(i) ? new Uint8Array(32).fill(9) : SECRET
      return i % 2 === 0
        ? { ...input, scriptSig: pushes(signEcdsa(context.legacy(i, payToPubkeyHash, 1), secret), PUBKEY) }
        : { ...input, witness: [signEcdsa(context.witnessV0(i, payToPubkeyHash, 1), secret), PUBKEY] }
    })
    return makeTransaction({ version: 2, inputs, outputs, lockTime: 99 })
  }

  it("verifyTransaction accepts a transaction whose inputs are all signed", () => {
    assert.isUndefined(verifyTransaction({ transaction: signed(), coins }, WITNESS))
  })

  it.each([{ wrong: [0] }, { wrong: [1] }, { wrong: [2, 3] }, { wrong: [3] }])(
    "verifyTransaction reports the first of $wrong",
    ({ wrong }) => {
      assert.deepStrictEqual(verifyTransaction({ transaction: signed(wrong), coins }, WITNESS), {
        index: wrong[0],
        error: "EVAL_FALSE",
        message: "Script evaluated without error but finished with a false/empty top stack element"
      })
    }
  )

  it("a witness signature covers the amount of the coin", () => {
    const richer = coins.map((coin) => coinOf(coin.script, coin.value + 1))
    assert.strictEqual(verifyTransaction({ transaction: signed(), coins: richer }, WITNESS)?.index, 1)
  })
})
