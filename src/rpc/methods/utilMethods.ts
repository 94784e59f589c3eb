import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { Chain } from "../../chain/Chain.ts"
import { Indexes } from "../../chain/indexes/Indexes.ts"
import { TxIndex } from "../../chain/TxIndex.ts"
import { decodeAddress, type Destination, encodeAddress, scriptOf } from "../../protocol/address.ts"
import { toHex } from "../../protocol/bytes.ts"
import { descriptorChecksum } from "../../protocol/descriptor/descriptor.ts"
import { scriptTemplate } from "../../protocol/scriptType.ts"
import {
  type Descriptor,
  descriptorText,
  isRangedDescriptor,
  privatePositions,
  shownDescriptor
} from "../../wallet/keys/descriptors.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import { type DESTINATION_MEMBERS, GETDESCRIPTORINFO, GETINDEXINFO, VALIDATEADDRESS } from "../contract/control/util.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import type * as Result from "../method/results.ts"
import { storageError } from "./errors.ts"
import { readDescriptors } from "./scanObjects.ts"

/** reference/rpc.md 3.8. */

/** Source: upstream `rpc/util.cpp`, `DescribeAddressVisitor`. */
const destinationMembers = (destination: Destination): Result.MembersOf<typeof DESTINATION_MEMBERS> => {
  if (destination.kind !== "witness") return { isscript: destination.kind === "scripthash", iswitness: false }
  const { program, version } = destination
  if (scriptTemplate(scriptOf(destination)).type === "anchor") return { isscript: true, iswitness: true }
  const parts = { iswitness: true, witness_version: version, witness_program: toHex(program) }
  if (version === 0) return { isscript: program.length === 32, ...parts }
  return version === 1 && program.length === 32 ? { isscript: true, ...parts } : parts
}

/** Not solvable if the descriptor only names a script. */
const isSolvable = ({ name }: Descriptor): boolean => name !== "addr" && name !== "raw"

export const utilMethods: Methods<
  Chain | AnswerOptions | TxIndex | Indexes
> = Effect.gen(
  function*() {
    const chain = yield* Chain
    const options = yield* AnswerOptions
    const txIndex = yield* TxIndex
    const optionalIndexes = yield* Indexes
    const { network } = chain.params

    const validateaddress = method(VALIDATEADDRESS, ({ address }) => {
      const parsed = decodeAddress(network, address)
      return Effect.succeed(
        "error" in parsed
          ? { isvalid: false, error_locations: parsed.locations, error: parsed.error }
          : {
            isvalid: true,
            address: encodeAddress(network, parsed.destination),
            scriptPubKey: toHex(scriptOf(parsed.destination)),
            ...destinationMembers(parsed.destination)
          }
      )
    })

    const getdescriptorinfo = method(GETDESCRIPTORINFO, ({ descriptor }) => {
      const [bare = ""] = descriptor.split("#")
      return Either.map(readDescriptors(network, descriptor, "optional"), (descriptors) => {
        const shown = descriptors.map((each) => descriptorText(network, shownDescriptor(each)))
        const [first] = descriptors
        return {
          descriptor: shown[0] ?? "",
          multipath_expansion: shown.length > 1 ? shown : undefined,
          checksum: descriptorChecksum(bare) ?? "",
          isrange: first !== undefined && isRangedDescriptor(first),
          issolvable: first !== undefined && isSolvable(first),
          hasprivatekeys: descriptors.some((each) => privatePositions(each).length > 0)
        }
      })
    })

    const getindexinfo = method(GETINDEXINFO, ({ index_name }) =>
      Effect.gen(function*() {
        const { height } = yield* chain.tip
        const cursor = txIndex.follower === undefined ? undefined : yield* txIndex.follower.cursor
        const others = yield* Effect.forEach(
          optionalIndexes.followers,
          ({ cursor, name }) => Effect.map(cursor, (at) => ({ name, at }))
        )
        const indexes = [
          ...(cursor === undefined ? [] : [["txindex", cursor.height] as const]),
          // Hashes of names are part of names.db, which stays at the tip.
          ...(options.nameHashIndex ? [["namehash", height] as const] : []),
          ...others.map(({ at, name }) => [name, at?.height ?? 0] as const)
        ].filter(([name]) => index_name === undefined || index_name === "" || index_name === name)
        return Object.fromEntries(
          indexes.map(([name, at]) => [name, { synced: at === height, best_block_height: at }])
        )
      }).pipe(Effect.mapError(storageError)))

    return [validateaddress, getdescriptorinfo, getindexinfo]
  }
)
