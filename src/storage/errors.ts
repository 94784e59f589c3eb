import * as Schema from "effect/Schema"

/** A file does not hold what it should. Asking again will not help; the message says what will. */
export class StorageCorrupted extends Schema.TaggedError<StorageCorrupted>()("StorageCorrupted", {
  file: Schema.String,
  /** What was found, where (offset, block, row). */
  found: Schema.String,
  /** What the operator can do. */
  remedy: Schema.String
}) {
  override get message(): string {
    return `${this.file} is corrupted: ${this.found}. ${this.remedy}`
  }
}

/** A file cannot be read or written just now: no space, no permission, an I/O error. Nothing is damaged. */
export class StorageUnavailable extends Schema.TaggedError<StorageUnavailable>()("StorageUnavailable", {
  file: Schema.String,
  doing: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `${this.doing} ${this.file} failed: ${this.reason}`
  }
}

/** What may go wrong with a file. */
export type StorageFailure = StorageCorrupted | StorageUnavailable
