import { assert, describe, it } from "@effect/vitest"
import { Flag, NO_FLAGS } from "../../../src/consensus/flags.ts"
import { Sighash, SighashContext } from "../../../src/consensus/sighash.ts"
import { verifyInput } from "../../../src/consensus/verifyInput.ts"
import { type Bytes, concat, EMPTY } from "../../../src/protocol/bytes.ts"
import { hash160 } from "../../../src/protocol/hash.ts"
import { Op, pushData } from "../../../src/protocol/script.ts"
import { derOf, hybridOf, pubkeyOf, signEcdsa } from "../../support/keys.ts"
import { parseScript, pushNumber } from "../../support/scriptAssembly.ts"
import { coinOf, spend, spendingContext } from "../../support/spending.ts"

const SECRETS = Array.from({ length: 21 }, (_, i) => new Uint8Array(32).fill(i + 1))

const [SECRET = EMPTY, OTHER = EMPTY] = SECRETS

const words = (text: string): Bytes => parseScript(text)

const payToPubkey = (pubkey: Bytes): Bytes => concat(pushData(pubkey), Uint8Array.of(Op.OP_CHECKSIG))

/** A signature for the spend of a script, over that script or another code. */
const signFor = (script: Bytes, secret = SECRET, hashType: number = Sighash.ALL, code = script): Uint8Array =>
  signEcdsa(spendingContext(script).legacy(0, code, hashType), secret, hashType)

const multisig = (needed: number, secrets: ReadonlyArray<Bytes>): Bytes =>
  concat(
    pushNumber(needed),
    ...secrets.map((secret) => pushData(pubkeyOf(secret))),
    pushNumber(secrets.length),
    Uint8Array.of(Op.OP_CHECKMULTISIG)
  )

const pushes = (...elements: ReadonlyArray<Bytes>): Bytes => concat(...elements.map(pushData))

