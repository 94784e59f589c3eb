import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { ProofLevel } from "../../light/proof.ts"
import type { Wallets } from "../../wallet/Wallets.ts"
import { RawJson } from "../json/encodeJson.ts"
import { LongText, PIECE } from "../json/LongText.ts"
import type { CallContext } from "../method/methodTable.ts"
import type { RpcError } from "../method/RpcError.ts"
import type { HistoryJob, ScanJob, ShownNames } from "../reader/readMessage.ts"
import type { ReadThread } from "../reader/ReadThread.ts"
import type { ShapeContext } from "../shapes/context.ts"
import type { NAME_INFO } from "../shapes/name.ts"
import { ownership } from "./wallet/walletContext.ts"

type Listed = ReadonlyArray<Schema.Schema.Type<typeof NAME_INFO>>

export interface ListByThread {
  readonly count: number
  readonly text: LongText<Listed> | RawJson<Listed>
}

const textOf = (pieces: ReadonlyArray<Uint8Array>): LongText<Listed> | RawJson<Listed> => {
  const text = new LongText<Listed>(pieces)
  return pieces.length === 1 && text.length < PIECE ? new RawJson<Listed>(text.toString()) : text
}

/** Has the read thread make a list; `undefined` if it does not answer. Needs the whole chain, not a window. */
export const namesByThread = (reader: typeof ReadThread.Service, wallets: typeof Wallets.Service) =>
(
  { call, context, proof }: {
    readonly context: ShapeContext
    readonly call: CallContext
    readonly proof: ProofLevel | undefined
  },
  jobOf: (shown: ShownNames) => HistoryJob | ScanJob
): Effect.Effect<ListByThread | undefined, RpcError> =>
  Effect.suspend(() => {
    const owns = ownership(wallets, call)
    const { nameEncoding, network, valueEncoding } = context
    const encodings = { network: network.name, nameEncoding, valueEncoding }
    const job = jobOf({ ...encodings, withOwner: owns !== undefined, proof, room: call.room })
    return reader.read(job, { owns }).pipe(
      Effect.map(({ count, pieces }) => ({ count, text: textOf(pieces) })),
      Effect.catchTag("NotRead", () => Effect.succeed(undefined))
    )
  })
