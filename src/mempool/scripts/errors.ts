import * as Data from "effect/Data"
import { grouped } from "../../base/quantities.ts"
import type { Height } from "../../protocol/keys.ts"

/** The index of scripts is not at the tip of the chain: its answers would be too short, or of other blocks. */
export class ScriptsBehind extends Data.TaggedError("ScriptsBehind")<{
  /** The last block of the index; -1 for none. */
  readonly height: Height
  readonly tip: Height
}> {
  override get message(): string {
    const { height, tip } = this
    const state = height < 0
      ? `is being built and has 0 of ${grouped(tip)} blocks`
      : height < tip
      ? `is being built and has block ${grouped(height)} of ${grouped(tip)}`
      : `has block ${grouped(height)}, which the chain does not have at the moment`
    return `the index of addresses ${state}; try again later`
  }
}

/** A script has more transactions than the node lists, or more coins than it keeps. */
export class HistoryTooLong extends Data.TaggedError("HistoryTooLong")<{
  readonly most: number
}> {
  override get message(): string {
    return `the address has more than ${grouped(this.most)} transactions, or too many coins`
  }
}
