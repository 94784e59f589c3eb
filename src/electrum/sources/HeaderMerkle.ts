import { type Bytes, concat, equal } from "../../protocol/bytes.ts"
import { hash256 } from "../../protocol/hash.ts"

/** The leaves of the tree: hashes of the best chain's headers, by height. */
export interface HeaderHashes {
  /** `undefined` above the tip. The bytes may be a view. */
  readonly hashAt: (height: number) => Bytes | undefined
}

export interface HeaderBranch {
  /** From the leaves up. */
  readonly branch: ReadonlyArray<Bytes>
  readonly root: Bytes
}

/** Headers below one kept node. */
const DEPTH = 5
const SEGMENT = 2 ** DEPTH

const depthOf = (length: number): number => Math.ceil(Math.log2(length))

const parentOf = (left: Bytes, right: Bytes): Bytes => hash256(concat(left, right))

const spanOf = (depth: number): number => 2 ** depth

/**
 * Merkle trees over the headers 0 to any height. A whole subtree is the same in all of them, so those of 32 headers
 * and more are kept: some 8 MB for a million headers. The rest of a proof takes some 60 hashes. Where a row is odd, its last node has itself as its
 * neighbour. After a reorg, the kept nodes with other headers are dropped.
 */
export class HeaderMerkle {
  readonly #hashes: HeaderHashes
  /** `#rows[i]`: the kept nodes at depth `DEPTH + i`, from the left. */
  readonly #rows: Array<Array<Bytes>> = [[]]
  /** The last header of each kept segment. A chain with the same one has the same headers before it. */
  readonly #ends: Array<Bytes> = []

  constructor(hashes: HeaderHashes) {
    this.#hashes = hashes
  }

  /** Keeps one segment more below a number of headers. Returns whether there may be another one. */
  extend(length: number): boolean {
    this.#dropOthers()
    const at = this.#ends.length
    const end = (at + 1) * SEGMENT
    const last = end > length ? undefined : this.#hashes.hashAt(end - 1)
    if (last === undefined) return false
    this.#ends.push(last.slice())
    this.#keep(this.#fromLeaves({ depth: DEPTH, index: at, length: end }))
    return true
  }

  /** The proof of a header in the tree over the first `length` ones; `undefined` if the chain has fewer. */
  branch({ index, length }: { readonly index: number; readonly length: number }): HeaderBranch | undefined {
    while (this.extend(length)) { /* Nothing is left to do if the caller has. */ }
    if (index >= length || this.#hashes.hashAt(length - 1) === undefined) return undefined
    const top = depthOf(length)
    const branch = Array.from({ length: top }, (_, depth) => {
      const own = Math.floor(index / spanOf(depth))
      const sibling = own % 2 === 0 ? own + 1 : own - 1
      return this.#node({ depth, length, index: sibling * spanOf(depth) < length ? sibling : own })
    })
    return { branch, root: this.#node({ depth: top, index: 0, length }) }
  }

  #dropOthers(): void {
    let same = this.#ends.length
    while (same > 0) {
      const now = this.#hashes.hashAt(same * SEGMENT - 1)
      const kept = this.#ends[same - 1]
      if (now !== undefined && kept !== undefined && equal(now, kept)) break
      same--
    }
    this.#ends.length = same
    this.#rows.forEach((row, at) => {
      row.length = Math.min(row.length, Math.floor(same / spanOf(at)))
    })
  }

  /** Adds a node of the lowest kept row, and those above it that it completes. */
  #keep(node: Bytes): void {
    let added = node
    for (let at = 0;; at++) {
      const row = this.#rows[at] ??= []
      row.push(added)
      const left = row[row.length - 2]
      if (row.length % 2 === 1 || left === undefined) return
      added = parentOf(left, added)
    }
  }

  #node(place: NodePlace): Bytes {
    const { depth, index, length } = place
    const kept = depth >= DEPTH && (index + 1) * spanOf(depth) <= length
      ? this.#rows[depth - DEPTH]?.[index]
      : undefined
    return kept ?? (depth <= DEPTH ? this.#fromLeaves(place) : this.#fromChildren(place))
  }

  #fromChildren({ depth, index, length }: NodePlace): Bytes {
    const left = this.#node({ depth: depth - 1, index: 2 * index, length })
    const isAlone = (2 * index + 1) * spanOf(depth - 1) >= length
    return parentOf(left, isAlone ? left : this.#node({ depth: depth - 1, index: 2 * index + 1, length }))
  }

  #fromLeaves({ depth, index, length }: NodePlace): Bytes {
    const from = index * spanOf(depth)
    let row: Array<Bytes> = []
    for (let height = from; height < Math.min(length, from + spanOf(depth)); height++) {
      const hash = this.#hashes.hashAt(height)
      if (hash !== undefined) row.push(hash)
    }
    for (let level = 0; level < depth; level++) {
      const above: Array<Bytes> = []
      for (let at = 0; at < row.length; at += 2) {
        const left = row[at]
        if (left !== undefined) above.push(parentOf(left, row[at + 1] ?? left))
      }
      row = above
    }
    return row[0] ?? new Uint8Array(32)
  }
}

interface NodePlace {
  readonly depth: number
  /** From the left, among the nodes of its depth. */
  readonly index: number
  /** Headers in the tree. */
  readonly length: number
}
