import { secp256k1 } from "@noble/curves/secp256k1.js"
import * as Either from "effect/Either"
import { type Bytes, compare, concat, fromHex } from "../../protocol/bytes.ts"
import { descriptorScript } from "../../protocol/descriptor/descriptorScript.ts"
import { hash160 } from "../../protocol/hash.ts"
import type { Network } from "../../protocol/networks.ts"
import type { KeyOrigin } from "../../protocol/psbt/Psbt.ts"
import { Op, pushData } from "../../protocol/script.ts"
import type { Steps } from "../../protocol/steps.ts"
import { parseWif } from "../../protocol/wif.ts"
import {
  makeProvider,
  publicKeyOf,
  type SigningKey,
  type SigningProvider
} from "../../wallet/signing/SigningProvider.ts"
import { makeTaproot, type TaprootOutput } from "../../wallet/signing/taprootTree.ts"
import { type Json, JsonObject } from "../json/json.ts"
import { readSteps } from "../method/inTurns.ts"
import { type Read, RpcError } from "../method/RpcError.ts"

/**
 * The scripts and keys of descriptors, for methods that sign or complete PSBTs. The keys must be explicit: no extended
 * keys. Upstream `rpc/util.cpp`, `EvalDescriptorStringOrObject`.
 */

/** A number up to 20, encoded as scripts push it. */
const smallNumber = (value: number): Uint8Array =>
  value <= 16 ? Uint8Array.of(Op.OP_1 + value - 1) : Uint8Array.of(1, value)

/** The script of a multisig with its keys in this order. */
export const multisigScript = (required: number, pubkeys: ReadonlyArray<Bytes>): Uint8Array =>
  concat(
    smallNumber(required),
    ...pubkeys.map(pushData),
    smallNumber(pubkeys.length),
    Uint8Array.of(Op.OP_CHECKMULTISIG)
  )

const HARDENED = 0x80000000

interface DescriptorKey {
  readonly pubkey: Bytes
  readonly key: SigningKey | undefined
  readonly origin: KeyOrigin
}

/** An optional origin, and a key in hexadecimal digits or as WIF, with a delimiter on each side. */
const KEY = /(?:\[([0-9a-fA-F]{8})((?:\/\d+['h]?)*)\])?([0-9A-Za-z]{51,130}|[0-9a-fA-F]{64})(?=[,)]|$)/g

const readPath = (text: string): ReadonlyArray<number> =>
  text.split("/").slice(1).map((step) => Number.parseInt(step, 10) + (/['h]$/.test(step) ? HARDENED : 0))

const EVEN = Uint8Array.of(0x02)

const readKey = (network: Network, text: string): Pick<DescriptorKey, "pubkey" | "key"> | undefined => {
  const bytes = fromHex(text)
  if (bytes !== undefined) {
    const pubkey = bytes.length === 32 ? concat(EVEN, bytes) : bytes
    return secp256k1.utils.isValidPublicKey(pubkey) ? { pubkey, key: undefined } : undefined
  }
  const key = parseWif(network, text)
  return "error" in key ? undefined : { pubkey: publicKeyOf(key), key }
}

const keysOf = (network: Network, text: string): ReadonlyArray<DescriptorKey> =>
  [...text.matchAll(KEY)].flatMap(([, fingerprint, path = "", given = ""]) => {
    const found = readKey(network, given)
    if (found === undefined) return []
    const own = { fingerprint: hash160(found.pubkey).subarray(0, 4), path: [] }
    const told = fingerprint === undefined ? undefined : fromHex(fingerprint)
    return [{ ...found, origin: told === undefined ? own : { fingerprint: told, path: readPath(path) } }]
  })

/** The script of an inner expression, where the limits of a bare multisig do not apply. */
const innerScript = (network: Network, text: string): ReadonlyArray<Bytes> => {
  const multi = /^(sorted)?multi\((\d+),(.*)\)$/.exec(text)
  if (multi !== null) {
    const pubkeys = keysOf(network, text).map(({ pubkey }) => pubkey)
    return [multisigScript(Number(multi[2]), multi[1] === undefined ? pubkeys : pubkeys.toSorted(compare))]
  }
  const made = descriptorScript(network, text)
  return "error" in made ? [] : [made.script, ...innerScripts(network, text)]
}

/** The scripts behind the hashes of a descriptor. */
const innerScripts = (network: Network, text: string): ReadonlyArray<Bytes> => {
  const [, inner] = /^w?sh\((.*)\)$/.exec(text) ?? []
  return inner === undefined ? [] : innerScript(network, inner)
}

const taprootOf = (text: string, keys: ReadonlyArray<DescriptorKey>): ReadonlyArray<TaprootOutput> => {
  const [key] = keys
  return text.startsWith("tr(") && key !== undefined ? [makeTaproot(key.pubkey.subarray(1, 33))] : []
}

const descriptorText = (value: Json): Read<string> => {
  if (typeof value === "string") return Either.right(value)
  if (!(value instanceof JsonObject)) {
    return Either.left(RpcError.invalidParameter("Scan object needs to be either a string or an object"))
  }
  const text = value.get("desc")
  return typeof text === "string"
    ? Either.right(text)
    : Either.left(RpcError.invalidParameter("Descriptor needs to be provided in scan object"))
}

/** A valid descriptor without its checksum. */
const readDescriptor = (network: Network, value: Json): Read<string> =>
  Either.flatMap(descriptorText(value), (text) => {
    const made = descriptorScript(network, text)
    return "error" in made
      ? Either.left(RpcError.invalidAddressOrKey(made.error))
      : Either.right(text.split("#")[0] ?? "")
  })

/** Makes a signing provider from descriptors; refuses the first invalid descriptor. */
export function* descriptorProviderSteps(
  network: Network,
  descriptors: ReadonlyArray<Json>
): Steps<Read<SigningProvider>> {
  const texts = yield* readSteps(descriptors, (value) => readDescriptor(network, value))
  return Either.map(texts, (texts) => {
    const keys = texts.flatMap((text) => keysOf(network, text))
    return makeProvider({
      keys: keys.flatMap(({ key }) => key ?? []),
      scripts: texts.flatMap((text) => innerScripts(network, text)),
      origins: keys,
      taproot: texts.flatMap((text) => taprootOf(text, keysOf(network, text)))
    })
  })
}
