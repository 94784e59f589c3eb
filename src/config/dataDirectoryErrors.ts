import * as Schema from "effect/Schema"
import { diskRemedy } from "../base/errorCode.ts"
import { quoted, shownPath } from "../base/safeText.ts"
import { lasting } from "../base/verdict.ts"

/** In their own file for code that needs only the errors. */

/** The node cannot create, read or write the directory, or the directory belongs to another program. */
export class DataDirectoryUnusable extends Schema.TaggedError<DataDirectoryUnusable>()("DataDirectoryUnusable", {
  path: Schema.String,
  reason: Schema.String,
  /** The system's code, if it refused something. */
  code: Schema.optional(Schema.String)
}, lasting(500)) {
  override get message(): string {
    return `data directory ${shownPath(this.path)}: ${this.reason}${diskRemedy(this.code)}`
  }
}

/** Another node, in this process or another one, uses the directory. */
export class DataDirectoryInUse extends Schema.TaggedError<DataDirectoryInUse>()("DataDirectoryInUse", {
  path: Schema.String,
  pid: Schema.optional(Schema.Int)
}, lasting(503)) {
  override get message(): string {
    const holder = this.pid === undefined ? "another process" : `process ${this.pid}`
    return `data directory ${shownPath(this.path)} is in use by ${holder}; stop it, or use another directory`
  }
}

export class WrongNetwork extends Schema.TaggedError<WrongNetwork>()("WrongNetwork", {
  path: Schema.String,
  found: Schema.String,
  wanted: Schema.String
}, lasting(500)) {
  override get message(): string {
    return `data directory ${shownPath(this.path)} is for ${quoted(this.found)}, not for ${quoted(this.wanted)}; ` +
      "each network needs a directory of its own"
  }
}

export type DataDirectoryError = DataDirectoryUnusable | DataDirectoryInUse | WrongNetwork
