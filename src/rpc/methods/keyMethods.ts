import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { addressOf, encodeAddress, scriptOf } from "../../protocol/address.ts"
import { type Bytes, fromHex, toHex } from "../../protocol/bytes.ts"
import { descriptorChecksum } from "../../protocol/descriptor/descriptor.ts"
import { descriptorScript } from "../../protocol/descriptor/descriptorScript.ts"
import { hash160, sha256 } from "../../protocol/hash.ts"
import type { Network } from "../../protocol/networks.ts"
import { isPublicKey } from "../../protocol/psbt/RecordReader.ts"
import { MAX_SCRIPT_ELEMENT_SIZE } from "../../protocol/script.ts"
import { isCompressedKey } from "../../protocol/scriptOperations.ts"
import { parseWif } from "../../protocol/wif.ts"
import { signMessage, verifyMessage } from "../../wallet/signing/message.ts"
import type { SigningKey } from "../../wallet/signing/SigningProvider.ts"
import { integerWithin, type Json, JsonNumber } from "../json/json.ts"
import { checked } from "../method/checked.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { array, hexText, int32, json, optional, string, withDefault } from "../method/params.ts"
import * as Result from "../method/results.ts"
import { RpcError } from "../method/RpcError.ts"
import { multisigScript } from "./descriptorProvider.ts"

/** Methods for keys, addresses of keys, and signed messages (reference/rpc.md 3.8). */

const ADDRESS = "n11u97aH3ncjKCvJ6dQ1VuEBjgW1ighwvV"

const PUBKEYS = [
  "03789ed0bb717d88f7d321a368d905e7430207ebbd82bd342cf11ae157a7ace5fd",
  "03dbc6764b8884a92e871274b87583e6d5c2a58819473e17e107ef3f6aa5a61626"
]

/** Reads a caller's private key. The error message never contains it. */
export const readKey = (network: Network, text: string): SigningKey => {
  const key = parseWif(network, text)
  if ("error" in key) throw RpcError.invalidAddressOrKey("Invalid private key")
  return key
}

const readPubkey = (text: string): Bytes => {
  const bytes = fromHex(text)
  if (bytes === undefined || text === "") {
    throw RpcError.invalidAddressOrKey(`Pubkey "${text}" must be a hex string`)
  }
  if (bytes.length !== 33 && bytes.length !== 65) {
    throw RpcError.invalidAddressOrKey(`Pubkey "${text}" must have a length of either 33 or 65 bytes`)
  }
  if (!isPublicKey(bytes)) throw RpcError.invalidAddressOrKey(`Pubkey "${text}" must be cryptographically valid.`)
  return bytes
}

const MAX_KEYS = 20

type MultisigType = "legacy" | "p2sh-segwit" | "bech32"

const readMultisigType = (text: string): MultisigType => {
  if (text === "legacy" || text === "p2sh-segwit" || text === "bech32") return text
  throw RpcError.invalidAddressOrKey(
    text === "bech32m"
      ? "createmultisig cannot create bech32m multisig addresses"
      : `Unknown address type '${text}'`
  )
}

const witnessProgram = (script: Bytes) => ({ kind: "witness", version: 0, program: sha256(script) }) as const

const scriptHash = (script: Bytes) => ({ kind: "scripthash", hash: hash160(script) }) as const

const multisigOutput = (network: Network, type: MultisigType, script: Bytes, multi: string) => {
  switch (type) {
    case "legacy":
      return { address: encodeAddress(network, scriptHash(script)), descriptor: `sh(${multi})` }
    case "p2sh-segwit":
      return {
        address: encodeAddress(network, scriptHash(scriptOf(witnessProgram(script)))),
        descriptor: `sh(wsh(${multi}))`
      }
    case "bech32":
      return { address: encodeAddress(network, witnessProgram(script)), descriptor: `wsh(${multi})` }
  }
}

