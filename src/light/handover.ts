import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import * as Stream from "effect/Stream"
import type { NameEntry } from "../names/NameEntry.ts"
import { type Bytes, compare, equal } from "../protocol/bytes.ts"

/** Compares the names of a window with the whole chain's before the chain takes over. */

/** Maximum names to recheck one by one. Further ones count as different. */
const MOST_NAMES = 1_000

/** Streams of the latest name records in byte order. Either may lack expired ones. */
export interface Compared<E> {
  readonly chain: Stream.Stream<NameEntry, E>
  readonly window: Stream.Stream<NameEntry, E>
  /** Whether the name lives at the tip of both. */
  readonly lives: (record: NameEntry) => boolean
}

export interface NameComparison {
  readonly names: number
  readonly different: ReadonlyArray<Bytes>
}

/** Whether two records are the same operation with the same content. */
export const sameRecord = (a: NameEntry, b: NameEntry): boolean =>
  a.height === b.height && a.vout === b.vout && equal(a.txid, b.txid) && equal(a.value, b.value) &&
  equal(a.address, b.address)

interface Pair {
  readonly name: Bytes
  readonly same: boolean
}

const keyed = <E>(records: Stream.Stream<NameEntry, E>, lives: Compared<E>["lives"]) =>
  records.pipe(Stream.filter(lives), Stream.map((record) => [record.name, record] as const))

const alone = ({ name }: NameEntry): Pair => ({ name, same: false })

/** Reads both side by side. Only lasting differences count, as blocks may arrive meanwhile. */
export const compareNames = <E>({ chain, lives, window }: Compared<E>): Effect.Effect<NameComparison, E> =>
  Effect.suspend(() => {
    let names = 0
    return keyed(chain, lives).pipe(
      Stream.zipAllSortedByKeyWith({
        other: keyed(window, lives),
        onSelf: alone,
        onOther: alone,
        onBoth: (a, b): Pair => ({ name: a.name, same: sameRecord(a, b) }),
        order: Order.make<Bytes>((a, b) => {
          const sign = compare(a, b)
          return sign < 0 ? -1 : sign > 0 ? 1 : 0
        })
      }),
      Stream.map(([, pair]) => pair),
      Stream.tap(() => Effect.sync(() => names++)),
      Stream.filter(({ same }) => !same),
      Stream.take(MOST_NAMES),
      Stream.runCollect,
      Effect.map((pairs) => ({ names, different: Chunk.toReadonlyArray(pairs).map(({ name }) => name) }))
    )
  })
