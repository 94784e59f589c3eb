import type { Bytes } from "../../protocol/bytes.ts"
import { hash160, hash256, ripemd160, sha1, sha256 } from "../../protocol/hash.ts"
import { Op, pushData, ScriptCursor } from "../../protocol/script.ts"
import { Flag } from "../flags.ts"
import { verifyEcdsa } from "../signature.ts"
import { MAX_OPS_PER_SCRIPT, MAX_PUBKEYS_PER_MULTISIG } from "./limits.ts"
import type { Machine, Operation, Operations } from "./Machine.ts"
import { checkTapscriptSignature, type SignatureOfKey } from "./schnorrSignature.ts"
import type { ScriptError } from "./scriptError.ts"
import { fromBoolean } from "./scriptNumber.ts"
import { checkPubkeyEncoding, checkSignatureEncoding } from "./signatureEncoding.ts"

const standsAt = (script: Bytes, at: number, wanted: Bytes): boolean => {
  if (wanted.length > script.length - at) return false
  for (let i = 0; i < wanted.length; i++) if (script[at + i] !== wanted[i]) return false
  return true
}

/**
 * Only occurrences that begin at an instruction, or right after another occurrence. `wanted` must not be empty. Source:
 * upstream `script/interpreter.cpp`, `FindAndDelete`.
 */
export const findAndDelete = (script: Bytes, wanted: Bytes): Bytes => {
  if (wanted.length > script.length) return script
  let kept: Uint8Array | undefined
  let size = 0
  let start = 0
  const cursor = new ScriptCursor(script)
  do {
    const found = cursor.offset
    while (standsAt(script, cursor.offset, wanted)) cursor.offset += wanted.length
    if (cursor.offset === found) continue
    kept ??= new Uint8Array(script.length)
    kept.set(script.subarray(start, found), size)
    size += found - start
    start = cursor.offset
  } while (cursor.next())
  if (kept === undefined) return script
  kept.set(script.subarray(start), size)
  return kept.subarray(0, size + script.length - start)
}

const hashes = (hash: (data: Bytes) => Bytes): Operation => ({ stack }) => {
  const top = stack.pop()
  if (top === undefined) return "INVALID_STACK_OPERATION"
  stack.push(hash(top))
  return undefined
}

/** The code that signatures cover, before any signature is removed. */
const scriptCode = ({ codeStart, script }: Machine): Bytes => codeStart === 0 ? script : script.subarray(codeStart)

/** Removes a signature from the code that it covers (outside of witnesses); `undefined` if that is forbidden. */
const withoutSignature = (machine: Machine, code: Bytes, signature: Bytes): Bytes | undefined => {
  // No push is shorter than its data.
  if (machine.version !== "base" || signature.length >= code.length) return code
  const rest = findAndDelete(code, pushData(signature))
  return rest !== code && machine.has(Flag.CONST_SCRIPTCODE) ? undefined : rest
}

const checkEncoding = (machine: Machine, signature: Bytes, pubkey: Bytes): ScriptError | undefined => {
  const { flags } = machine.check
  return checkSignatureEncoding(signature, flags) ?? checkPubkeyEncoding(pubkey, flags, machine.version)
}

const isSignedBy = (machine: Machine, { pubkey, signature }: SignatureOfKey, code: Bytes): boolean => {
  const { check: { context, index }, version } = machine
  const size = signature.length - 1
  const hashType = signature[size]
  if (hashType === undefined) return false
  const hash = version === "base" ? context.legacy(index, code, hashType) : context.witnessV0(index, code, hashType)
  return verifyEcdsa(signature.subarray(0, size), hash, pubkey)
}

const checkEcdsaSignature = (machine: Machine, signature: Bytes, pubkey: Bytes): boolean | ScriptError => {
  const code = withoutSignature(machine, scriptCode(machine), signature)
  if (code === undefined) return "SIG_FINDANDDELETE"
  const error = checkEncoding(machine, signature, pubkey)
  if (error !== undefined) return error
  if (isSignedBy(machine, { signature, pubkey }, code)) return true
  return signature.length > 0 && machine.has(Flag.NULLFAIL) ? "SIG_NULLFAIL" : false
}

/** Whether a signature counts as given under the rules of this execution, or the error that fails the script. */
const checkSignature = (machine: Machine, signature: Bytes, pubkey: Bytes): boolean | ScriptError =>
  machine.tapscript === undefined
    ? checkEcdsaSignature(machine, signature, pubkey)
    : checkTapscriptSignature(machine, machine.tapscript, { signature, pubkey })

const takeSignature = (machine: Machine): boolean | ScriptError => {
  const { stack } = machine
  const pubkey = stack.pop()
  const signature = stack.pop()
  if (pubkey === undefined || signature === undefined) return "INVALID_STACK_OPERATION"
  return checkSignature(machine, signature, pubkey)
}

/** BIP 342. */
const checkSigAdd: Operation = (machine) => {
  if (machine.version !== "tapscript") return "BAD_OPCODE"
  const { stack } = machine
  const pubkey = stack.pop()
  const count = stack.pop()
  const signature = stack.pop()
  if (pubkey === undefined || count === undefined || signature === undefined) return "INVALID_STACK_OPERATION"
  const number = machine.number(count)
  if (number === undefined) return "SCRIPTNUM"
  const given = checkSignature(machine, signature, pubkey)
  if (typeof given === "string") return given
  return machine.pushNumber(number + (given ? 1 : 0))
}

