import * as Effect from "effect/Effect"
import type { NameEntry } from "../names/NameEntry.ts"
import { decodeBlock } from "../protocol/block.ts"
import { fromHex } from "../protocol/bytes.ts"
import { DecodeError } from "../protocol/Reader.ts"
import type { Json } from "../rpc/json/json.ts"
import { blockNamesOf } from "./blockNames.ts"
import { type DaemonRpc, refused } from "./DaemonRpc.ts"
import type { DaemonFailure } from "./errors.ts"
import type { Freshness } from "./records.ts"
import { chainInfo, type HeaderPlace, headerPlace, reading, textReply } from "./replies.ts"

/** A block by its place in the chain. */
export interface DaemonBlock {
  /** In display order; empty before the first block. */
  readonly hash: string
  /** -1 before the first block. */
  readonly height: number
}

/** Reads blocks of a daemon. */
export const daemonBlockReader = (rpc: DaemonRpc) => {
  const ask = <A>(method: string, args: ReadonlyArray<string | number>, read: (reply: Json) => A | undefined) =>
    rpc.read(method, args).pipe(
      Effect.mapError(refused),
      Effect.flatMap((reply) => reading(method, reply, read))
    )

  const header = (blockHash: string): Effect.Effect<HeaderPlace, DaemonFailure> =>
    ask("getblockheader", [blockHash], headerPlace)

  const names = ({ hash, height }: DaemonBlock): Effect.Effect<ReadonlyArray<NameEntry>, DaemonFailure> =>
    ask("getblock", [hash, 0], (reply) => {
      const bytes = fromHex(textReply(reply) ?? "")
      try {
        return bytes === undefined ? undefined : blockNamesOf(decodeBlock(bytes), height)
      } catch (cause) {
        if (cause instanceof DecodeError) return undefined
        throw cause
      }
    })

  /** The tip, and the freshness of the daemon. */
  const tip: Effect.Effect<{ readonly at: DaemonBlock; readonly asOf: Freshness }, DaemonFailure> = Effect.gen(
    function*() {
      const { asOf, best } = yield* ask("getblockchaininfo", [], chainInfo)
      return { at: { hash: best, height: asOf.height }, asOf }
    }
  )

  return { ask, header, names, tip }
}
