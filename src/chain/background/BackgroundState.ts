import { connectBlock } from "../../consensus/connectBlock.ts"
import { isExpired } from "../../consensus/expiry.ts"
import { blockFlags } from "../../consensus/flags.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { type Reject, reject } from "../../consensus/Reject.ts"
import { decodeBlock } from "../../protocol/block.ts"
import { type Bytes, fromBinaryString } from "../../protocol/bytes.ts"
import { type Height, type NameKey, nameKey } from "../../protocol/keys.ts"
import { DecodeError } from "../../protocol/Reader.ts"
import { claimOf } from "../snapshot/ClaimsOfCoins.ts"
import { ChainDatabase } from "../state/ChainDatabase.ts"
import { encodeUndo } from "../state/coinCodec.ts"
import { CoinStats } from "../state/coinStats.ts"
import { CoinStore } from "../state/CoinStore.ts"
import { verifyChecks } from "../write/verifyChecks.ts"
import { scriptReject } from "../write/verifyMessage.ts"
import { medianTimeAt } from "./medianTimeAt.ts"

/** What the thread of the background needs. All of it passes through a message. */
export interface BackgroundOptions {
  readonly directory: string
  readonly pageSize: number
  readonly params: ConsensusParams
  /** The times of the headers up to the base, by height. */
  readonly times: Uint32Array
  /** Bytes that coins may use in memory before a flush. */
  readonly cacheBytes: number
}

/** A stored block, whose checks without coins were passed when it was stored. */
export interface BlockBelow {
  readonly height: Height
  /** Wire order. */
  readonly hash: Bytes
  readonly bytes: Bytes
  readonly checkScripts: boolean
}

export interface Connection {
  /** The undo data of the connected blocks, in order. */
  readonly undo: ReadonlyArray<Uint8Array>
  /** Why the block after them is refused. */
  readonly refused: Reject | undefined
  /** Whether the coins use more memory than their budget. */
  readonly flushDue: boolean
}

export interface Comparison {
  /** Coins and claims seen so far. */
  readonly seen: number
  readonly result: ComparedState | undefined
}

/** The state at the base, as the blocks lead to it. */
export interface ComparedState {
  readonly coins: number
  /** `hash_serialized_3`, wire order. */
  readonly hash: Uint8Array
  /** Where the claims do not follow from the coins; `undefined` if they do. */
  readonly difference: string | undefined
}

const shown = (name: NameKey): string => JSON.stringify(name)

/** Compares the coins and claims of a state step by step: coins against claims, then the number of claims. */
class Comparing {
  private readonly database: ChainDatabase
  private readonly params: ConsensusParams
  private readonly height: Height
  private readonly stats = new CoinStats("hash_serialized_3")
  private coin: string | undefined
  private name: NameKey | undefined
  private phase: "coins" | "claims" = "coins"
  private seen = 0
  private coins = 0
  /** Names that coins hold, less the claims that are not expired. */
  private balance = 0
  private difference: string | undefined

  constructor(
    database: ChainDatabase,
    { height, params }: { readonly height: Height; readonly params: ConsensusParams }
  ) {
    this.database = database
    this.height = height
    this.params = params
  }

  step(limit: number): Comparison {
    const more = this.phase === "coins" ? this.stepCoins(limit) : this.stepClaims(limit)
    if (more) return { seen: this.seen, result: undefined }
    if (this.balance !== 0) {
      this.difference ??= `${Math.abs(this.balance)} claims ${this.balance > 0 ? "are missing" : "have no coin"}`
    }
    const hash = this.stats.finish().hash ?? new Uint8Array(32)
    return { seen: this.seen, result: { coins: this.coins, hash, difference: this.difference } }
  }

