import * as Effect from "effect/Effect"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { DOWNLOADING, IMPORTMEMPOOL, UNUSABLE } from "../contract/mempool/mempoolFile.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { RPC_CODE, RpcError } from "../method/RpcError.ts"

/** Methods for files of mempools (reference/rpc.md 3.6). */

export const mempoolFileMethods: Effect.Effect<ReadonlyArray<Method>, never, Mempool | SyncStatus> = Effect.gen(
  function*() {
    const pool = yield* Mempool
    const status = yield* SyncStatus

    const importmempool = method(IMPORTMEMPOOL, ({ filepath, options }) =>
      Effect.gen(function*() {
        if (yield* status.initialDownload) {
          return yield* new RpcError({ code: RPC_CODE.initialDownload, message: DOWNLOADING })
        }
        yield* pool.importFrom(filepath, {
          useCurrentTime: options.use_current_time,
          applyDeltas: options.apply_fee_delta_priority,
          applyUnbroadcast: options.apply_unbroadcast_set
        }).pipe(
          Effect.tapError(({ message }) => Effect.logError("a mempool file cannot be imported", { reason: message })),
          Effect.mapError(() => RpcError.misc(UNUSABLE))
        )
        return {}
      }))

    return [importmempool]
  }
)
