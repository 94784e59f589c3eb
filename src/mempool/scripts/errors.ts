import * as Data from "effect/Data"
import { grouped } from "../../base/quantities.ts"
import type { Height } from "../../protocol/keys.ts"

/** The index of scripts lacks blocks: its answers would be too short. */
export class ScriptsBehind extends Data.TaggedError("ScriptsBehind")<{
  /** The last block of the index; -1 for none. */
  readonly height: Height
  readonly tip: Height
}> {
  override get message(): string {
    const reached = this.height < 0
      ? `0 of ${grouped(this.tip)} blocks`
      : `block ${grouped(this.height)} of ${grouped(this.tip)}`
    return `the index of addresses is being built and has ${reached}; try again later`
  }
}

/** A script has more transactions than the node lists. */
export class HistoryTooLong extends Data.TaggedError("HistoryTooLong")<{
  readonly most: number
}> {
  override get message(): string {
    return `the address has more than ${grouped(this.most)} transactions`
  }
}