describe("CHECKSIG", () => {
  const script = payToPubkey(pubkeyOf(SECRET))

  it.each([1, 2, 3, 0x81, 0x82, 0x83, 0, 4, 0x50, 0xff])(
    "CHECKSIG accepts a signature with hash type %d",
    (hashType) => {
      const scriptSig = pushes(signFor(script, SECRET, hashType))
      assert.isUndefined(spend(script, { scriptSig }, NO_FLAGS))
      const defined = [1, 2, 3, 0x81, 0x82, 0x83].includes(hashType)
      assert.strictEqual(spend(script, { scriptSig }, Flag.STRICTENC), defined ? undefined : "SIG_HASHTYPE")
    }
  )

  it("CHECKSIG refuses another key's signature, and the script fails under NULLFAIL", () => {
    const scriptSig = pushes(signFor(script, OTHER))
    assert.strictEqual(spend(script, { scriptSig }, NO_FLAGS), "EVAL_FALSE")
    assert.strictEqual(spend(script, { scriptSig }, Flag.NULLFAIL), "SIG_NULLFAIL")
    assert.strictEqual(spend(script, { scriptSig: pushes(EMPTY) }, Flag.NULLFAIL | Flag.STRICTENC), "EVAL_FALSE")
  })

  it("CHECKSIGVERIFY leaves nothing on the stack", () => {
    const verifying = concat(pushData(pubkeyOf(SECRET)), words("CHECKSIGVERIFY DEPTH 0 EQUAL"))
    assert.isUndefined(spend(verifying, { scriptSig: pushes(signFor(verifying)) }, NO_FLAGS))
    assert.strictEqual(spend(verifying, { scriptSig: pushes(EMPTY) }, NO_FLAGS), "CHECKSIGVERIFY")
  })

  it.each([
    { why: "uncompressed", pubkey: pubkeyOf(SECRET, false), strict: undefined },
    { why: "hybrid", pubkey: hybridOf(SECRET), strict: "PUBKEYTYPE" as const }
  ])("CHECKSIG accepts a key that is $why", ({ pubkey, strict }) => {
    const other = payToPubkey(pubkey)
    const scriptSig = pushes(signFor(other))
    assert.isUndefined(spend(other, { scriptSig }, NO_FLAGS))
    assert.strictEqual(spend(other, { scriptSig }, Flag.STRICTENC), strict)
  })

  it("CHECKSIG accepts lax DER and a high s, unless flags forbid them", () => {
    const hash = spendingContext(script).legacy(0, script, 1)
    const strict = signEcdsa(hash, SECRET)
    const padded = concat(strict.subarray(0, strict.length - 1), Uint8Array.of(0, 1))
    assert.isUndefined(spend(script, { scriptSig: pushes(padded) }, NO_FLAGS))
    for (const flag of [Flag.DERSIG, Flag.STRICTENC, Flag.LOW_S]) {
      assert.strictEqual(spend(script, { scriptSig: pushes(padded) }, flag), "SIG_DER")
      assert.isUndefined(spend(script, { scriptSig: pushes(strict) }, flag))
    }
    const high = concat(strict.subarray(0, 4 + (strict[3] ?? 0)), EMPTY)
    const r = high.subarray(4).slice(-32)
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const sAt = 6 + (strict[3] ?? 0)
    const s = strict.subarray(sAt, strict.length - 1)
    const other = (order - BigInt(`0x${Buffer.from(s).toString("hex")}`)).toString(16).padStart(64, "0")
    const highS = concat(derOf(concat(new Uint8Array(32 - r.length), r, Buffer.from(other, "hex"))), Uint8Array.of(1))
    assert.isUndefined(spend(script, { scriptSig: pushes(highS) }, Flag.DERSIG))
    assert.strictEqual(spend(script, { scriptSig: pushes(highS) }, Flag.LOW_S), "SIG_HIGH_S")
  })

  it("a signature covers the code after the last executed separator", () => {
    const tail = concat(pushData(pubkeyOf(SECRET)), Uint8Array.of(Op.OP_CHECKSIG))
    const separated = concat(words("1 DROP CODESEPARATOR"), tail)
    assert.isUndefined(spend(separated, { scriptSig: pushes(signFor(separated, SECRET, 1, tail)) }, NO_FLAGS))
    assert.strictEqual(spend(separated, { scriptSig: pushes(signFor(separated)) }, NO_FLAGS), "EVAL_FALSE")
    const skipped = concat(words("0 IF CODESEPARATOR ENDIF"), tail)
    assert.isUndefined(spend(skipped, { scriptSig: pushes(signFor(skipped)) }, NO_FLAGS))
  })

  it("CHECKSIG removes the signature from the code that it covers, unless that is forbidden", () => {
    const rest = concat(words("DROP"), payToPubkey(pubkeyOf(SECRET)))
    const signature = signFor(rest)
    const { transaction } = spendingContext(rest, { scriptSig: pushes(signature) })
    const verify = (script: Bytes, flags: number) =>
      verifyInput({ context: new SighashContext(transaction, [coinOf(script)]), index: 0, flags })
    const holding = concat(pushData(signature), rest)
    assert.isUndefined(verify(holding, NO_FLAGS))
    assert.strictEqual(verify(holding, Flag.CONST_SCRIPTCODE), "SIG_FINDANDDELETE")
    // With another form of push it is not found, and the signature covers it.
    const otherwise = concat(Uint8Array.of(Op.OP_PUSHDATA1, signature.length), signature, rest)
    assert.strictEqual(verify(otherwise, Flag.CONST_SCRIPTCODE), "EVAL_FALSE")
  })

  it("an empty signature removes empty pushes from the code", () => {
    const script = concat(words("0 DROP"), payToPubkey(pubkeyOf(SECRET)), words("NOT"))
    assert.isUndefined(spend(script, { scriptSig: pushes(EMPTY) }, NO_FLAGS))
    assert.strictEqual(spend(script, { scriptSig: pushes(EMPTY) }, Flag.CONST_SCRIPTCODE), "SIG_FINDANDDELETE")
  })

  it("witnesses need compressed keys under WITNESS_PUBKEYTYPE", () => {
    for (const pubkey of [pubkeyOf(SECRET), pubkeyOf(SECRET, false)]) {
      const program = concat(Uint8Array.of(0, 20), hash160(pubkey))
      const code = concat(words("DUP HASH160"), pushData(hash160(pubkey)), words("EQUALVERIFY CHECKSIG"))
      const signature = signEcdsa(spendingContext(program, {}, 7).witnessV0(0, code, 1), SECRET)
      const witness = [signature, pubkey]
      const flags = Flag.P2SH | Flag.WITNESS
      assert.isUndefined(spend(program, { witness }, flags, 7))
      assert.strictEqual(spend(program, { witness }, flags, 8), "EVAL_FALSE")
      const expected = pubkey.length === 33 ? undefined : "WITNESS_PUBKEYTYPE"
      assert.strictEqual(spend(program, { witness }, flags | Flag.WITNESS_PUBKEYTYPE, 7), expected)
    }
  })
})

