import { type Bytes } from "../../protocol/bytes.ts"
import { sha256 } from "../../protocol/hash.ts"
import type { Height } from "../../protocol/keys.ts"
import { addressScript } from "../../protocol/nameOperation.ts"
import type { ConnectedBlock, Cursor } from "../write/Follower.ts"

// The rows of the index of scripts and transactions: 40 bits of a hash and the height of a block that may have what
// the hash is of. Readers look into the block, so a row too many costs time, and never changes an answer.

export interface HashRow {
  /** The first 40 bits of a script hash or txid. */
  readonly prefix: number
  readonly height: Height
}

/** The first 40 bits of a hash, which has at least 5 bytes. */
export const prefixOf = (hash: Bytes): number => {
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = hash
  return a * 2 ** 32 + ((b << 24) | (c << 16) | (d << 8) | e) + (b < 128 ? 0 : 2 ** 32)
}

/** The hash by which clients ask for a script. For a name's coin, that is the script of its owner's address. */
export const scriptHashOf = (script: Bytes): Bytes => sha256(addressScript(script))

const RETURN = 0x6a

/** Whether an output is in no history, as nothing can spend it. Source: ElectrumX `lib/script.py`, `is_unspendable_legacy`. */
export const hasNoHistory = (script: Bytes): boolean =>
  script[0] === RETURN || (script[0] === 0 && script[1] === RETURN)

/** Calls `use` with the script hash of each output and each removed coin of a block, some of them more than once. */
export const eachScriptHash = ({ block, coins }: ConnectedBlock, use: (hash: Bytes) => void): void => {
  for (const { outputs } of block.transactions) {
    for (const { script } of outputs) {
      if (!hasNoHistory(script)) use(scriptHashOf(script))
    }
  }
  // Coins of expired names among them.
  coins?.removed.forEach(({ script }) => use(scriptHashOf(script)))
}

/** Calls `add` with each prefix of a block, some of them more than once. */
const eachPrefix = (connected: ConnectedBlock, add: (prefix: number) => void): void => {
  for (const { txid } of connected.block.transactions) add(prefixOf(txid))
  eachScriptHash(connected, (hash) => add(prefixOf(hash)))
}

/** The prefixes fall into so many ranges, by their first bits. */
const RANGES = 4_096

/** The bits of a prefix that are the same in one range count for nothing in it. */
const IN_RANGE = 2 ** 28

/** A height has at most 24 bits. */
const HEIGHTS = 2 ** 24

/** The rows of consecutive blocks, packed and nearly in order, until they are stored together. */
export class HashRows {
  /** By range: the rest of the prefix and the height in one number. */
  readonly #ranges: ReadonlyArray<Array<number>> = Array.from({ length: RANGES }, () => [])
  #count = 0
  #last: Cursor | undefined

  constructor(blocks: ReadonlyArray<ConnectedBlock> = []) {
    this.add(blocks)
  }

  get count(): number {
    return this.#count
  }

  /** The last block. */
  get last(): Cursor | undefined {
    return this.#last
  }

  add(blocks: ReadonlyArray<ConnectedBlock>): void {
    for (const each of blocks) {
      const { hash, height } = each
      eachPrefix(each, (prefix) => {
        this.#ranges[Math.floor(prefix / IN_RANGE)]?.push((prefix % IN_RANGE) * HEIGHTS + height)
        this.#count++
      })
      this.#last = { hash, height }
    }
  }

  /** All rows in the order of the table, without repetition, in lists of some `atOnce` rows. */
  *inOrder(atOnce: number): Generator<ReadonlyArray<HashRow>, void> {
    let rows: Array<HashRow> = []
    for (const [at, range] of this.#ranges.entries()) {
      let before = -1
      for (const packed of Float64Array.from(range).sort()) {
        if (packed === before) continue
        before = packed
        rows.push({ prefix: at * IN_RANGE + Math.floor(packed / HEIGHTS), height: packed % HEIGHTS })
      }
      if (rows.length < atOnce) continue
      yield rows
      rows = []
    }
    yield rows
  }

  clear(): void {
    for (const range of this.#ranges) range.length = 0
    this.#count = 0
    this.#last = undefined
  }
}
