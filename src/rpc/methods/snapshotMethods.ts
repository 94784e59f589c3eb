import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Chain } from "../../chain/Chain.ts"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import { Snapshots } from "../../chain/Snapshots.ts"
import { difficultyOf, targetOf } from "../../consensus/difficulty.ts"
import { SyncReporter } from "../../light/SyncReporter.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { displayHash } from "../../protocol/bytes.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { namedOptions, optional, orEmpty, string, withDefault } from "../method/params.ts"
import * as Result from "../method/results.ts"
import { RpcError } from "../method/RpcError.ts"
import { compactBits, wide } from "./chainMethods.ts"
import { storageError } from "./errors.ts"
import { BLOCK_ERRORS, findBlock, hashOrHeight } from "./hashOrHeight.ts"

/** Methods for snapshots of the coins (reference/rpc.md 3.2). Source: upstream `rpc/blockchain.cpp`, `dumptxoutset`. */

const WRITTEN = Schema.Struct({
  coins_written: Result.integer("Coins in the file"),
  base_hash: Result.hex("Hash of the base block"),
  base_height: Result.integer("Height of the base block"),
  path: Result.string("Absolute path of the file"),
  txoutset_hash: Result.hex("Hash over all coins, as gettxoutsetinfo returns it (hash_serialized_3)"),
  nchaintx: Result.integer("Transactions of the chain up to the base block")
})

const LOADED = Schema.Struct({
  coins_loaded: Result.integer("Coins in the file"),
  tip_hash: Result.hex("Hash of the base block"),
  base_height: Result.integer("Height of the base block"),
  path: Result.string("Absolute path of the file")
})

const CHAINSTATE = Schema.Struct({
  blocks: Result.integer("Height of its last block"),
  bestblockhash: Result.hex("Hash of its last block"),
  bits: Result.hex("Target of its last block in the short form of headers"),
  target: Result.hex("That target"),
  difficulty: Result.number("Difficulty of its last block"),
  verificationprogress: Result.number(
    "Checked part of the chain, 0 to 1, as in getblockchaininfo; of a second state, by its height"
  ),
  coins_db_cache_bytes: Result.integer("Bytes of memory for pages of the database"),
  coins_tip_cache_bytes: Result.integer("Bytes of memory for coins"),
  snapshot_blockhash: Schema.optional(
    Result.hex("Hash of the base block of the snapshot that it began with; absent once that is validated")
  ),
  validated: Result.boolean("Whether all its blocks are validated: false if it began with a snapshot, until then")
})

/** SQLite's page cache of one connection, as every database of the node has it. */
const DATABASE_CACHE_BYTES = 2_048_000

const CHAINSTATES = Schema.Struct({
  headers: Result.integer("Height of the known header with the most work"),
  chainstates: Schema.Array(CHAINSTATE)
})

interface StateFacts {
  readonly cacheBytes: number
  /** 0 to 1. */
  readonly part: number
}

export const snapshotMethods: Effect.Effect<
  ReadonlyArray<Method>,
  never,
  Chain | Mempool | Snapshots | SyncReporter
