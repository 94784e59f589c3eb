import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { addressOf, encodeAddress, scriptOf } from "../../protocol/address.ts"
import { type Bytes, fromHex, toHex } from "../../protocol/bytes.ts"
import { descriptorChecksum } from "../../protocol/descriptor/descriptor.ts"
import { hash160, sha256 } from "../../protocol/hash.ts"
import { multiScript } from "../../protocol/miniscript/script.ts"
import type { Network } from "../../protocol/networks.ts"
import { isPublicKey } from "../../protocol/psbt/records.ts"
import { MAX_SCRIPT_ELEMENT_SIZE } from "../../protocol/script.ts"
import { isCompressedKey } from "../../protocol/scriptOperations.ts"
import { scriptTemplate } from "../../protocol/scriptType.ts"
import type { Steps } from "../../protocol/steps.ts"
import { parseWif } from "../../protocol/wif.ts"
import { type Descriptor, faultless, isRangedDescriptor } from "../../wallet/keys/descriptors.ts"
import type { DescribedScript } from "../../wallet/keys/descriptorScripts.ts"
import { expandDescriptor } from "../../wallet/keys/expandDescriptor.ts"
import { signMessage, verifyMessage } from "../../wallet/signing/message.ts"
import type { SigningKey } from "../../wallet/signing/SigningProvider.ts"
import { readRange } from "../contract/chain/scanObjects.ts"
import {
  CREATEMULTISIG,
  DERIVEADDRESSES,
  type MULTISIG,
  SIGNMESSAGEWITHPRIVKEY,
  VERIFYMESSAGE
} from "../contract/control/util.ts"
import type { Json } from "../json/json.ts"
import { readInTurns, readSteps } from "../method/inTurns.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import type * as Result from "../method/results.ts"
import { type Read, RpcError } from "../method/RpcError.ts"
import { readDescriptors } from "./scanObjects.ts"

/** reference/rpc.md 3.8. */

const refused = (message: string): Read<never> => Either.left(RpcError.invalidAddressOrKey(message))

const invalid = (message: string): Read<never> => Either.left(RpcError.invalidParameter(message))

/** The error message never contains the key. */
export const readKey = (network: Network, text: string): Read<SigningKey> => {
  const key = parseWif(network, text)
  return "error" in key ? refused("Invalid private key") : Either.right(key)
}

export const readPubkey = (text: string): Read<Bytes> => {
  const bytes = fromHex(text)
  if (bytes === undefined || text === "") return refused(`Pubkey "${text}" must be a hex string`)
  if (bytes.length !== 33 && bytes.length !== 65) {
    return refused(`Pubkey "${text}" must have a length of either 33 or 65 bytes`)
  }
  return isPublicKey(bytes) ? Either.right(bytes) : refused(`Pubkey "${text}" must be cryptographically valid.`)
}

const MAX_KEYS = 20

type MultisigType = "legacy" | "p2sh-segwit" | "bech32"

const readMultisigType = (text: string): Read<MultisigType> => {
  if (text === "legacy" || text === "p2sh-segwit" || text === "bech32") return Either.right(text)
  return refused(
    text === "bech32m"
      ? "createmultisig cannot create bech32m multisig addresses"
      : `Unknown address type '${text}'`
  )
}

const witnessProgram = (script: Bytes) => ({ kind: "witness", version: 0, program: sha256(script) }) as const

const scriptHash = (script: Bytes) => ({ kind: "scripthash", hash: hash160(script) }) as const