const MULTISIG = Schema.Struct({
  address: Result.string("The address"),
  redeemScript: Result.hex("The redeem script"),
  descriptor: Result.string("The output descriptor"),
  warnings: Schema.optional(Schema.Array(Result.string("A difference from the requested address")))
})

const multisigJson = (
  network: Network,
  required: number,
  keys: ReadonlyArray<string>,
  wanted: string
): Result.ValueOf<typeof MULTISIG> => {
  const pubkeys = keys.map(readPubkey)
  const asked = readMultisigType(wanted)
  if (required < 1) {
    throw RpcError.invalidParameter("a multisignature address must require at least one key to redeem")
  }
  if (pubkeys.length < required) {
    throw RpcError.invalidParameter(
      `not enough keys supplied (got ${pubkeys.length} keys, but need at least ${required} to redeem)`
    )
  }
  if (pubkeys.length > MAX_KEYS) {
    throw RpcError.invalidParameter(
      `Number of keys involved in the multisignature address creation > ${MAX_KEYS}\nReduce the number`
    )
  }
  const type = pubkeys.every(isCompressedKey) ? asked : "legacy"
  const script = multisigScript(required, pubkeys)
  if (type === "legacy" && script.length > MAX_SCRIPT_ELEMENT_SIZE) {
    throw RpcError.invalidParameter(`redeemScript exceeds size limit: ${script.length} > ${MAX_SCRIPT_ELEMENT_SIZE}`)
  }
  const multi = `multi(${[required, ...pubkeys.map(toHex)].join(",")})`
  const { address, descriptor } = multisigOutput(network, type, script, multi)
  return {
    address,
    redeemScript: toHex(script),
    descriptor: `${descriptor}#${descriptorChecksum(descriptor) ?? ""}`,
    warnings: type === asked
      ? undefined
      : ["Unable to make chosen address type, please ensure no uncompressed public keys are present."]
  }
}

const INT64 = [-(2 ** 63), 2 ** 63 - 1] as const

const isArray = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)

const rangeEnd = (value: Json): number => {
  const end = value instanceof JsonNumber ? integerWithin(value, ...INT64) : undefined
  if (end === undefined) throw RpcError.integerOutOfRange()
  return end
}

/** Checks a range of indexes. Upstream `rpc/util.cpp`, `ParseDescriptorRange`. */
const checkRange = (value: Json): void => {
  const bounds = isArray(value) && value.length === 2 && value.every((end) => end instanceof JsonNumber)
    ? value.map(rangeEnd)
    : value instanceof JsonNumber
    ? [0, rangeEnd(value)]
    : undefined
  const [low, high] = bounds ?? []
  if (low === undefined || high === undefined) {
    throw RpcError.invalidParameter("Range must be specified as end or as [begin,end]")
  }
  if (low > high) throw RpcError.invalidParameter("Range specified as [begin,end] must not have begin after end")
  if (low < 0) throw RpcError.invalidParameter("Range should be greater or equal than 0")
  if (high >= 2 ** 31) throw RpcError.invalidParameter("End of range is too high")
  if (high >= low + 1_000_000) throw RpcError.invalidParameter("Range is too large")
}

/** The addresses of a descriptor with explicit keys; only `combo` has several. */
const addressesOf = (network: Network, text: string, range: Json | undefined): ReadonlyArray<string> => {
  if (range !== undefined) checkRange(range)
  if (!text.includes("#")) throw RpcError.invalidAddressOrKey("Missing checksum")
  const made = descriptorScript(network, text)
  if ("error" in made) {
    if (made.kind === "ranged" && range === undefined) {
      throw RpcError.invalidParameter("Range must be specified for a ranged descriptor")
    }
    throw RpcError.invalidAddressOrKey(made.error)
  }
  if (range !== undefined) {
    throw RpcError.invalidParameter("Range should not be specified for an un-ranged descriptor")
  }
  const [, key] = /^combo\((.*)\)#/.exec(text) ?? []
  const others = key === undefined ? [] : [`pkh(${key})`, `wpkh(${key})`, `sh(wpkh(${key}))`]
  const scripts = others.length === 0 ? [made.script] : others.flatMap((one) => {
    const other = descriptorScript(network, one)
    // An uncompressed key has no witness address.
    return "error" in other ? [] : [other.script]
  })
  return scripts.map((script) => {
    const address = addressOf(network, script)
    if (address === undefined) {
      throw RpcError.invalidAddressOrKey("Descriptor does not have a corresponding address")
    }
    return address
  })
}

