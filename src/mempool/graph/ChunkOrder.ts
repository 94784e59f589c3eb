import { compareRates } from "../policy/feeRate.ts"
import type { GraphChunk } from "./graphChunks.ts"
import { Heap } from "./Heap.ts"

/** A chunk of a cluster, and its position among those of all clusters. */
export interface RankedChunk<Key extends string = string> {
  readonly chunk: GraphChunk<Key>
  /** Between chunks of equal rate, the older cluster comes first. */
  readonly cluster: number
  /** Index of the chunk in its cluster. */
  readonly index: number
  /** False once the cluster has changed. */
  isCurrent: boolean
}

/** Rates of a cluster's chunks never rise, so this order never puts a child before its parent. */
const compareChunks = (a: RankedChunk, b: RankedChunk): number =>
  compareRates(b.chunk, a.chunk) || a.cluster - b.cluster || a.index - b.index

const isCurrent = (ranked: RankedChunk): boolean => ranked.isCurrent

const merge = <Ranked extends RankedChunk>(a: ReadonlyArray<Ranked>, b: ReadonlyArray<Ranked>): Array<Ranked> => {
  const merged: Array<Ranked> = []
  let at = 0
  for (const item of a) {
    for (let next = b[at]; next !== undefined && compareChunks(next, item) < 0; next = b[++at]) merged.push(next)
    merged.push(item)
  }
  return merged.concat(b.slice(at))
}

/** Outdated chunks besides the current ones that trigger their removal. */
const MIN_COMPACTION = 256

/**
 * The chunks of all clusters, best first. Outdated ones are removed lazily: the worst chunk costs logarithmic time, and
 * the whole order is built only on request, from the previous one.
 */
export class ChunkOrder<Key extends string = string> {
  private readonly worstFirst = new Heap<RankedChunk<Key>>((a, b) => compareChunks(b, a))
  private sorted: Array<RankedChunk<Key>> = []
  /** Not yet in `sorted`. */
  private added: Array<RankedChunk<Key>> = []
  private compactAt = MIN_COMPACTION
  private addedCompactAt = MIN_COMPACTION

  add(chunks: ReadonlyArray<RankedChunk<Key>>): void {
    for (const chunk of chunks) {
      this.worstFirst.push(chunk)
      this.added.push(chunk)
    }
    if (this.worstFirst.size > this.compactAt) {
      this.worstFirst.retain(isCurrent)
      this.compactAt = 2 * this.worstFirst.size + MIN_COMPACTION
    }
    if (this.added.length > this.addedCompactAt) {
      this.added = this.added.filter(isCurrent)
      this.addedCompactAt = 2 * this.added.length + MIN_COMPACTION
    }
  }

  worst(): GraphChunk<Key> | undefined {
    for (;;) {
      const last = this.worstFirst.peek()
      if (last === undefined || last.isCurrent) return last?.chunk
      this.worstFirst.pop()
    }
  }

  /** The whole order, best first. */
  all(): ReadonlyArray<GraphChunk<Key>> {
    this.sorted = merge(this.sorted.filter(isCurrent), this.added.filter(isCurrent).sort(compareChunks))
    this.added = []
    return this.sorted.map(({ chunk }) => chunk)
  }
}
