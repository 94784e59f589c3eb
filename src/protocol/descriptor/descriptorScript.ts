import { secp256k1 } from "@noble/curves/secp256k1.js"
import { decodeAddress, scriptOf } from "../address.ts"
import { type Bytes, compare, concat, fromHex, isHex } from "../bytes.ts"
import { parseExtendedKey } from "../extendedKey.ts"
import { hash160, sha256 } from "../hash.ts"
import type { Network } from "../networks.ts"
import { MAX_SCRIPT_ELEMENT_SIZE, Op, pushData } from "../script.ts"
import { evenKey, tapOutput } from "../taproot.ts"
import { parseWif } from "../wif.ts"
import { descriptorChecksum } from "./descriptor.ts"

/**
 * The output script of a descriptor that contains all its keys (BIP 380 to 386): keys in hexadecimal or as WIF, no
 * extended keys, no miniscript, no script trees. Source of rules and words: upstream `script/descriptor.cpp`.
 */
export type DescriptorScript =
  | { readonly script: Uint8Array }
  | { readonly error: string; readonly kind: DescriptorFault }

/** `ranged` and `multipath`: the descriptor is well-formed, but yields more than one script. */
export type DescriptorFault = "invalid" | "ranged" | "multipath"

type Place = "top" | "P2SH" | "P2WSH" | "P2WPKH" | "P2TR"

/** Why a descriptor is invalid. Caught at the end of the parse. */
class Fault extends Error {
  readonly kind: DescriptorFault

  constructor(message: string, kind: DescriptorFault = "invalid") {
    super(message)
    this.kind = kind
  }
}

const MAX_KEYS = 20
const MAX_BARE_KEYS = 3
const CHECKSUM_LENGTH = 8

const withoutChecksum = (text: string): string => {
  const [payload = "", checksum, ...more] = text.split("#")
  if (more.length > 0) throw new Fault("Multiple '#' symbols")
  if (checksum !== undefined && checksum.length !== CHECKSUM_LENGTH) {
    throw new Fault(`Expected 8 character checksum, not ${checksum.length} characters`)
  }
  const computed = descriptorChecksum(payload)
  if (computed === undefined) throw new Fault("Invalid characters in payload")
  if (checksum !== undefined && checksum !== computed) {
    throw new Fault(`Provided checksum '${checksum}' does not match computed checksum '${computed}'`)
  }
  return payload
}

