import type { BlockUndo } from "../../consensus/connectBlock.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { decodeBlock } from "../../protocol/block.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { HeaderId } from "../../protocol/keys.ts"
import { BlockFiles } from "../../storage/BlockFiles.ts"
import { StorageCorrupted, StorageUnavailable } from "../../storage/errors.ts"
import { recordChecksum } from "../../storage/recordChecksum.ts"
import { BlockIndex, GENESIS, NONE, Status } from "../index/BlockIndex.ts"
import { PAGE_RECORDS } from "../index/headerPage.ts"
import { removePruned } from "../prune/pruneFiles.ts"
import { requestRebuild } from "../repair/rebuild.ts"
import { cutTails, repairFiles, type Tail } from "../repair/repairFiles.ts"
import { ActiveChain } from "./ActiveChain.ts"
import { writeRules } from "./appliedRules.ts"
import { ChainDatabase } from "./ChainDatabase.ts"
import { encodedUndo } from "./coinCodec.ts"

export interface ChainStoresOptions {
  readonly params: ConsensusParams
  readonly blocksDirectory: string
  readonly chainstateDirectory: string
  readonly pageSize: number
  /** Bytes; `MAX_FILE_SIZE` if omitted. */
  readonly maxFileSize?: number
  /** Called synchronously when chainstate.db is found damaged. The next start rebuilds it. */
  readonly onDamage?: (damage: StorageCorrupted) => void
}

const NOTHING_UNDONE: BlockUndo = { removed: new Map(), claimsBefore: new Map() }

/** Block files, database and header tree, loaded and made consistent after a crash. */
export class ChainStores {
  readonly index = new BlockIndex()
  readonly active = new ActiveChain(this.index)
  readonly files: BlockFiles
  private open: ChainDatabase
  private directory: string
  private readonly said: Array<string> = []
  private readonly options: ChainStoresOptions
  private readonly tails: ReadonlyArray<Tail>

  /** Throws `StorageFailure`. */
  constructor(options: ChainStoresOptions) {
    this.options = options
    this.directory = options.chainstateDirectory
    this.files = new BlockFiles(options.blocksDirectory, options.params.network.magic, options.maxFileSize)
    try {
      this.open = this.openDatabase(options.chainstateDirectory)
    } catch (cause) {
      this.files.close()
      throw cause
    }
    try {
      const stored = this.database.state()
      if (stored === undefined) this.begin()
      else this.load(stored.headerCount, stored.bestHash)
      const freed = removePruned(this.index, this.files)
      if (freed > 0) this.said.push(`removed ${freed} bytes of pruned blocks that the last run left behind`)
      const mended = stored === undefined ? { said: [], tails: [] } : repairFiles(this.index, this.files)
      this.said.push(...mended.said)
      this.tails = mended.tails
      if (this.strayFiles().length === 0) this.storeGenesis()
    } catch (cause) {
      this.close()
      throw cause
    }
  }

  private openDatabase(directory: string): ChainDatabase {
    return new ChainDatabase(directory, this.options.pageSize, (damage) => {
      requestRebuild({ chainstateDirectory: directory, reason: damage.found })
      this.options.onDamage?.(damage)
    })
  }

  get database(): ChainDatabase {
    return this.open
  }

  isIn(directory: string): boolean {
    return this.directory === directory
  }

  /** Stores the whole index, and a base block as the tip, in a database with the coins of that block. Throws. */
  prepare(directory: string, base: HeaderId): ChainDatabase {
    const database = this.openDatabase(directory)
    this.index.restoreDirtyPages(Array(Math.ceil(this.index.count / PAGE_RECORDS)).keys())
    try {
      database.commit({
        pages: this.index.takeDirtyPages(),
        headerCount: this.index.count,
        bestHash: this.index.hash(base),
        coins: [],
        spent: [],
        claims: []
      })
      database.copyLog()
      writeRules(directory, this.options.params.activation)
      return database
    } catch (cause) {
      database.close()
      throw cause
    }
  }