/** Pops the number on top, at most `most`, and then as many elements, the topmost first. */
const takeCounted = (
  machine: Machine,
  most: number,
  excess: "PUBKEY_COUNT" | "SIG_COUNT"
): ReadonlyArray<Bytes> | ScriptError => {
  const { stack } = machine
  const top = stack.pop()
  if (top === undefined) return "INVALID_STACK_OPERATION"
  const count = machine.number(top)
  if (count === undefined) return "SCRIPTNUM"
  if (count < 0 || count > most) return excess
  if (excess === "PUBKEY_COUNT") {
    machine.operations += count
    if (machine.operations > MAX_OPS_PER_SCRIPT) return "OP_COUNT"
  }
  if (stack.length < count) return "INVALID_STACK_OPERATION"
  return stack.splice(stack.length - count, count).reverse()
}

interface Multisig {
  readonly signatures: ReadonlyArray<Bytes>
  readonly pubkeys: ReadonlyArray<Bytes>
  readonly code: Bytes
}

/** Whether every signature matches a key. Both are in the same order, so a key is tried only once. */
const areSignedBy = (
  machine: Machine,
  { code, pubkeys, signatures }: Multisig
): boolean | ScriptError => {
  let signed = 0
  for (let key = 0; key < pubkeys.length; key++) {
    const signature = signatures[signed]
    const pubkey = pubkeys[key]
    if (signature === undefined || pubkey === undefined) break
    // With fewer keys than signatures left, one has no key. The form of the rest does not matter.
    if (signatures.length - signed > pubkeys.length - key) return false
    const error = checkEncoding(machine, signature, pubkey)
    if (error !== undefined) return error
    if (isSignedBy(machine, { signature, pubkey }, code)) signed++
  }
  return signed === signatures.length
}

/** The code that the signatures of a multisig cover; `undefined` if it contains one and that is forbidden. */
const multisigCode = (machine: Machine, signatures: ReadonlyArray<Bytes>): Bytes | undefined => {
  let code: Bytes | undefined = scriptCode(machine)
  for (const signature of signatures) {
    code = withoutSignature(machine, code, signature)
    if (code === undefined) return undefined
  }
  return code
}

/** Source: upstream `script/interpreter.cpp`, `EvalScript`, `OP_CHECKMULTISIG`. */
const takeMultisig = (machine: Machine): boolean | ScriptError => {
  if (machine.version === "tapscript") return "TAPSCRIPT_CHECKMULTISIG"
  const pubkeys = takeCounted(machine, MAX_PUBKEYS_PER_MULTISIG, "PUBKEY_COUNT")
  if (typeof pubkeys === "string") return pubkeys
  const signatures = takeCounted(machine, pubkeys.length, "SIG_COUNT")
  if (typeof signatures === "string") return signatures
  // One more element than needed: an old bug, now consensus.
  const dummy = machine.stack.pop()
  if (dummy === undefined) return "INVALID_STACK_OPERATION"
  const code = multisigCode(machine, signatures)
  if (code === undefined) return "SIG_FINDANDDELETE"
  const given = areSignedBy(machine, { signatures, pubkeys, code })
  if (typeof given === "string") return given
  if (!given && machine.has(Flag.NULLFAIL) && signatures.some((signature) => signature.length > 0)) {
    return "SIG_NULLFAIL"
  }
  return dummy.length > 0 && machine.has(Flag.NULLDUMMY) ? "SIG_NULLDUMMY" : given
}

const answers = (take: (machine: Machine) => boolean | ScriptError): Operation => (machine) => {
  const verdict = take(machine)
  if (typeof verdict === "string") return verdict
  machine.stack.push(fromBoolean(verdict))
  return undefined
}

const demands = (take: (machine: Machine) => boolean | ScriptError, error: ScriptError): Operation => (machine) => {
  const verdict = take(machine)
  if (typeof verdict === "string") return verdict
  return verdict ? undefined : error
}

export const signatureOperations: Operations = {
  [Op.OP_RIPEMD160]: hashes(ripemd160),
  [Op.OP_SHA1]: hashes(sha1),
  [Op.OP_SHA256]: hashes(sha256),
  [Op.OP_HASH160]: hashes(hash160),
  [Op.OP_HASH256]: hashes(hash256),

  [Op.OP_CODESEPARATOR]: (machine) => {
    machine.codeStart = machine.cursor.offset
    machine.codeSeparator = machine.position
    return undefined
  },

  [Op.OP_CHECKSIG]: answers(takeSignature),
  [Op.OP_CHECKSIGVERIFY]: demands(takeSignature, "CHECKSIGVERIFY"),
  [Op.OP_CHECKSIGADD]: checkSigAdd,
  [Op.OP_CHECKMULTISIG]: answers(takeMultisig),
  [Op.OP_CHECKMULTISIGVERIFY]: demands(takeMultisig, "CHECKMULTISIGVERIFY")
}
