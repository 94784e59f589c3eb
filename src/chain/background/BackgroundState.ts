import { connectBlock } from "../../consensus/connectBlock.ts"
import { isExpired } from "../../consensus/expiry.ts"
import { blockFlags } from "../../consensus/flags.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { type Reject, reject } from "../../consensus/Reject.ts"
import { decodeBlock } from "../../protocol/block.ts"
import { type Bytes, fromBinaryString } from "../../protocol/bytes.ts"
import { type Height, type NameKey, nameKey } from "../../protocol/keys.ts"
import { decodedIf } from "../../protocol/Reader.ts"
import { claimOf } from "../snapshot/ClaimsOfCoins.ts"
import { ChainDatabase } from "../state/ChainDatabase.ts"
import { encodeUndo } from "../state/coinCodec.ts"
import { CoinStats } from "../state/coinStats.ts"
import { CoinStore } from "../state/CoinStore.ts"
import { verifyChecks } from "../write/verifyChecks.ts"
import { scriptReject } from "../write/verifyMessage.ts"
import { medianTimeAt } from "./medianTimeAt.ts"

/** What the background thread needs, sent in a message. */
export interface BackgroundOptions {
  readonly directory: string
  readonly pageSize: number
  readonly params: ConsensusParams
  /** The times of the headers up to the base, by height. */
  readonly times: Uint32Array
  /** Bytes of coins in memory before a flush is due. */
  readonly cacheBytes: number
}

/** A stored block, which passed its checks without coins when it was stored. */
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
  readonly flushDue: boolean
}

export interface Comparison {
  readonly seen: number
  readonly result: ComparedState | undefined
}

/** The state at the base according to the blocks. */
export interface ComparedState {
  readonly coins: number
  /** `hash_serialized_3`, wire order. */
  readonly hash: Uint8Array
  /** Where the claims do not follow from the coins, if anywhere. */
  readonly difference: string | undefined
}

const shown = (name: NameKey): string => JSON.stringify(name)

/** Compares a state step by step: coins against claims, then the number of claims. */
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
  /** Names held by coins, minus unexpired claims. */
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
 * Coins and claims in a database of their own, built from the blocks below the base of a snapshot. Only goes forward,
 * from tip to tip in one commit. The caller has the headers and block files. Methods throw `StorageFailure`.
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

  /** Connects the next blocks up to the first refused one. */
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
    const block = decodedIf(() => decodeBlock(bytes))
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

  /** Compares the next coins or claims at the base block, which is connected and stored. */
  compare({ height, limit }: { readonly height: Height; readonly limit: number }): Comparison {
    this.comparing ??= new Comparing(this.database, { height, params: this.options.params })
    return this.comparing.step(limit)
  }

  close(): void {
    this.database.close()
  }
}