  /** Continues on a database from `prepare`, and closes the one in use. */
  continueOn(
    database: ChainDatabase,
    { base, directory }: { readonly base: HeaderId; readonly directory: string }
  ): void {
    const before = this.open
    this.open = database
    this.directory = directory
    this.active.become(base)
    before.close()
  }

  private begin(): void {
    const genesis = decodeBlock(this.options.params.network.genesisBlock)
    this.active.become(this.index.add(genesis.header, NONE))
    this.index.addStatus(GENESIS, Status.VALID)
    for (const file of this.files.numbers("undo")) this.files.cut("undo", file, { end: 0 })
    this.index.setUndo(GENESIS, this.files.appendUndo(genesis.hash, encodedUndo(NOTHING_UNDONE)))
    // Existing block files are kept: they may hold a chain whose index was deleted.
    if (this.strayFiles().length === 0) this.storeGenesis()
  }

  private load(headerCount: number, bestHash: Bytes): void {
    try {
      this.index.load(this.database.pages(), headerCount)
    } catch (cause) {
      if (cause instanceof StorageCorrupted || cause instanceof StorageUnavailable) throw cause
      throw this.database.corrupted(`the block index does not load (${String(cause)})`)
    }
    const genesis = this.index.find(this.options.params.network.genesisHash)
    const tip = this.index.find(bestHash)
    if (genesis !== GENESIS || tip === NONE) throw this.database.corrupted("the best block is not in the block index")
    this.active.become(tip)
  }

  /** Stores the genesis block if it is missing. This also ends a rebuild: see `strayFiles`. */
  storeGenesis(): void {
    if (this.index.has(GENESIS, Status.HAVE_DATA | Status.PRUNED)) return
    const genesis = decodeBlock(this.options.params.network.genesisBlock)
    const place = this.files.appendBlock(genesis.bytes)
    const [txCount, checksum] = [genesis.transactions.length, recordChecksum(genesis.bytes)]
    this.index.setData(GENESIS, { place, txCount, checksum })
  }

  /**
   * The block files, if unindexed or incompletely indexed because the index was deleted and must be rebuilt. Genesis is
   * indexed last, so that an interrupted rebuild is resumed.
   */
  strayFiles(): ReadonlyArray<string> {
    if (this.index.has(GENESIS, Status.HAVE_DATA | Status.PRUNED)) return []
    const numbers = this.files.numbers("blk")
    if (!numbers.some((file) => this.files.sizeOf("blk", file) > 0)) return []
    return numbers.map((file) => this.files.path("blk", file))
  }

  /** Where the part after the last indexed record began at the start of the node, by block file. */
  tailStarts(): ReadonlyMap<string, number> {
    return new Map(this.tails.map(({ file, from }) => [this.files.path("blk", file), from]))
  }

  /** Cuts these parts off after their last block, once their blocks are indexed. */
  cutTails(): void {
    this.said.push(...cutTails(this.index, this.files, this.tails))
  }

  get blocksDirectory(): string {
    return this.options.blocksDirectory
  }

  /** Repairs at the start, for the operator. */
  repairs(): ReadonlyArray<string> {
    return this.said
  }

  noteRepair(said: string): void {
    this.said.push(said)
  }

  blockFilesSize(): number {
    return this.files.sizeOnDisk
  }

  /** Bytes of the database of coins, claims and headers. Throws `StorageFailure`. */
  databaseSize(): number {
    return this.database.size()
  }

  /** The error of a chain state that must be rebuilt from the blocks, which the next start does. */
  beyondRepair(found: string): StorageCorrupted {
    requestRebuild({ chainstateDirectory: this.directory, reason: found })
    const remedy = "Start the node again: it rebuilds the chain state from the stored blocks"
    return new StorageCorrupted({ file: this.database.file, found, remedy })
  }

  close(): void {
    this.files.close()
    this.database.close()
  }
}
