import * as Schema from "effect/Schema"
import { diskRemedy } from "../base/errorCode.ts"
import { shownPath } from "../base/safeText.ts"
import { StorageUnavailable } from "../storage/errors.ts"

/** A block or header that violates a rule, with the reference node's reason. */
export class BlockRejected extends Schema.TaggedError<BlockRejected>()("BlockRejected", {
  /** In display order. */
  hash: Schema.String,
  reason: Schema.String,
  detail: Schema.optional(Schema.String)
}) {
  override get message(): string {
    return `block ${this.hash} is refused: ${this.reason}${this.detail === undefined ? "" : ` (${this.detail})`}`
  }
}

export class BlockNotFound extends Schema.TaggedError<BlockNotFound>()("BlockNotFound", {
  /** In display order. */
  hash: Schema.String
}) {
  override get message(): string {
    return `no block ${this.hash} is known`
  }
}

/** The header is known, but its block is not stored: not fetched yet, or lost. */
export class BlockUnavailable extends Schema.TaggedError<BlockUnavailable>()("BlockUnavailable", {
  hash: Schema.String,
  height: Schema.Number,
  /** Whether it was stored once and pruned. */
  pruned: Schema.Boolean
}) {
  override get message(): string {
    return `block ${this.hash} at height ${this.height} ${this.pruned ? "was pruned" : "is not stored"}`
  }
}

/** A store that follows the chain needs pruned blocks. */
export class BlocksPruned extends Schema.TaggedError<BlocksPruned>()("BlocksPruned", {
  follower: Schema.String,
  /** The first pruned block that it needs. */
  height: Schema.Number,
  undo: Schema.Boolean,
  /** Whether it is an index that the operator may disable. */
  optional: Schema.Boolean
}) {
  override get message(): string {
    if (!this.optional) {
      return `${this.follower}: block ${this.height} is needed, and it was pruned. ` +
        "Start with -reindex: the node downloads all blocks again"
    }
    const what = this.undo ? "pruned data (including undo data)" : "pruned data"
    return `${this.follower} best block of the index goes beyond ${what}. Please disable the index or reindex ` +
      "(which will download the whole blockchain again)"
  }
}

/** A block cannot leave the best chain because it or a block above it was pruned. */
export class BeyondPruned extends Schema.TaggedError<BeyondPruned>()("BeyondPruned", {
  height: Schema.Number,
  prunedTo: Schema.Number
}) {
  override get message(): string {
    return `the chain cannot go back below height ${this.height}: blocks up to height ${this.prunedTo} were pruned. ` +
      "Start with -reindex: the node downloads all blocks again"
  }
}

/** A block cannot leave the best chain because the chain state began above it with a snapshot. */
export class BelowSnapshot extends Schema.TaggedError<BelowSnapshot>()("BelowSnapshot", {
  height: Schema.Number,
  base: Schema.Number
}) {
  override get message(): string {
    return `the chain cannot go back below height ${this.height}: it began with a snapshot of the block at height ` +
      `${this.base}, and the blocks below are not validated yet. Wait until getchainstates shows that they are`
  }
}

/** The blocks of a chain state were checked under other rules than today's, which some may break. */
export class ValidatedByOtherRules extends Schema.TaggedError<ValidatedByOtherRules>()("ValidatedByOtherRules", {
  /** The directory of the chain state. */
  directory: Schema.String,
  /** The first rule that differs: its name in the file RULES, or `bip94`. */
  rule: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `chain state ${shownPath(this.directory)} was validated under other rules. ${this.rule}: ${this.reason}. ` +
      "Start with -reindex-chainstate, or with the rules of before (-testactivationheight, -vbparams, -test)"
  }
}

export class ImportFailed extends Schema.TaggedError<ImportFailed>()("ImportFailed", {
  file: Schema.String,
  reason: Schema.String,
  /** The system's code, if it refused the work. */
  code: Schema.optional(Schema.String)
}) {
  override get message(): string {
    return `cannot import ${this.file}: ${this.reason}${diskRemedy(this.code)}`
  }
}

/** For callers to whom the blocks of a node are its store. */
export const unreadBlocks = ({ code, file, reason }: ImportFailed): StorageUnavailable =>
  new StorageUnavailable({ file, doing: "reading", reason, code })
