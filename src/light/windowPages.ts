import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { turnOfEventLoop } from "../base/turns.ts"
import { type Bytes, concat } from "../protocol/bytes.ts"
import type { StorageFailure } from "../storage/errors.ts"

const startsWith = (name: Bytes, prefix: Bytes): boolean => prefix.every((byte, i) => name[i] === byte)

/** Rows by name, page by page, while the names have a prefix. */
export const rowsByName = <A>(
  prefix: Bytes,
  { nameOf, read, size }: {
    readonly read: (from: Bytes, limit: number) => Effect.Effect<ReadonlyArray<A>, StorageFailure>
    readonly nameOf: (row: A) => Bytes
    readonly size: number
  }
): Stream.Stream<A, StorageFailure> =>
  Stream.paginateChunkEffect(prefix, (from) =>
    Effect.map(read(from, size), (found) => {
      const rows = found.filter((row) => startsWith(nameOf(row), prefix))
      const last = found.at(-1)
      const ended = found.length < size || last === undefined || rows.length < found.length
      // The smallest byte string after a name is the name with a zero byte.
      const next = ended ? Option.none() : Option.some(concat(nameOf(last), Uint8Array.of(0)))
      return [Chunk.fromIterable(rows), next] as const
    }).pipe(Effect.zipLeft(turnOfEventLoop)))
