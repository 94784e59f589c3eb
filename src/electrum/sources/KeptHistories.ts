import type { CommitSignal } from "../../names/CommitSignal.ts"
import { RecordCache } from "../../names/RecordCache.ts"
import type { ScriptOperation } from "../../names/ScriptReads.ts"
import { fromBinaryString } from "../../protocol/bytes.ts"
import { type ScriptKey, scriptKey } from "../../protocol/keys.ts"
import { nameIndexHash } from "../../protocol/nameOperation.ts"

const KEPT_NAMES = 20_000
const KEPT_BYTES = 24 * 1024 * 1024

/** An operation with the objects around it, and a key with its list. */
const OPERATION_BYTES = 200

interface Kept {
  readonly history: ReadonlyArray<ScriptOperation>
  /** Whether newer operations may be missing. */
  isOld: boolean
}

/** The histories of the names that clients ask for most, as of the last commit of names.db or an earlier one. */
export class KeptHistories {
  readonly #commits: Pick<CommitSignal, "count" | "touchedBehind">
  readonly #kept = new RecordCache<Kept, ScriptKey>(KEPT_NAMES, {
    bytes: KEPT_BYTES,
    sizeOf: ({ history }) => OPERATION_BYTES * (history.length + 1)
  })
  #seen: number

  constructor(commits: Pick<CommitSignal, "count" | "touchedBehind">) {
    this.#commits = commits
    this.#seen = commits.count
  }

  get(key: ScriptKey): ReadonlyArray<ScriptOperation> | undefined {
    this.#markChanged()
    const kept = this.#kept.get(key)
    return kept?.isOld === false ? kept.history : undefined
  }

  /** How the history of a name began when it was read. */
  beginning(key: ScriptKey): ReadonlyArray<ScriptOperation> {
    this.#markChanged()
    return this.#kept.get(key)?.history ?? []
  }

  /** In the turn in which the history was read: a commit after it makes it old. */
  put(key: ScriptKey, history: ReadonlyArray<ScriptOperation>): void {
    this.#markChanged()
    this.#kept.put(key, { history, isOld: false })
  }

  /** Blocks only add operations. When the chain goes back, any name may have changed. */
  #markChanged(): void {
    const { count } = this.#commits
    if (count === this.#seen) return
    const touched = this.#commits.touchedBehind(this.#seen)
    this.#seen = count
    if (touched === "all") return this.#kept.clear()
    for (const name of touched) {
      const kept = this.#kept.get(keyOfName(name))
      if (kept !== undefined) kept.isOld = true
    }
  }
}

const keyOfName = (name: string): ScriptKey => scriptKey(nameIndexHash(fromBinaryString(name)))
