import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
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
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { optional, string } from "../method/params.ts"
import * as Result from "../method/results.ts"
import { storageError } from "./errors.ts"
import { readDescriptors } from "./scanObjects.ts"

/** Methods for addresses, descriptors and indexes (reference/rpc.md 3.8). */

const DESTINATION_MEMBERS = {
  isscript: Schema.optional(
    Result.boolean("Whether it is the address of a script; not for a witness version without meaning yet")
  ),
  iswitness: Result.boolean("Whether it is a segwit address"),
  witness_version: Schema.optional(Result.integer("Version of the witness program; not for pay-to-anchor")),
  witness_program: Schema.optional(Result.hex("The witness program"))
}

/** Source: upstream `rpc/util.cpp`, `DescribeAddressVisitor`. */
const destinationMembers = (destination: Destination): Result.MembersOf<typeof DESTINATION_MEMBERS> => {
  if (destination.kind !== "witness") return { isscript: destination.kind === "scripthash", iswitness: false }
  const { program, version } = destination
  if (scriptTemplate(scriptOf(destination)).type === "anchor") return { isscript: true, iswitness: true }
  const parts = { iswitness: true, witness_version: version, witness_program: toHex(program) }
  if (version === 0) return { isscript: program.length === 32, ...parts }
  return version === 1 && program.length === 32 ? { isscript: true, ...parts } : parts
}

/** Whether the holder of a descriptor's keys can spend its scripts: not if the descriptor only names a script. */
const isSolvable = ({ name }: Descriptor): boolean => name !== "addr" && name !== "raw"

export const utilMethods: Effect.Effect<ReadonlyArray<Method>, never, Chain | AnswerOptions | TxIndex | Indexes> =
  Effect
    .gen(
      function*() {
        const chain = yield* Chain
        const options = yield* AnswerOptions
        const txIndex = yield* TxIndex
        const optionalIndexes = yield* Indexes
        const { network } = chain.params

        const validateaddress = method({
          name: "validateaddress",
          right: "read",
          group: "Util",
          summary: "Returns whether a text is an address of this network, and its parts.",
          params: { address: string("The text.") },
          results: [
            {
              when: "the address is valid",
              schema: Schema.Struct({
                isvalid: Result.boolean("Yes"),
                address: Result.string("The address"),
                scriptPubKey: Result.hex("The script that pays to it"),
                ...DESTINATION_MEMBERS
              })
            },
            {
              when: "the address is invalid",
              schema: Schema.Struct({
                isvalid: Result.boolean("No"),
                error_locations: Schema.Array(Result.integer("Position of a character that is probably wrong, from 0")),
                error: Result.string("The error")
              })
            }
          ],
          examples: [["N2xHFZ8NWNkGuuXfDxv8iMXdQGMd3tjZfx"]],
          handler: ({ address }) => {
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
          }
        })

        const getdescriptorinfo = method({
          name: "getdescriptorinfo",
          right: "read",
          group: "Util",
          summary: "Returns a descriptor without private keys, with its checksum.",
          params: { descriptor: string("The descriptor, with or without a checksum.") },
          results: [{
            schema: Schema.Struct({
              descriptor: Result.string("The descriptor without private keys"),
              multipath_expansion: Schema.optional(
                Schema.Array(Result.string("A descriptor")).annotations({
                  description: "The descriptors of each path, if it has alternative paths"
                })
              ),
              checksum: Result.string("Checksum of the given descriptor"),
              isrange: Result.boolean("Whether it is ranged"),
              issolvable: Result.boolean("Whether it contains the data for spending"),
              hasprivatekeys: Result.boolean("Whether it had private keys")
            })
          }],
          examples: [["wpkh(02f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9)"]],
          errors: ["-5 <reason why it is invalid>"],
          handler: ({ descriptor }) => {
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
          }
        })

        const getindexinfo = method({
          name: "getindexinfo",
          right: "read",
          group: "Util",
          summary: "Returns the state of the optional indexes.",
          params: { index_name: optional(string("The name of an index; all by default.")) },
          results: [{
            schema: Result.map(
              "name",
              Schema.Struct({
                synced: Result.boolean("Whether the index is at the tip"),
                best_block_height: Result.integer("Height of the index")
              })
            )
          }],
          examples: [[]],
          handler: ({ index_name }) =>
            Effect.gen(function*() {
              const { height } = yield* chain.tip
              const cursor = txIndex.follower === undefined ? undefined : yield* txIndex.follower.cursor
              const others = yield* Effect.forEach(
                optionalIndexes.followers,
                ({ cursor, name }) => Effect.map(cursor, (at) => ({ name, at }))
              )
              const indexes = [
                ...(cursor === undefined ? [] : [["txindex", cursor.height] as const]),
                // The hashes of names are part of names.db, which stays at the tip.
                ...(options.nameHashIndex ? [["namehash", height] as const] : []),
                ...others.map(({ at, name }) => [name, at?.height ?? 0] as const)
              ].filter(([name]) => index_name === undefined || index_name === "" || index_name === name)
              return Object.fromEntries(
                indexes.map(([name, at]) => [name, { synced: at === height, best_block_height: at }])
              )
            }).pipe(Effect.mapError(storageError))
        })

        return [validateaddress, getdescriptorinfo, getindexinfo]
      }
    )
