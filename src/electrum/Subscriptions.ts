import { electrumSubscriptions } from "../metrics/electrumMetrics.ts"
import type { ScriptKey } from "./protocol/status.ts"

/** Who follows a script hash. */
export interface StatusReader {
  readonly tell: (key: ScriptKey, status: string | null) => void
}

interface Followed {
  /** What all readers were told last; `undefined` until the first one was. */
  status: string | null | undefined
  readonly readers: Set<StatusReader>
}

/** The script hashes that clients follow, over all sessions. */
export class Subscriptions {
  readonly #followed = new Map<ScriptKey, Followed>()
  #count = 0

  /** Of all sessions. */
  get count(): number {
    return this.#count
  }

  has(key: ScriptKey): boolean {
    return this.#followed.has(key)
  }

  keys(): Iterable<ScriptKey> {
    return this.#followed.keys()
  }

  add(key: ScriptKey, reader: StatusReader): void {
    const known = this.#followed.get(key)
    if (known === undefined) this.#followed.set(key, { status: undefined, readers: new Set([reader]) })
    else if (known.readers.has(reader)) return
    else known.readers.add(reader)
    this.#counted(1)
  }

  remove(key: ScriptKey, reader: StatusReader): void {
    const known = this.#followed.get(key)
    if (known?.readers.delete(reader) !== true) return
    if (known.readers.size === 0) this.#followed.delete(key)
    this.#counted(-1)
  }

  /** Notes what a new reader is answered. A status that others have already is left: they may have to be told. */
  answered(key: ScriptKey, status: string | null): void {
    const known = this.#followed.get(key)
    if (known !== undefined && known.status === undefined) known.status = status
  }

  /** Tells all readers, unless they know the status. Returns how many were told. */
  tell(key: ScriptKey, status: string | null): number {
    const known = this.#followed.get(key)
    if (known === undefined || known.status === status) return 0
    known.status = status
    for (const reader of [...known.readers]) reader.tell(key, status)
    return known.readers.size
  }

  #counted(change: number): void {
    this.#count += change
    electrumSubscriptions.set(electrumSubscriptions.value() + change)
  }
}