const multisigOutput = (
  network: Network,
  { multi, script, type }: { readonly type: MultisigType; readonly script: Bytes; readonly multi: string }
) => {
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

interface MultisigRequest {
  readonly required: number
  readonly pubkeys: ReadonlyArray<Bytes>
  readonly wanted: string
}

const multisigJson = (
  network: Network,
  { pubkeys, required, wanted }: MultisigRequest
): Read<Result.ValueOf<typeof MULTISIG>> =>
  Either.gen(function*() {
    const asked = yield* readMultisigType(wanted)
    if (required < 1) return yield* invalid("a multisignature address must require at least one key to redeem")
    if (pubkeys.length < required) {
      return yield* invalid(
        `not enough keys supplied (got ${pubkeys.length} keys, but need at least ${required} to redeem)`
      )
    }
    if (pubkeys.length > MAX_KEYS) {
      return yield* invalid(
        `Number of keys involved in the multisignature address creation > ${MAX_KEYS}\nReduce the number`
      )
    }
    const type = pubkeys.every(isCompressedKey) ? asked : "legacy"
    const script = multiScript(required, pubkeys)
    if (type === "legacy" && script.length > MAX_SCRIPT_ELEMENT_SIZE) {
      return yield* invalid(`redeemScript exceeds size limit: ${script.length} > ${MAX_SCRIPT_ELEMENT_SIZE}`)
    }
    const multi = `multi(${[required, ...pubkeys.map(toHex)].join(",")})`
    const { address, descriptor } = multisigOutput(network, { type, script, multi })
    return {
      address,
      redeemScript: toHex(script),
      descriptor: `${descriptor}#${descriptorChecksum(descriptor) ?? ""}`,
      warnings: type === asked
        ? undefined
        : ["Unable to make chosen address type, please ensure no uncompressed public keys are present."]
    }
  })

/** Both ends included. */
interface Range {
  readonly first: number
  readonly last: number
}

/** `combo` has a script without an address. */
const addressesAt = (network: Network, scripts: ReadonlyArray<DescribedScript>): Read<ReadonlyArray<string>> =>
  Either.all(
    scripts.flatMap(({ script }): ReadonlyArray<Read<string>> => {
      const address = addressOf(network, script)
      if (address !== undefined) return [Either.right(address)]
      const isPubkey = scriptTemplate(script).type === "pubkey"
      return scripts.length > 1 && isPubkey ? [] : [refused("Descriptor does not have a corresponding address")]
    })
  )

/** Per answer. Each path of a descriptor may have as many. */
const MAX_ADDRESSES = 1_000_001

/** One index per step. */
function* addressSteps(
  network: Network,
  descriptors: ReadonlyArray<Descriptor>,
  { first, last }: Range
): Steps<Read<ReadonlyArray<ReadonlyArray<string>>>> {
  const all: Array<ReadonlyArray<string>> = []
  let count = 0
  for (const descriptor of descriptors) {
    const expand = faultless(() => expandDescriptor(descriptor))
    if (Either.isLeft(expand)) return refused("Cannot derive script without private keys")
    const found: Array<string> = []
    for (let index = first; index <= last; index++) {
      const addresses = addressesAt(network, expand.right(index))
      if (Either.isLeft(addresses)) return Either.left(addresses.left)
      found.push(...addresses.right)
      if (++count > MAX_ADDRESSES) return Either.left(RpcError.invalidParameter("Range is too large"))
      yield
    }
    all.push(found)
  }
  return Either.right(all)
}

interface Derivation {
  readonly descriptors: ReadonlyArray<Descriptor>
  readonly range: Range
}

const readDerivation = (network: Network, text: string, range: Json | undefined): Read<Derivation> =>
  Either.gen(function*() {
    const wanted = range === undefined || range === null ? { first: 0, last: 0 } : yield* readRange(range)
    const descriptors = yield* readDescriptors(network, text, "required")
    const isRanged = descriptors[0] !== undefined && isRangedDescriptor(descriptors[0])
    if (!isRanged && range !== undefined) {
      return yield* invalid("Range should not be specified for an un-ranged descriptor")
    }
    if (isRanged && range === undefined) return yield* invalid("Range must be specified for a ranged descriptor")
    return { descriptors, range: wanted }
  })

export const keyMethods = (network: Network): ReadonlyArray<Method> => {
  const createmultisig = method(CREATEMULTISIG, ({ address_type, keys, nrequired }, { turns }) =>
    Effect.flatMap(
      readInTurns(turns, readSteps(keys, readPubkey)),
      (pubkeys) => multisigJson(network, { required: nrequired, pubkeys, wanted: address_type })
    ))

  const deriveaddresses = method(DERIVEADDRESSES, ({ descriptor, range }, { turns }) =>
    Effect.gen(function*() {
      const derivation = yield* readDerivation(network, descriptor, range)
      const all = yield* readInTurns(turns, addressSteps(network, derivation.descriptors, derivation.range))
      const [first = []] = all
      return all.length === 1 ? first : all
    }))

  const signmessagewithprivkey = method(
    SIGNMESSAGEWITHPRIVKEY,
    ({ message, privkey }) => Either.map(readKey(network, privkey), (key) => signMessage(message, key))
  )

  const verifymessage = method(VERIFYMESSAGE, ({ address, message, signature }) =>
    Effect.suspend(() => {
      const verdict = verifyMessage(network, { address, signature, message })
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
    }))

  return [createmultisig, deriveaddresses, signmessagewithprivkey, verifymessage]
}