> = Effect.gen(function*() {
  const chain = yield* Chain
  const pool = yield* Mempool
  const snapshots = yield* Snapshots
  const reporter = yield* SyncReporter

  const dumptxoutset = method({
    name: "dumptxoutset",
    group: "Blockchain",
    summary:
      "Writes the coins of a block to a file that loadtxoutset of svcd and of the reference node reads. The node goes " +
      "on connecting blocks, and its tip does not change for an earlier block.",
    // All coins take minutes: the file is removed if the node stops or the caller disconnects.
    waits: true,
    params: {
      path: string("The file, relative to the data directory. It must not exist."),
      type: withDefault(string("latest for the tip, rollback for the block of that option."), ""),
      options: orEmpty(namedOptions({ rollback: optional(hashOrHeight("The block, by hash or height.")) }, "Options."))
    },
    results: [{ schema: WRITTEN }],
    examples: [["utxo.dat", "latest"], ["utxo.dat", "rollback", { rollback: 800000 }]],
    errors: [
      "-8 Invalid snapshot type \"<x>\" specified with rollback option",
      "-8 Invalid snapshot type \"<x>\" specified. Please specify \"rollback\" or \"latest\"",
      "-8 <path> already exists. If you are sure this is what you want, move it out of the way first",
      "-8 Couldn't open file <path>.incomplete for writing.",
      "-1 Could not roll back to requested height.",
      ...BLOCK_ERRORS
    ],
    handler: ({ options: { rollback }, path, type }) =>
      Effect.gen(function*() {
        if (rollback !== undefined && type !== "" && type !== "rollback") {
          return yield* RpcError.invalidParameter(`Invalid snapshot type "${type}" specified with rollback option`)
        }
        if (rollback === undefined && type !== "latest") {
          const hint = type === "rollback" ? "the option rollback, or" : "\"rollback\" or"
          return yield* RpcError.invalidParameter(
            `Invalid snapshot type "${type}" specified. Please specify ${hint} "latest"`
          )
        }
        const base = rollback === undefined ? "tip" : chain.tree.find((yield* findBlock(chain, rollback)).hash)
        const written = yield* snapshots.dump(path, base)
        return {
          coins_written: written.coins,
          base_hash: displayHash(written.base),
          base_height: written.height,
          path: snapshots.pathOf(path),
          txoutset_hash: displayHash(written.hash),
          nchaintx: written.transactions
        }
      }).pipe(
        Effect.catchTags({
          SnapshotRefused: ({ cause, reason }) =>
            cause === "path" ? RpcError.invalidParameter(reason) : RpcError.misc(reason),
          StorageCorrupted: storageError,
          StorageUnavailable: storageError
        })
      )
  })

  const loadtxoutset = method({
    name: "loadtxoutset",
    group: "Blockchain",
    summary:
      "Loads the coins and the names of a file that dumptxoutset wrote, and continues from its base block. The blocks up to " +
      "that block are validated in the background: see getchainstates. The headers up to that block must be known, and the hash of the coins must be that of -snapshothash, " +
      "or known to this version.",
    waits: true,
    params: { path: string("The file, relative to the data directory.") },
    results: [{ schema: LOADED }],
    examples: [["utxo.dat"]],
    errors: [
      "-8 Couldn't open file <path> for reading.",
      "-22 Unable to parse metadata: <reason>",
      "-32603 Unable to load UTXO snapshot: <reason>. (<path>)"
    ],
    handler: ({ path }) =>
      Effect.gen(function*() {
        if (pool.info().size > 0) {
          const reason = "Can't activate a snapshot when mempool not empty"
          return yield* RpcError.internal(`Unable to load UTXO snapshot: ${reason}. (${snapshots.pathOf(path)})`)
        }
        const { base, coins, height } = yield* snapshots.load(path)
        return {
          coins_loaded: coins,
          tip_hash: displayHash(base),
          base_height: height,
          path: snapshots.pathOf(path)
        }
      }).pipe(
        Effect.catchTags({
          SnapshotRefused: ({ cause, file, reason }) => {
            if (cause === "path") return RpcError.invalidParameter(reason)
            if (cause === "metadata") return RpcError.deserialization(`Unable to parse metadata: ${reason}`)
            return RpcError.internal(`Unable to load UTXO snapshot: ${reason}. (${file})`)
          },
          StorageCorrupted: storageError,
          StorageUnavailable: storageError
        })
      )
  })

  const getchainstates = method({
    name: "getchainstates",
    right: "read",
    group: "Blockchain",
    summary:
      "Returns the chain states of the node, the one in use last. After a snapshot was loaded there are two until the " +
      "blocks below its base are validated: the first connects them from genesis, the second began with the snapshot.",
    params: {},
    results: [{ schema: CHAINSTATES }],
    examples: [[]],
    handler: () =>
      Effect.gen(function*() {
        const tip = yield* chain.toldTip
        const { headers } = yield* chain.progress
        const base = yield* snapshots.base
        const background = base === undefined ? undefined : yield* snapshots.background
        const verified = yield* reporter.verified
        const stateAt = ({ hash, header: { bits }, height }: HeaderInfo, { cacheBytes, part }: StateFacts) => ({
          blocks: height,
          bestblockhash: displayHash(hash),
          bits: compactBits(bits),
          target: wide(targetOf(bits, chain.params.powLimit) ?? 0n),
          difficulty: difficultyOf(bits),
          verificationprogress: part,
          coins_db_cache_bytes: DATABASE_CACHE_BYTES,
          coins_tip_cache_bytes: cacheBytes
        })
        const inUse = {
          ...stateAt(tip, { cacheBytes: snapshots.cacheBytes.inUse, part: verified }),
          snapshot_blockhash: base === undefined ? undefined : displayHash(base.hash),
          validated: base === undefined
        }
        if (background === undefined) return { headers, chainstates: [inUse] }
        const part = Math.min(1, background.height / Math.max(1, headers))
        const below = {
          ...stateAt(background, { cacheBytes: snapshots.cacheBytes.background, part }),
          validated: true
        }
        return { headers, chainstates: [below, inUse] }
      })
  })

  return [dumptxoutset, loadtxoutset, getchainstates]
})
