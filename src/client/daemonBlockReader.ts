import * as Effect from "effect/Effect"
import type { NameEntry } from "../names/NameEntry.ts"
import { decodeBlock } from "../protocol/block.ts"
import { fromHex } from "../protocol/bytes.ts"
import { decodedIf } from "../protocol/Reader.ts"
import { GETBLOCK, GETBLOCKHEADER } from "../rpc/contract/chain/block.ts"
import { GETBLOCKCHAININFO } from "../rpc/contract/chain/chain.ts"
import type { Json } from "../rpc/json/json.ts"
import type { CallOf } from "../rpc/method/calling.ts"
import type { Contract } from "../rpc/method/contract.ts"
import { blockNamesOf } from "./blockNames.ts"
import { type DaemonRpc, refused } from "./DaemonRpc.ts"
import type { DaemonFailure } from "./errors.ts"
import type { Freshness } from "./records.ts"
import { chainInfo, type HeaderPlace, headerPlace, reading, textReply } from "./replies.ts"

export interface DaemonBlock {
  /** In display order; empty before the first block. */
  readonly hash: string
  /** -1 before the first block. */
  readonly height: number
}

export const daemonBlockReader = (rpc: DaemonRpc) => {
  const ask = <C extends Contract, A>(contract: C, given: CallOf<C>, read: (reply: Json) => A | undefined) =>
    rpc.call(contract, given).pipe(
      Effect.mapError(refused),
      Effect.flatMap((reply) => reading(contract, reply, read))
    )

  const header = (blockHash: string): Effect.Effect<HeaderPlace, DaemonFailure> =>
    ask(GETBLOCKHEADER, { blockhash: blockHash }, headerPlace)

  const names = ({ hash, height }: DaemonBlock): Effect.Effect<ReadonlyArray<NameEntry>, DaemonFailure> =>
    ask(GETBLOCK, { blockhash: hash, verbosity: 0 }, (reply) => {
      const bytes = fromHex(textReply(reply) ?? "")
      return bytes === undefined ? undefined : decodedIf(() => blockNamesOf(decodeBlock(bytes), height))
    })

  const tip: Effect.Effect<{ readonly at: DaemonBlock; readonly asOf: Freshness }, DaemonFailure> = Effect.gen(
    function*() {
      const { asOf, best } = yield* ask(GETBLOCKCHAININFO, {}, chainInfo)
      return { at: { hash: best, height: asOf.height }, asOf }
    }
  )

  return { ask, header, names, tip }
}
