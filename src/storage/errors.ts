import * as Schema from "effect/Schema"
import { codeOf, diskRemedy, type ErrorWords, reasonOf, systemCode } from "../base/errorCode.ts"
import { lasting } from "../base/verdict.ts"

/** Wrong content of a file. A retry does not help; the message has the remedy. */
export class StorageCorrupted extends Schema.TaggedError<StorageCorrupted>()("StorageCorrupted", {
  file: Schema.String,
  found: Schema.String,
  remedy: Schema.String
}, lasting(500)) {
  override get message(): string {
    return `${this.file} is corrupted: ${this.found}. ${this.remedy}`
  }
}

/** A file cannot be read or written now: no space, no permission, an I/O error. Nothing is damaged. */
export class StorageUnavailable extends Schema.TaggedError<StorageUnavailable>()("StorageUnavailable", {
  file: Schema.String,
  doing: Schema.String,
  reason: Schema.String,
  /** The system's code, if it refused the work. */
  code: Schema.optional(Schema.String)
}, lasting(503)) {
  override get message(): string {
    return `${this.doing} ${this.file} failed: ${this.reason}${diskRemedy(this.code)}`
  }
}

/** `words` is for codes whose meaning depends on the work. */
export const storageUnavailable = (
  { doing, file }: { readonly file: string; readonly doing: string },
  error: unknown,
  words?: ErrorWords
): StorageUnavailable =>
  new StorageUnavailable({ file, doing, reason: reasonOf(codeOf(error), words), code: systemCode(error) })

export type StorageFailure = StorageCorrupted | StorageUnavailable