/** Removes the origin of a key. It describes where the key comes from and does not change the script. */
const withoutOrigin = (text: string): string => {
  if (!text.startsWith("[")) return text
  const origin = /^\[([^\]/]*)((?:\/\d{1,10}['h]?)*)\]([^\]]*)$/.exec(text)
  if (origin === null) throw new Fault(`Key origin of '${text}' is not valid`)
  const [, fingerprint = "", , key = ""] = origin
  if (fingerprint.length !== 8) {
    throw new Fault(`Fingerprint is not 4 bytes (${fingerprint.length} characters instead of 8 characters)`)
  }
  if (!isHex(fingerprint)) throw new Fault(`Fingerprint '${fingerprint}' is not hex`)
  return key
}

/** A public key in hexadecimal digits: 33 or 65 bytes, or the 32 bytes of its x in a taproot output. */
const hexKey = (text: string, bytes: Bytes, place: Place): Bytes => {
  if (bytes[0] === 0x06 || bytes[0] === 0x07) throw new Fault("Hybrid public keys are not allowed")
  const whole = place === "P2TR" && bytes.length === 32 ? evenKey(bytes) : bytes
  if (secp256k1.utils.isValidPublicKey(whole)) return whole
  throw new Fault(`Pubkey '${text}' is invalid`)
}

const refuseExtended = (network: Network, text: string): void => {
  const [key = "", ...path] = text.split("/")
  if (!("extendedKey" in parseExtendedKey(network, key))) return
  if (path.some((step) => step.startsWith("<"))) throw new Fault("Multipath descriptor not accepted", "multipath")
  if (path.some((step) => step.startsWith("*"))) throw new Fault("Ranged descriptor not accepted", "ranged")
  throw new Fault("a key has to be derived from an extended key: give the key itself")
}

/** A public key as scripts contain it. Errors never contain text that may be a private key. */
const parseKey = (network: Network, text: string, place: Place): Bytes => {
  const key = withoutOrigin(text)
  if (key === "") throw new Fault("No key provided")
  if (/^\s|\s$/.test(key)) {
    // Only a public key is shown: other text may be a private one.
    const shown = isHex(key.trim()) && key.trim().length > 64 ? `Key '${key}'` : "Key"
    throw new Fault(`${shown} is invalid due to whitespace`)
  }
  const bytes = fromHex(key)
  let publicKey: Bytes
  if (bytes !== undefined) publicKey = hexKey(key, bytes, place)
  else {
    refuseExtended(network, key)
    const imported = parseWif(network, key)
    if ("error" in imported) throw new Fault("key is not valid")
    publicKey = secp256k1.getPublicKey(imported.privateKey, imported.compressed)
  }
  if (publicKey.length === 65 && place !== "top" && place !== "P2SH") {
    throw new Fault("Uncompressed keys are not allowed")
  }
  return publicKey
}

/** Where a key is: its network, and the context of its function. */
interface KeyContext {
  readonly network: Network
  readonly place: Place
}

interface NamedKey {
  /** The function, for messages. */
  readonly name: string
  readonly text: string
}

const keyIn = ({ network, place }: KeyContext, { name, text }: NamedKey): Bytes => {
  try {
    return parseKey(network, text, place)
  } catch (cause) {
    throw cause instanceof Fault && cause.kind === "invalid" ? new Fault(`${name}: ${cause.message}`) : cause
  }
}

const keyHashScript = (key: Bytes): Uint8Array => scriptOf({ kind: "pubkeyhash", hash: hash160(key) })

const witness = (version: number, program: Bytes): Uint8Array => scriptOf({ kind: "witness", version, program })

/** The script push of a number up to 20. */
const smallNumber = (value: number): Uint8Array =>
  value <= 16 ? Uint8Array.of(Op.OP_1 + value - 1) : Uint8Array.of(1, value)

const multisig = (context: KeyContext, text: string, sorted: boolean): Uint8Array => {
  const { place } = context
  const [threshold = "", ...texts] = text.split(",")
  if (!/^\d{1,9}$/.test(threshold)) throw new Fault(`Multi threshold '${threshold}' is not valid`)
  const required = Number(threshold)
  const keys = texts.map((each) => keyIn(context, { name: "Multi", text: each }))
  const { length } = keys
  if (length === 0 || length > MAX_KEYS) {
    throw new Fault(`Cannot have ${length} keys in multisig; must have between 1 and ${MAX_KEYS} keys, inclusive`)
  }
  if (required < 1) throw new Fault(`Multisig threshold cannot be ${required}, must be at least 1`)
  if (required > length) {
    const given = `threshold is ${required} but only ${length} keys specified`
    throw new Fault(`Multisig threshold cannot be larger than the number of keys; ${given}`)
  }
  if (place === "top" && length > MAX_BARE_KEYS) {
    throw new Fault(`Cannot have ${length} pubkeys in bare multisig; only at most ${MAX_BARE_KEYS} pubkeys`)
  }
  const ordered = sorted ? keys.toSorted(compare) : keys
  const script = concat(
    smallNumber(required),
    ...ordered.map(pushData),
    smallNumber(length),
    Uint8Array.of(Op.OP_CHECKMULTISIG)
  )
  if (place === "P2SH" && script.length > MAX_SCRIPT_ELEMENT_SIZE) {
    throw new Fault(
      `P2SH script is too large, ${script.length} bytes is larger than ${MAX_SCRIPT_ELEMENT_SIZE} bytes`
    )
  }
  return script
}

/** The contexts that allow each function, and upstream's error for the other contexts. */
const PLACES: Readonly<Record<string, { readonly places: ReadonlyArray<Place>; readonly error: string }>> = {
  addr: { places: ["top"], error: "Can only have addr() at top level" },
  raw: { places: ["top"], error: "Can only have raw() at top level" },
  combo: { places: ["top"], error: "Can only have combo() at top level" },
  pk: { places: ["top", "P2SH", "P2WSH"], error: "" },
  pkh: { places: ["top", "P2SH", "P2WSH"], error: "" },
  wpkh: { places: ["top", "P2SH"], error: "Can only have wpkh() at top level or inside sh()" },
  multi: { places: ["top", "P2SH", "P2WSH"], error: "" },
  sortedmulti: { places: ["top", "P2SH", "P2WSH"], error: "" },
  sh: { places: ["top"], error: "Can only have sh() at top level" },
  wsh: { places: ["top", "P2SH"], error: "Can only have wsh() at top level or inside sh()" },
  tr: { places: ["top"], error: "Can only have tr at top level" },
  rawtr: { places: ["top"], error: "Can only have rawtr at top level" }
}

const unknown = (text: string, place: Place): Fault =>
  new Fault(
    place === "top" ? `'${text}' is not a valid descriptor function` : `A function is needed within ${place}`
  )

const parse = (network: Network, text: string, place: Place): Uint8Array => {
  const [, name = "", inner = ""] = /^([a-z]+)\((.*)\)$/s.exec(text) ?? []
  const rule = Object.hasOwn(PLACES, name) ? PLACES[name] : undefined
  if (rule === undefined) throw unknown(text, place)
  if (!rule.places.includes(place)) throw new Fault(rule.error)
  const context = { network, place }
  switch (name) {
    case "addr": {
      const address = decodeAddress(network, inner)
      if ("error" in address) throw new Fault("Address is not valid")
      return scriptOf(address.destination)
    }
    case "raw": {
      const script = inner === "" ? undefined : fromHex(inner)
      if (script === undefined) throw new Fault("Raw script is not hex")
      return script
    }
    case "pk":
      return concat(pushData(keyIn(context, { name: "pk()", text: inner })), Uint8Array.of(Op.OP_CHECKSIG))
    case "pkh":
      return keyHashScript(keyIn(context, { name: "pkh()", text: inner }))
    case "wpkh":
      return witness(0, hash160(keyIn({ network, place: "P2WPKH" }, { name: "wpkh()", text: inner })))
    case "combo": {
      // Of the scripts of `combo`, the witness program if the key can have one.
      const key = keyIn(context, { name: "combo()", text: inner })
      return key.length === 65 ? keyHashScript(key) : witness(0, hash160(key))
    }
    case "multi":
    case "sortedmulti":
      return multisig(context, inner, name === "sortedmulti")
    case "sh":
      return scriptOf({ kind: "scripthash", hash: hash160(parse(network, inner, "P2SH")) })
    case "wsh":
      return witness(0, sha256(parse(network, inner, "P2WSH")))
    case "tr":
      if (inner.includes(",")) throw new Fault("tr(): script trees are not supported here")
      return witness(
        1,
        tapOutput({ internalKey: keyIn({ network, place: "P2TR" }, { name: "tr()", text: inner }).subarray(1) })
          .subarray(1)
      )
    default:
      return witness(1, keyIn({ network, place: "P2TR" }, { name: "rawtr()", text: inner }).subarray(1))
  }
}

/**
 * Returns the output script of a descriptor on a network, or the reason why there is none. The checksum is optional.
 */
export const descriptorScript = (network: Network, text: string): DescriptorScript => {
  try {
    return { script: parse(network, withoutChecksum(text), "top") }
  } catch (cause) {
    if (cause instanceof Fault) return { error: cause.message, kind: cause.kind }
    throw cause
  }
}
