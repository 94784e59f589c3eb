import type { CommitSignal } from "../../names/CommitSignal.ts"
import { RecordCache } from "../../names/RecordCache.ts"
import type { ScriptOperation } from "../../names/ScriptReads.ts"
import { fromBinaryString } from "../../protocol/bytes.ts"
import { type ScriptKey, scriptKey } from "../../protocol/keys.ts"
import { nameIndexHash } from "../../protocol/nameOperation.ts"

const KEPT_NAMES = 20_000
const KEPT_BYTES = 8 * 1024 * 1024

/** An operation with the objects around it, and a key with its list. */
const OPERATION_BYTES = 300

/** The histories of the names that clients ask for most, as of the last commit of names.db. */
export class KeptHistories {
  readonly #commits: Pick<CommitSignal, "count" | "touchedBehind">
  readonly #kept = new RecordCache<ReadonlyArray<ScriptOperation>, ScriptKey>(KEPT_NAMES, {
    bytes: KEPT_BYTES,
    sizeOf: ({ length }) => OPERATION_BYTES * (length + 1)
  })
  #seen: number

  constructor(commits: Pick<CommitSignal, "count" | "touchedBehind">) {
    this.#commits = commits
    this.#seen = commits.count
  }

  get(key: ScriptKey): ReadonlyArray<ScriptOperation> | undefined {
    this.#forgetChanged()
    return this.#kept.get(key)
  }

  /** In the turn in which the history was read: a commit after it makes it old. */
  put(key: ScriptKey, history: ReadonlyArray<ScriptOperation>): void {
    this.#forgetChanged()
    this.#kept.put(key, history)
  }

  #forgetChanged(): void {
    const { count } = this.#commits
    if (count === this.#seen) return
    const touched = this.#commits.touchedBehind(this.#seen)
    this.#seen = count
    this.#kept.freeze(touched === "all" ? touched : Array.from(touched, keyOfName))
    this.#kept.thaw()
  }
}

const keyOfName = (name: string): ScriptKey => scriptKey(nameIndexHash(fromBinaryString(name)))
