import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { boolean, namedOptions, orEmpty, string, withDefault } from "../method/params.ts"
import { RPC_CODE, RpcError } from "../method/RpcError.ts"

/** Methods for files of mempools (reference/rpc.md 3.6). */

const DOWNLOADING = "Can only import the mempool after the block download and sync is done."
const UNUSABLE = "Unable to import mempool file, see debug.log for details."

export const mempoolFileMethods: Effect.Effect<ReadonlyArray<Method>, never, Mempool | SyncStatus> = Effect.gen(
  function*() {
    const pool = yield* Mempool
    const status = yield* SyncStatus

    const importmempool = method({
      name: "importmempool",
      writes: true,
      group: "Mempool",
      summary:
        "Offers the transactions of a file to the mempool. The file is that of savemempool, or the mempool.dat " +
        "of Namecoin Core. The log tells how many were accepted. Do not take over the rest of the file of another " +
        "operator.",
      params: {
        filepath: string("The file."),
        options: orEmpty(namedOptions({
          use_current_time: withDefault(
            boolean("Whether the transactions count as arriving now, not at the times of the file."),
            true
          ),
          apply_fee_delta_priority: withDefault(
            boolean("Whether to add the fee changes of the file to those of the node."),
            false
          ),
          apply_unbroadcast_set: withDefault(
            boolean("Whether to announce transactions that no peer of the other node had requested until a peer does."),
            false
          )
        }, "Options."))
      },
      results: [{ schema: Schema.Struct({}) }],
      examples: [["/path/to/mempool.dat"]],
      errors: [`-10 ${DOWNLOADING}`, `-1 ${UNUSABLE}`],
      handler: ({ filepath, options }) =>
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
        })
    })

    return [importmempool]
  }
)
