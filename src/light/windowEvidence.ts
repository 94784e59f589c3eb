import type { Cursor } from "../chain/write/Follower.ts"
import { type ProofUnavailable, unprovable } from "../names/errors.ts"
import { EvidenceList, type NameEvidence, newestLife, tipCoinbase, type WantedEvidence } from "../names/nameEvidence.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import { MOST_OPERATIONS } from "../verify/nameProof.ts"
import type { WindowFile } from "./WindowFile.ts"

interface WindowNow {
  readonly file: Pick<WindowFile, "heads" | "provenOf">
  readonly tip: Cursor
  readonly low: Height
}

/**
 * The evidence of a name from one state of a proof-keeping window. Operations are newest first, and end before one
 * without proof data or too large for a proof. Throws `StorageFailure`.
 */
export const evidenceInWindow = (
  { file, low, tip }: WindowNow,
  name: Bytes,
  wanted: WantedEvidence
): NameEvidence | ProofUnavailable => {
  const rows = file.provenOf(name, MOST_OPERATIONS)
  const life = newestLife(rows.map((row) => ({ ...row, op: row.record.op, height: row.record.height })), wanted)
  const evidence = new EvidenceList()
  for (const { kept, record: { height, vout }, tx } of life.wanted) {
    const isNewest = evidence.operations.length === 0
    const heads = file.heads(height, isNewest ? 1 + wanted.headers : 1)
    const coinbase = heads[0]?.coinbase
    if (kept === undefined || coinbase === undefined) {
      if (isNewest) return unprovable(height, "unkept")
      break
    }
    if (evidence.add({ height, tx, vout, ...kept, coinbase, headers: heads.map(({ head }) => head) })) continue
    if (isNewest) return unprovable(height, "long")
    break
  }
  const [last] = file.heads(tip.height, 1)
  if (last === undefined) return unprovable(tip.height, "unkept")
  const shown = { ...tip, header: last.head, coinbase: tipCoinbase(last.coinbase) }
  return { tip: shown, from: low, since: life.since, operations: evidence.operations }
}
