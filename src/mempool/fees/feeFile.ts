import * as Schema from "effect/Schema"
import { readFileSync, statSync } from "node:fs"
import { replaceFileNow } from "../../base/atomicFile.ts"
import { CHECKSUM_MISMATCH, checksummed, checkText } from "../../base/checksum.ts"
import { codeOf } from "../../base/errorCode.ts"
import { guarded } from "../../storage/Database.ts"
import { FeeHistory, SavedFees } from "./FeeHistory.ts"

/** The file that keeps a fee history over a restart: JSON, one object. */

/** Many times the size of the largest history. */
const MAX_BYTES = 8 * 1024 * 1024

/** Seconds after which a file does not apply to current fees: 60 hours (upstream `MAX_FILE_AGE`). */
const MAX_AGE = 60 * 3600

const FileContent = Schema.Struct({
  /** Covers the ranges of fee rates and the horizons too: counts are valid only for these. */
  version: Schema.Literal(1),
  /** When it was written, seconds since 1970. */
  time: Schema.NonNegativeInt,
  fees: SavedFees
})

const decode = Schema.decodeUnknownEither(Schema.parseJson(FileContent))

export type FeeFileRead =
  | { readonly type: "read"; readonly history: FeeHistory }
  | { readonly type: "none" }
  /** Too old to be used. */
  | { readonly type: "old"; readonly hours: number }
  | { readonly type: "damaged"; readonly reason: string }

const REMEDY = "Delete the file: the node learns fees again"

const readText = (filename: string): string | undefined => {
  try {
    return statSync(filename).size > MAX_BYTES ? "" : readFileSync(filename, "utf8")
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return undefined
    throw cause
  }
}

/** Reads a file; `now` is in seconds since 1970. Throws `StorageFailure` if it is there and cannot be read. */
export const readFeeFile = (filename: string, now: number): FeeFileRead => {
  const whole = guarded(filename, "reading", REMEDY, () => readText(filename))
  if (whole === undefined) return { type: "none" }
  const { checksum, text } = checkText(whole)
  if (checksum === "wrong") return { type: "damaged", reason: CHECKSUM_MISMATCH }
  const content = decode(text)
  // The decoder's message would quote the content of the file.
  if (content._tag === "Left") return { type: "damaged", reason: "it is not a fee history" }
  const { fees, time } = content.right
  if (now - time > MAX_AGE) return { type: "old", hours: Math.floor((now - time) / 3600) }
  const history = FeeHistory.fromJSON(fees)
  return history instanceof FeeHistory ? { type: "read", history } : { type: "damaged", reason: history.fault }
}

/** Replaces the file atomically. Throws `StorageFailure`. */
export const writeFeeFile = (filename: string, history: FeeHistory, now: number): void => {
  const content: typeof FileContent.Type = { version: 1, time: Math.max(0, Math.floor(now)), fees: history.toJSON() }
  guarded(filename, "writing", REMEDY, () => replaceFileNow(filename, checksummed(`${JSON.stringify(content)}\n`)))
}
