import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { replaceFileNow } from "../../base/atomicFile.ts"
import { checksummed, checkText } from "../../base/checksum.ts"
import { codeOf } from "../../base/errorCode.ts"
import { displayHash, parseDisplayHash } from "../../protocol/bytes.ts"
import type { HeaderId } from "../../protocol/keys.ts"
import { guarded } from "../../storage/Database.ts"
import { type BlockIndex, GENESIS, NONE, Status } from "./BlockIndex.ts"

/** The oldest decisions beyond this number are dropped. */
const MOST_KEPT = 1_000

/** The operator's decision about a block: invalid (`invalidateblock`) or not (`reconsiderblock`). */
const Decision = Schema.Struct({ block: Schema.String, invalid: Schema.Boolean })

const DecisionList = Schema.Struct({
  version: Schema.Literal(1),
  decisions: Schema.Array(Decision).pipe(Schema.maxItems(MOST_KEPT))
})

const decode = Schema.decodeUnknownOption(Schema.parseJson(DecisionList))

interface Decided {
  readonly index: BlockIndex
  readonly forks: {
    readonly invalidate: (id: HeaderId) => void
    readonly reconsider: (id: HeaderId) => void
  }
}

const find = (index: BlockIndex, block: string): HeaderId => {
  const hash = parseDisplayHash(block)
  return hash === undefined ? NONE : index.find(hash)
}

/**
 * The operator's decisions about blocks, in a file beside the blocks, because the block index can be rebuilt from
 * blocks but these do not contain decisions. Methods throw `StorageUnavailable`.
 */
export class Decisions {
  readonly file: string
  /** By displayed hash, the newest last. */
  private readonly kept = new Map<string, boolean>()
  private damaged = false

  constructor(blocksDirectory: string) {
    this.file = join(blocksDirectory, "decisions.json")
    const list = guarded({ file: this.file, doing: "reading", remedy: "" }, () => this.read())
    for (const { block, invalid } of list) this.kept.set(block, invalid)
  }

  private read(): ReadonlyArray<typeof Decision.Type> {
    let whole
    try {
      whole = readFileSync(this.file, "utf8")
    } catch (cause) {
      if (codeOf(cause) === "ENOENT") return []
      throw cause
    }
    const { checksum, text } = checkText(whole)
    const list = checksum === "right" ? Option.getOrUndefined(decode(text)) : undefined
    this.damaged = list === undefined
    return list?.decisions ?? []
  }

  /** Records a decision that is already in the index. Durable when it returns. */
  note({ index }: Pick<Decided, "index">, id: HeaderId, invalid: boolean): void {
    const block = displayHash(index.hash(id))
    this.kept.delete(block)
    this.kept.set(block, invalid)
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= MOST_KEPT) break
      this.kept.delete(oldest)
    }
    // A withdrawn decision applies to the block's ancestors and descendants too.
    for (const [other, was] of this.kept) {
      if (was && !index.has(find(index, other), Status.FAILED)) this.kept.set(other, false)
    }
    this.write()
  }

  private write(): void {
    const decisions = [...this.kept].slice(-MOST_KEPT).map(([block, invalid]) => ({ block, invalid }))
    const text = checksummed(`${JSON.stringify({ version: 1, decisions }, undefined, 2)}\n`)
    guarded({ file: this.file, doing: "writing", remedy: "" }, () => replaceFileNow(this.file, text))
  }

  /**
   * Withdraws the decisions until `apply`: the block files may contain descendants of these blocks, and after a lost
   * commit the chain state may have outdated decisions.
   */
  lift(state: Decided): void {
    for (const block of this.kept.keys()) {
      const id = find(state.index, block)
      if (id !== NONE && state.index.has(id, Status.FAILED)) state.forks.reconsider(id)
    }
  }

  /**
   * Applies the decisions to a chain state that was rebuilt or lost commits. The caller then follows `nextStep`. If the
   * file is damaged, it is rebuilt from the chain state. Returns messages for the operator.
   */
  apply(state: Decided): ReadonlyArray<string> {
    const { index } = state
    if (this.damaged) {
      for (const id of index.ids(GENESIS)) {
        if (index.has(id, Status.FAILED)) this.kept.set(displayHash(index.hash(id)), true)
      }
      this.write()
      this.damaged = false
      return [
        `decisions file damaged: ${this.file} is rebuilt from the block index, and its invalid blocks stay invalid`
      ]
    }
    for (const [block, invalid] of this.kept) {
      const id = find(index, block)
      if (id === NONE || index.has(id, Status.FAILED) === invalid) continue
      if (invalid) state.forks.invalidate(id)
      else state.forks.reconsider(id)
    }
    return []
  }
}
