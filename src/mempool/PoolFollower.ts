import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../base/turns.ts"
import { attempt } from "../chain/attempt.ts"
import type { Chain } from "../chain/Chain.ts"
import type { ChainCoins } from "../chain/ChainCoins.ts"
import type { TipState } from "../chain/state/TipState.ts"
import { applied, type ConnectedBlock, type Cursor, type Follower } from "../chain/write/Follower.ts"
import type { Block } from "../protocol/block.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { TxidKey } from "../protocol/keys.ts"
import type { Transaction } from "../protocol/transaction.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { Admission } from "./admission.ts"
import type { RollingFee } from "./fees/RollingFee.ts"
import { removeExpiredUpdates, removeInvalid, removeMined, trimCluster } from "./maintenance.ts"
import type { Policy } from "./policy/Policy.ts"
import type { Pool } from "./Pool.ts"

/** Bytes of disconnected blocks whose transactions are offered again (upstream `MAX_DISCONNECTED_TX_POOL_BYTES`). */
const MAX_BYTES = 20_000_000

/** Blocks of an invalidated branch whose transactions are offered again (upstream `Chainstate::InvalidateBlock`). */
const MAX_INVALIDATED = 10

export interface PoolFollowerParts {
  readonly chain: typeof Chain.Service
  readonly chainCoins: typeof ChainCoins.Service
  readonly pool: Pool
  readonly rolling: RollingFee
  readonly admission: Admission
  readonly policy: Policy
  /** Seconds since 1970. */
  readonly now: () => number
  readonly tell: Effect.Effect<void>
}

/**
 * Keeps the pool in step with the chain. A connected block removes its transactions. After a reorg, the transactions of
 * disconnected blocks are offered again, oldest first, and then all invalid transactions are removed.
 */
export const makePoolFollower = (
  { admission, chain, chainCoins, now, policy, pool, rolling, tell }: PoolFollowerParts
): Follower => {
  const { params } = chain
  let cursor: Cursor | undefined
  /** Disconnected blocks in chain order, and the keys of their transactions. */
  let disconnected: ReadonlyArray<Block> = []
  let disconnectedKeys: ReadonlySet<TxidKey> = new Set()
  const minedAgain = new Set<TxidKey>()
  let rewound = false

  const apply = (blocks: ReadonlyArray<ConnectedBlock>): Effect.Effect<void, StorageFailure> =>
    Effect.gen(function*() {
      const state = yield* chainCoins.tipState
      yield* attempt(() => {
        for (const { block } of blocks) {
          removeMined(pool, block)
          if (disconnected.length === 0) continue
          for (const { txidKey } of block.transactions) if (disconnectedKeys.has(txidKey)) minedAgain.add(txidKey)
        }
        // After a reorg, `arrived` checks the whole pool.
        if (!rewound) removeExpiredUpdates(pool, state, params)
      })
      rolling.blockConnected(now())
      cursor = blocks.at(-1) ?? cursor
      yield* tell
    }).pipe(Effect.withSpan("svcd.mempool.apply", { attributes: applied(blocks) }))

  /** Reads a block. If it is unreadable, only its transactions cannot return to the pool. */
  const blockOf = (hash: Bytes): Effect.Effect<Block | undefined> =>
    Effect.catchAll(
      chain.block(hash),
      (failure) =>
        Effect.as(Effect.logDebug("a disconnected block cannot be read", { reason: failure.message }), undefined)
    )

  /**
   * The blocks above `to` in chain order. Beyond the byte limit, the highest are left out, because no other block needs
   * them. Of a branch that the operator invalidated, only the highest `MAX_INVALIDATED` are taken.
   */
  const blocksAbove = (to: Cursor, from: Cursor): Effect.Effect<ReadonlyArray<Block>> =>
    Effect.gen(function*() {
      const { tree } = chain
      const most = tree.isFailed(tree.find(from.hash)) ? MAX_INVALIDATED - disconnected.length : Infinity
      const taken: Array<Block> = [...disconnected]
      let bytes = taken.reduce((sum, { size }) => sum + size, 0)
      let { hash } = from
      for (let { height } = from; height > to.height && from.height - height < most; height--) {
        const block = yield* blockOf(hash)
        if (block === undefined) break
        taken.unshift(block)
        bytes += block.size
        for (let last = taken.at(-1); bytes > MAX_BYTES && last !== undefined; last = taken.at(-1)) {
          bytes -= last.size
          taken.pop()
        }
        hash = block.header.prevHash
      }
      return taken
    })

  const rewind = (to: Cursor): Effect.Effect<void> =>
    Effect.gen(function*() {
      if (cursor !== undefined) {
        disconnected = yield* blocksAbove(to, cursor)
        disconnectedKeys = new Set(disconnected.flatMap(({ transactions }) => transactions.map((one) => one.txidKey)))
      }
      cursor = to
      rewound = true
    }).pipe(Effect.withSpan("svcd.mempool.rewind", { attributes: { height: to.height } }))

  /** Offers a transaction again. If refused, its descendants in the pool are removed. */
  const offerAgain = (state: TipState, transaction: Transaction): Effect.Effect<void, StorageFailure> => {
    const drop = Effect.sync(() => pool.removeAll(pool.childrenOf(transaction), "reorg"))
    if (transaction.isCoinbase) return drop
    return admission.admit(state, transaction, { origin: "mined", time: now() }).pipe(
      Effect.tap(() => Effect.sync(() => trimCluster(pool, transaction.txidKey, policy.cluster))),
      Effect.catchTag("TransactionRejected", () => drop),
      Effect.asVoid
    )
  }

  /** The end of a reorg. */
  const offerAll: Effect.Effect<void, StorageFailure> = Effect.gen(function*() {
    const state = yield* chainCoins.tipState
    for (const transaction of disconnected.flatMap(({ transactions }) => transactions)) {
      if (minedAgain.has(transaction.txidKey) || pool.has(transaction.txidKey)) continue
      yield* offerAgain(state, transaction)
      yield* turnOfEventLoop
    }
    disconnected = []
    disconnectedKeys = new Set()
    minedAgain.clear()
    rewound = false
    yield* attempt(() => removeInvalid(pool, state, params))
    admission.tidy()
    yield* tell
  }).pipe(Effect.withSpan("svcd.mempool.reorg"))

  const arrived = Effect.suspend(() => rewound ? offerAll : Effect.void)

  return {
    name: "mempool",
    last: true,
    // The pool is empty when registered, so it begins at the tip.
    cursor: Effect.map(chain.tip, ({ hash, height }) => cursor ??= { hash, height }),
    apply,
    rewind,
    // The pool was empty before the snapshot was loaded. Transactions that arrived since then are checked again.
    adopt: ({ at }) =>
      Effect.sync(() => {
        cursor = at
        rewound = true
        return true
      }),
    arrived
  }
}
