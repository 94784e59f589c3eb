import * as Either from "effect/Either"
import { quoted } from "../../base/safeText.ts"
import { decodeAddress, scriptOf } from "../../protocol/address.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { decodeText, type NameEncoding } from "../../protocol/nameText.ts"
import type { Network } from "../../protocol/networks.ts"
import { type EventFilter, isStreamKind } from "./EventFilter.ts"
import { isLiveKind, STREAM_KINDS, type StreamKind } from "./kinds.ts"

/** An event filter as a caller or operator writes it. Empty lists match everything. */
export interface FilterTexts {
  readonly names: ReadonlyArray<string>
  readonly prefixes: ReadonlyArray<string>
  /** Addresses. */
  readonly owners: ReadonlyArray<string>
  readonly types: ReadonlyArray<string>
}

/** How the texts are written. */
export interface FilterWriting {
  readonly network: Network
  /** Encoding of names and prefixes. */
  readonly nameEncoding: NameEncoding
}

/** Maximum values of one part of a filter. */
const MAX_VALUES = 100

type Read<A> = Either.Either<A, string>

const listOf = <A>(
  part: string,
  given: ReadonlyArray<string>,
  read: (text: string) => Read<A>
): Read<ReadonlyArray<A> | undefined> => {
  if (given.length === 0) return Either.right(undefined)
  if (given.length > MAX_VALUES) return Either.left(`${part}: at most ${MAX_VALUES} are allowed`)
  return Either.all(given.map((text) => Either.mapLeft(read(text), (reason) => `${part}: ${reason}`)))
}

const kindOf = (text: string): Read<StreamKind> => {
  if (isStreamKind(text)) return Either.right(text)
  return Either.left(
    isLiveKind(text)
      ? `${quoted(text)} has no cursor: only readers of GET /events and programs that call changes can have it`
      : `${quoted(text)} is not one of ${STREAM_KINDS.join(", ")}`
  )
}

/** Reads a filter, or returns what is wrong with its `name`, `prefix`, `owner` or `types`. */
export const readFilter = (
  { names, owners, prefixes, types }: FilterTexts,
  { nameEncoding, network }: FilterWriting
): Read<EventFilter> =>
  Either.gen(function*() {
    const bytes = (text: string): Read<Bytes> =>
      Either.fromNullable(decodeText(text, nameEncoding), () => `${quoted(text)} is not ${nameEncoding}`)
    const owner = (text: string): Read<Bytes> => {
      const decoded = decodeAddress(network, text)
      return "destination" in decoded ? Either.right(scriptOf(decoded.destination)) : Either.left(decoded.error)
    }
    return {
      names: yield* listOf("name", names, bytes),
      prefixes: yield* listOf("prefix", prefixes, bytes),
      owners: yield* listOf("owner", owners, owner),
      kinds: yield* listOf("types", types, kindOf)
    }
  })
