import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../../base/turns.ts"
import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { InvalidWalletRequest } from "../errors.ts"
import type { IndexParts } from "./fillLedger.ts"
import { BEYOND_PRUNED } from "./indexContent.ts"
import type { ScannedBlock } from "./scanBlocks.ts"

/** Blocks per turn of the event loop. */
const RESCAN_BLOCKS = 32

export interface Rescan {
  /** Both heights included. `to` defaults to the height of the index. */
  readonly rescan: (
    from: number,
    to: number | undefined
  ) => Effect.Effect<number, InvalidWalletRequest | StorageFailure>
  /** Stops after the current blocks. Returns whether a rescan was running that no earlier call had stopped. */
  readonly abortRescan: () => boolean
  readonly scanning: () => { readonly duration: number; readonly progress: number } | undefined
  readonly firstStored: () => number
  /** The chainstate was lost and is being rebuilt: no rescan is possible, and the index gets no blocks. */
  readonly behind: () => boolean
}

type RescanFailure = InvalidWalletRequest | StorageFailure

const rescanAborted = (): InvalidWalletRequest =>
  new InvalidWalletRequest({ code: "aborted", reason: "Rescan aborted." })

const chainIsBehind = (): InvalidWalletRequest =>
  new InvalidWalletRequest({
    code: "scanning",
    reason: "the chain has fewer blocks than the wallet has seen; wait until they are there again"
  })

/** `takeAgain` scans blocks and stores what it finds, unless a reorg disconnected them. */
export const makeRescan = (
  { chain, ledger }: Pick<IndexParts, "chain" | "ledger">,
  takeAgain: (blocks: ReadonlyArray<ScannedBlock>) => Effect.Effect<void, StorageFailure>
): Rescan => {
  const { tree } = chain
  let scan: { readonly since: number; progress: number; stopped: boolean } | undefined
  let elapsed = 0

  /** The follower handles blocks that a reorg disconnects meanwhile. */
  const read = (from: number, to: number): Effect.Effect<ReadonlyArray<ScannedBlock>, RescanFailure> =>
    Effect.gen(function*() {
      const blocks: Array<ScannedBlock> = []
      for (let height = from; height <= to; height++) {
        const id = tree.at(height)
        if (id === NO_HEADER) return yield* chainIsBehind()
        const hash = tree.hash(id).slice()
        blocks.push({ height, hash, block: yield* chain.block(hash) })
      }
      return blocks
    }).pipe(
      Effect.catchTag(
        "BlockNotFound",
        "BlockUnavailable",
        (failure) => new InvalidWalletRequest({ code: "missing", reason: `a block cannot be read: ${failure.message}` })
      )
    )

  /** A branch with more work may be briefly shorter, until the follower has rolled back. */
  const isBehind = (height: number): boolean => tree.height(tree.tip()) < height

  const firstStored = (): number => tree.losses.prunedTo === 0 ? 0 : tree.losses.prunedTo + 1

  const rescan = (from: number, to: number | undefined): Effect.Effect<number, RescanFailure> =>
    Effect.gen(function*() {
      if (scan !== undefined) {
        return yield* new InvalidWalletRequest({ code: "scanning", reason: "a rescan is already running" })
      }
      if (from < firstStored()) {
        return yield* new InvalidWalletRequest({ code: "pruned", reason: BEYOND_PRUNED })
      }
      const running = { since: yield* Clock.currentTimeMillis, progress: 0, stopped: false }
      scan = running
      elapsed = 0
      const goal = (): number => Math.min(to ?? ledger.tip.height, ledger.tip.height)
      return yield* Effect.gen(function*() {
        if (isBehind(goal())) return yield* chainIsBehind()
        ledger.lookAgain("all")
        for (let next = from; next <= goal(); next += RESCAN_BLOCKS) {
          const end = Math.min(goal(), next + RESCAN_BLOCKS - 1)
          yield* takeAgain(yield* read(next, end))
          running.progress = Math.min(1, (end - from + 1) / Math.max(1, goal() - from + 1))
          elapsed = (yield* Clock.currentTimeMillis) - running.since
          yield* turnOfEventLoop
          if (running.stopped && end < goal()) return yield* rescanAborted()
        }
        return goal()
      }).pipe(Effect.ensuring(Effect.sync(() => void (scan = undefined))))
    }).pipe(Effect.withSpan("svcd.wallet.rescan", { attributes: { from } }))

  return {
    rescan,
    abortRescan: () => scan !== undefined && !scan.stopped && (scan.stopped = true),
    scanning: () => scan === undefined ? undefined : { duration: Math.floor(elapsed / 1000), progress: scan.progress },
    firstStored,
    behind: () => isBehind(ledger.tip.height)
  }
}