describe("CHECKMULTISIG", () => {
  const three = SECRETS.slice(0, 3)
  const [first = EMPTY, second = EMPTY, third = EMPTY] = three
  const script = multisig(2, three)
  const sign = (...secrets: ReadonlyArray<Bytes>): ReadonlyArray<Bytes> =>
    secrets.map((secret) => signFor(script, secret))

  it.each([
    { why: "first and second", secrets: [first, second], valid: true },
    { why: "first and third", secrets: [first, third], valid: true },
    { why: "second and third", secrets: [second, third], valid: true },
    { why: "second and first: the order of the keys counts", secrets: [second, first], valid: false },
    { why: "first twice", secrets: [first, first], valid: false },
    { why: "first and a stranger", secrets: [first, SECRETS[7] ?? EMPTY], valid: false }
  ])("CHECKMULTISIG returns $valid for $why", ({ secrets, valid }) => {
    const scriptSig = pushes(EMPTY, ...sign(...secrets))
    assert.strictEqual(spend(script, { scriptSig }, NO_FLAGS), valid ? undefined : "EVAL_FALSE")
    assert.strictEqual(spend(script, { scriptSig }, Flag.NULLFAIL), valid ? undefined : "SIG_NULLFAIL")
  })

  it("CHECKMULTISIG with no required signatures needs none", () => {
    assert.isUndefined(spend(multisig(0, three), { scriptSig: pushes(EMPTY) }, Flag.NULLDUMMY))
    assert.isUndefined(spend(words("0 0 CHECKMULTISIG"), { scriptSig: pushes(EMPTY) }, Flag.NULLDUMMY))
  })

  it("CHECKMULTISIG takes one element too many, which is empty under NULLDUMMY", () => {
    const signatures = sign(first, second)
    const scriptSig = concat(words("1"), pushes(...signatures))
    assert.isUndefined(spend(script, { scriptSig }, NO_FLAGS))
    assert.strictEqual(spend(script, { scriptSig }, Flag.NULLDUMMY), "SIG_NULLDUMMY")
    assert.strictEqual(spend(script, { scriptSig: pushes(...signatures) }, NO_FLAGS), "INVALID_STACK_OPERATION")
    // A missing element fails before any signature is checked.
    const malformed = pushes(Uint8Array.of(1, 1), Uint8Array.of(1, 1))
    assert.strictEqual(spend(script, { scriptSig: malformed }, Flag.DERSIG), "INVALID_STACK_OPERATION")
  })

  it("CHECKMULTISIG accepts up to 20 keys, and as many signatures as keys", () => {
    const twenty = SECRETS.slice(0, 20)
    const [last = EMPTY] = twenty.slice(-1)
    const most = multisig(1, twenty)
    assert.isUndefined(spend(most, { scriptSig: pushes(EMPTY, signFor(most, last)) }, NO_FLAGS))
    assert.strictEqual(spend(multisig(1, SECRETS), { scriptSig: pushes(EMPTY, EMPTY) }, NO_FLAGS), "PUBKEY_COUNT")
    const text = (keys: number, signatures: number): Bytes => words(`0 ${signatures} ${keys} CHECKMULTISIG`)
    assert.strictEqual(spend(text(-1, 0), {}, NO_FLAGS), "PUBKEY_COUNT")
    assert.strictEqual(spend(text(0, 1), {}, NO_FLAGS), "SIG_COUNT")
    assert.strictEqual(spend(text(0, -1), {}, NO_FLAGS), "SIG_COUNT")
    assert.strictEqual(spend(words("0 0 0x05 0x0000000000 CHECKMULTISIG"), {}, NO_FLAGS), "SCRIPTNUM")
    assert.strictEqual(spend(words("0 0x05 0x0000000000 0 CHECKMULTISIG"), {}, NO_FLAGS), "SCRIPTNUM")
  })

  it("CHECKMULTISIG checks the form of a key or signature only when it is used", () => {
    const bad = Uint8Array.of(5, 5)
    const keys = [pushData(bad), pushData(pubkeyOf(second))]
    const mixed = concat(pushNumber(1), ...keys, pushNumber(2), Uint8Array.of(Op.OP_CHECKMULTISIG))
    const good = pushes(EMPTY, signFor(mixed, second))
    assert.isUndefined(spend(mixed, { scriptSig: good }, Flag.STRICTENC))
    const bottom = pushes(EMPTY, signFor(mixed, first))
    assert.strictEqual(spend(mixed, { scriptSig: bottom }, NO_FLAGS), "EVAL_FALSE")
    assert.strictEqual(spend(mixed, { scriptSig: bottom }, Flag.STRICTENC), "PUBKEYTYPE")
  })

  it("CHECKMULTISIGVERIFY leaves nothing on the stack", () => {
    const verifying = concat(script.subarray(0, -1), words("CHECKMULTISIGVERIFY 1"))
    const signatures = [first, second].map((secret) => signFor(verifying, secret))
    assert.isUndefined(spend(verifying, { scriptSig: pushes(EMPTY, ...signatures) }, Flag.CLEANSTACK))
    assert.strictEqual(spend(verifying, { scriptSig: pushes(EMPTY, EMPTY, EMPTY) }, NO_FLAGS), "CHECKMULTISIGVERIFY")
  })

  it("CHECKMULTISIG removes every signature from the code that they cover", () => {
    const any = signEcdsa(new Uint8Array(32), first)
    const holding = concat(pushData(any), words("DROP"), script)
    const scriptSig = pushes(EMPTY, any, any)
    assert.strictEqual(spend(holding, { scriptSig }, Flag.CONST_SCRIPTCODE), "SIG_FINDANDDELETE")
    assert.strictEqual(spend(holding, { scriptSig }, NO_FLAGS), "EVAL_FALSE")
  })
})
