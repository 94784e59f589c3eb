import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../base/turnOfEventLoop.ts"
import type { Chain } from "../chain/Chain.ts"
import type { HeaderInfo } from "../chain/index/headerInfo.ts"
import type { Block } from "../protocol/block.ts"
import { binaryString, type Bytes } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import { NAME_TX_VERSION, type NameSetting, parseNameScript } from "../protocol/nameOperation.ts"

/** An operation that set the record of a name. */
export interface BlockChange {
  readonly name: Bytes
  readonly op: NameSetting["op"]
  /** Wire order. */
  readonly txid: Bytes
  /** Its place among such operations of the block. */
  readonly index: number
}

/** The part of a block that lists show. */
export interface BlockContent {
  readonly transactions: number
  /** Bytes. */
  readonly size: number
  /** Name outputs that set records. */
  readonly operations: number
  /** The last name outputs that set records, newest first. */
  readonly changes: ReadonlyArray<BlockChange>
}

export interface BlockSummary {
  readonly info: HeaderInfo
  /** `undefined` for a block that is not stored or not readable. */
  readonly content: BlockContent | undefined
}

/** Operations that are kept of a block. */
const MAX_CHANGES = 16

/** Blocks that are kept: more than any page shows. */
const CAPACITY = 64

/** Bytes of names with which a block is kept: more than its operations have, unless its coinbase has some. */
const MOST_BYTES = MAX_CHANGES * 255

const bytesOf = ({ changes }: BlockContent): number => changes.reduce((sum, { name }) => sum + name.length, 0)

const contentOf = (block: Block): BlockContent => {
  const changes: Array<BlockChange> = []
  for (const { outputs, txid, version } of block.transactions) {
    if (version !== NAME_TX_VERSION) continue
    for (const { script } of outputs) {
      const operation = parseNameScript(script)?.operation
      if (operation === undefined || operation.op === "name_new") continue
      // A copy: a view would keep the whole block in memory.
      changes.push({ name: operation.name.slice(), op: operation.op, txid: txid.slice(), index: changes.length })
    }
  }
  return {
    transactions: block.transactions.length,
    size: block.size,
    operations: changes.length,
    changes: changes.slice(-MAX_CHANGES).reverse()
  }
}

/** Summaries of the last blocks of the chain; it reads each block once. */
export class BlockSummaries {
  readonly #chain: typeof Chain.Service
  readonly #known = new Map<string, BlockContent>()

  constructor(chain: typeof Chain.Service) {
    this.#chain = chain
  }

  #content(hash: Bytes): Effect.Effect<BlockContent | undefined> {
    const key = binaryString(hash)
    const known = this.#known.get(key)
    if (known !== undefined) return Effect.succeed(known)
    return this.#chain.block(hash).pipe(
      Effect.map((block) => {
        const content = contentOf(block)
        if (bytesOf(content) <= MOST_BYTES) this.#known.set(key, content)
        for (const oldest of this.#known.keys()) {
          if (this.#known.size <= CAPACITY) break
          this.#known.delete(oldest)
        }
        return content
      }),
      Effect.zipLeft(turnOfEventLoop),
      Effect.orElseSucceed(() => undefined)
    )
  }

  /** The blocks of the best chain from a height downwards: the requested number, or fewer at the genesis block. */
  readonly newest = (from: Height, count: number): Effect.Effect<ReadonlyArray<BlockSummary>> =>
    Effect.gen(this, function*() {
      const found: Array<BlockSummary> = []
      for (let height = from; height >= 0 && found.length < count; height--) {
        const info = yield* this.#chain.headerAt(height)
        // Disconnected meanwhile.
        if (info === undefined) continue
        found.push({ info, content: yield* this.#content(info.hash) })
      }
      return found
    })
}