  private stepCoins(limit: number): boolean {
    const rows = this.database.coinsAfter(this.coin, limit)
    for (const [key, coin] of rows) {
      const outpoint = fromBinaryString(key)
      this.stats.add(outpoint, coin)
      const found = claimOf({ outpoint, coin }, this.height, this.params)
      if (found === undefined || found === "unclear") continue
      this.balance++
      const name = nameKey(found.name)
      const claim = this.database.claim(name)
      if (claim?.height !== found.claim.height || claim.outpoint !== found.claim.outpoint) {
        this.difference ??= `the claim of the name ${shown(name)} is not that of its coin`
      }
    }
    this.coin = rows.at(-1)?.[0]
    this.coins += rows.length
    this.seen += rows.length
    if (this.coin === undefined) this.phase = "claims"
    return true
  }

  private stepClaims(limit: number): boolean {
    const rows = this.database.claimsAfter(this.name, limit)
    for (const [, claim] of rows) if (!isExpired(claim, this.height + 1, this.params)) this.balance--
    this.name = rows.at(-1)?.[0]
    this.seen += rows.length
    return rows.length > 0
  }
}

/**
 * Coins and claims in a database of their own, which grow by the blocks below the base of a snapshot. It goes forward
 * only, from tip to tip in one commit. It has no headers and no block files: the caller has them. Methods throw
 * `StorageFailure`.
 */
export class BackgroundState {
  private readonly options: BackgroundOptions
  private readonly database: ChainDatabase
  private readonly coins: CoinStore
  private readonly headerCount: number
  private best: Bytes
  private comparing: Comparing | undefined

  constructor(options: BackgroundOptions) {
    this.options = options
    this.database = new ChainDatabase(options.directory, options.pageSize)
    this.coins = new CoinStore(this.database)
    try {
      const stored = this.database.state()
      this.headerCount = stored?.headerCount ?? 1
      this.best = stored?.bestHash ?? options.params.network.genesisHash
    } catch (cause) {
      this.database.close()
      throw cause
    }
  }

  /** The hash of the last connected block, wire order. */
  get tip(): Bytes {
    return this.best
  }

  /** Connects blocks that follow the last one, up to the first that is refused. */
  connect(blocks: ReadonlyArray<BlockBelow>): Connection {
    const undo: Array<Uint8Array> = []
    for (const block of blocks) {
      const made = this.connectOne(block)
      if ("reason" in made) return { undo, refused: made, flushDue: this.flushDue }
      undo.push(made)
      this.best = block.hash
    }
    return { undo, refused: undefined, flushDue: this.flushDue }
  }

  private get flushDue(): boolean {
    return this.coins.memory > this.options.cacheBytes
  }

  private connectOne({ bytes, checkScripts, height }: BlockBelow): Uint8Array | Reject {
    const { params, times } = this.options
    const flags = blockFlags(height, params)
    const block = decoded(bytes)
    if (block === undefined) return reject("bad-block-encoding")
    const result = connectBlock({
      block,
      height,
      params,
      flags,
      view: this.coins,
      medianTimePast: medianTimeAt(times, height - 1),
      medianTimePastAt: (other) => medianTimeAt(times, other),
      checkScripts
    })
    const failed = verifyChecks("reject" in result ? result.scripts : result.delta.scripts, { block: 0, flags })
    if (failed !== undefined) return scriptReject(failed, "block")
    if ("reject" in result) return result.reject
    this.coins.apply(result.delta.coins, result.delta.claims)
    return encodeUndo(result.delta)
  }

  flush(): void {
    const { cacheBytes } = this.options
    this.coins.flush({ pages: [], headerCount: this.headerCount, bestHash: this.best }, cacheBytes / 2)
    this.database.committed()
  }

  /** Compares the next coins or claims of the base block, which is connected and stored. */
  compare({ height, limit }: { readonly height: Height; readonly limit: number }): Comparison {
    this.comparing ??= new Comparing(this.database, { height, params: this.options.params })
    return this.comparing.step(limit)
  }

  close(): void {
    this.database.close()
  }
}

/** A block; `undefined` if the bytes are none. */
const decoded = (bytes: Bytes) => {
  try {
    return decodeBlock(bytes)
  } catch (cause) {
    if (cause instanceof DecodeError) return undefined
    throw cause
  }
}
