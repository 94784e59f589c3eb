import * as Either from "effect/Either"
import { TAIL_BYTES } from "../../chain/state/CoinReads.ts"
import { binaryString, type Bytes, fromBinaryString } from "../../protocol/bytes.ts"
import { descriptorOf } from "../../protocol/descriptor/descriptor.ts"
import type { Network } from "../../protocol/networks.ts"
import type { Steps } from "../../protocol/steps.ts"
import { type Descriptor, faultless, isRangedDescriptor, withChecksum } from "../../wallet/keys/descriptors.ts"
import type { DescribedScript } from "../../wallet/keys/descriptorScripts.ts"
import { DescriptorKnowledge, expandDescriptor } from "../../wallet/keys/expandDescriptor.ts"
import { maskedKeys } from "../../wallet/keys/keyExpression.ts"
import { parseDescriptors } from "../../wallet/keys/parseDescriptor.ts"
import type { SigningProvider } from "../../wallet/signing/SigningProvider.ts"
import { DEFAULT_RANGE, invalid, type Range, readRange, refusedRead } from "../contract/chain/scanObjects.ts"
import { type Json, JsonObject, typeOf } from "../json/json.ts"
import { type Read, RpcError } from "../method/RpcError.ts"

/** Descriptors, or objects with a descriptor and a range. Upstream `rpc/util.cpp`, `EvalDescriptorStringOrObject`. */

export interface ScanScripts {
  /** By `binaryString`. */
  readonly keys: ReadonlyMap<string, Source>
  readonly lengths: ReadonlySet<number>
  readonly tails: ReadonlyArray<Bytes>
}

interface Source {
  readonly descriptor: Descriptor
  readonly index: number
}

/** Alternative paths are several descriptors. */
export const readDescriptors = (
  network: Network,
  text: string,
  checksum: "required" | "optional"
): Read<ReadonlyArray<Descriptor>> =>
  Either.mapLeft(parseDescriptors(network, text, checksum), ({ reason }) => RpcError.invalidAddressOrKey(reason))

interface ScanObject {
  readonly text: string
  readonly descriptors: ReadonlyArray<Descriptor>
  readonly range: Range
}

const readObject = (network: Network, value: Json): Read<ScanObject> =>
  Either.gen(function*() {
    if (typeof value === "string") {
      return { text: value, descriptors: yield* readDescriptors(network, value, "optional"), range: DEFAULT_RANGE }
    }
    if (!(value instanceof JsonObject)) {
      return yield* invalid("Scan object needs to be either a string or an object")
    }
    const text = value.get("desc") ?? null
    if (text === null) return yield* invalid("Descriptor needs to be provided in scan object")
    if (typeof text !== "string") {
      return yield* refusedRead(RpcError.wrongType({ actual: typeOf(text), expected: "string" }))
    }
    const given = value.get("range") ?? null
    const range = given === null ? DEFAULT_RANGE : yield* readRange(given)
    return { text, descriptors: yield* readDescriptors(network, text, "optional"), range }
  })

/** The last bytes of each script, without duplicates; none if a script is shorter. */
const tailsOf = (keys: Iterable<string>): ReadonlyArray<Bytes> => {
  const tails = new Set<string>()
  for (const key of keys) {
    if (key.length < TAIL_BYTES) return []
    tails.add(key.slice(-TAIL_BYTES))
  }
  return Array.from(tails, fromBinaryString)
}

interface Expanded {
  readonly descriptor: Descriptor
  readonly index: number
  readonly scripts: ReadonlyArray<DescribedScript>
}

/** One index per step. `scriptsOf` has limited their number. */
function* expandSteps(
  network: Network,
  objects: ReadonlyArray<Json>,
  use: (expanded: Expanded) => void
): Steps<Read<void>> {
  for (const value of objects) {
    const read = readObject(network, value)
    if (Either.isLeft(read)) return Either.left(read.left)
    const { descriptors, range, text } = read.right
    for (const descriptor of descriptors) {
      const expand = faultless(() => expandDescriptor(descriptor))
      if (Either.isLeft(expand)) {
        return refusedRead(
          RpcError.invalidAddressOrKey(`Cannot derive script without private keys: '${maskedKeys(text)}'`)
        )
      }
      const { first, last } = isRangedDescriptor(descriptor) ? range : { first: 0, last: 0 }
      for (let index = first; index <= last; index++) {
        use({ descriptor, index, scripts: expand.right(index) })
        yield
      }
    }
  }
  return Either.void
}

export function* scanScriptSteps(network: Network, objects: ReadonlyArray<Json>): Steps<Read<ScanScripts>> {
  const keys = new Map<string, Source>()
  const lengths = new Set<number>()
  const done = yield* expandSteps(network, objects, ({ descriptor, index, scripts }) => {
    for (const { script } of scripts) {
      const key = binaryString(script)
      if (!keys.has(key)) keys.set(key, { descriptor, index })
      lengths.add(script.length)
    }
  })
  return Either.map(done, () => ({ keys, lengths, tails: tailsOf(keys.keys()) }))
}

/** Refuses the first invalid descriptor. Source: upstream `rpc/util.cpp`, `EvalDescriptorStringOrObject`. */
export function* descriptorProviderSteps(
  network: Network,
  objects: ReadonlyArray<Json>
): Steps<Read<SigningProvider>> {
  const known = new DescriptorKnowledge()
  const done = yield* expandSteps(network, objects, ({ descriptor, index, scripts }) => {
    known.add(descriptor, index, scripts)
  })
  return Either.map(done, () => known.provider())
}

export const inferredDescriptor = (network: Network, { keys }: ScanScripts, script: Bytes): string => {
  const key = binaryString(script)
  const source = keys.get(key)
  const described = source === undefined
    ? undefined
    : expandDescriptor(source.descriptor)(source.index).find((each) => binaryString(each.script) === key)
  return described === undefined || described.keys.length === 0
    ? descriptorOf(network, fromBinaryString(key))
    : withChecksum(described.text())
}