/** They need no services of the node. */
export const keyMethods = (network: Network): ReadonlyArray<Method> => {
  const createmultisig = method({
    name: "createmultisig",
    group: "Util",
    summary: "Returns the multisig address of several keys.",
    params: {
      nrequired: int32("Number of required signatures."),
      keys: array(hexText("A public key."), "The keys."),
      address_type: withDefault(string("legacy, p2sh-segwit or bech32."), "legacy")
    },
    results: [{ schema: MULTISIG }],
    examples: [[2, PUBKEYS]],
    errors: [
      "-5 Unknown address type '<x>'",
      "-5 createmultisig cannot create bech32m multisig addresses",
      "-8 not enough keys supplied (got <n> keys, but need at least <m> to redeem)"
    ],
    handler: ({ address_type, keys, nrequired }) => checked(() => multisigJson(network, nrequired, keys, address_type))
  })

  const deriveaddresses = method({
    name: "deriveaddresses",
    group: "Util",
    summary: "Returns the addresses of a descriptor with explicit keys. Extended keys are not supported.",
    params: {
      descriptor: string("The descriptor, with its checksum."),
      range: optional(
        json("Indexes for a ranged descriptor: the last, or first and last.", "numeric or array")
      )
    },
    results: [{ schema: Schema.Array(Result.string("An address")) }],
    examples: [[`addr(${ADDRESS})#${descriptorChecksum(`addr(${ADDRESS})`) ?? ""}`]],
    errors: [
      "-5 Missing checksum",
      "-8 Range should not be specified for an un-ranged descriptor",
      "-8 Range must be specified for a ranged descriptor"
    ],
    handler: ({ descriptor, range }) => checked(() => addressesOf(network, descriptor, range))
  })

  const signmessagewithprivkey = method({
    name: "signmessagewithprivkey",
    group: "Util",
    summary: "Signs a message with a private key.",
    params: { privkey: string("The private key as WIF."), message: string("The message.") },
    results: [{ schema: Result.string("The signature in base64") }],
    examples: [["<private key>", "my message"]],
    errors: ["-5 Invalid private key"],
    handler: ({ message, privkey }) =>
      checked(() => {
        return signMessage(message, readKey(network, privkey))
      })
  })

  const verifymessage = method({
    name: "verifymessage",
    group: "Util",
    summary: "Returns whether a message was signed with the key of an address.",
    params: {
      address: string("The address; must be the address of a single key."),
      signature: string("The signature in base64."),
      message: string("The message.")
    },
    results: [{ schema: Result.boolean("Whether the signature is valid") }],
    examples: [["N2xHFZ8NWNkGuuXfDxv8iMXdQGMd3tjZfx", "<signature>", "my message"]],
    errors: ["-5 Invalid address", "-3 Address does not refer to key", "-3 Malformed base64 encoding"],
    handler: ({ address, message, signature }) =>
      Effect.suspend(() => {
        const verdict = verifyMessage(network, address, signature, message)
        switch (verdict) {
          case "invalid address":
            return RpcError.invalidAddressOrKey("Invalid address")
          case "address without key":
            return RpcError.type("Address does not refer to key")
          case "malformed signature":
            return RpcError.type("Malformed base64 encoding")
          default:
            return Effect.succeed(verdict === "valid")
        }
      })
  })

  return [createmultisig, deriveaddresses, signmessagewithprivkey, verifymessage]
}
