import { electrumSubscriptions } from "../metrics/electrumMetrics.ts"
import type { ScriptKey } from "../protocol/keys.ts"
import { scriptNotification } from "./methods/scriptHashMethods.ts"

/** Who follows a script hash. */
export interface StatusReader {
  /** Gets a message for the client. */
  readonly notify: (message: string) => void
  /** The script hash is followed no more. */
  readonly drop: (key: ScriptKey) => void
}

interface Followed {
  /** What all readers were told last; `undefined` until the first one was. */
  status: string | null | undefined
  /** Whether readers know different statuses. */
  isMixed: boolean
  readonly readers: Set<StatusReader>
}

/** The script hashes that clients follow, over all sessions. */
export class Subscriptions {
  readonly #followed = new Map<ScriptKey, Followed>()
  /** Those whose status has to be read again. All are followed. */
  readonly #due = new Set<ScriptKey>()
  #count = 0

  /** Of all sessions. */
  get count(): number {
    return this.#count
  }

  has(key: ScriptKey): boolean {
    return this.#followed.has(key)
  }

  add(key: ScriptKey, reader: StatusReader): void {
    const known = this.#followed.get(key)
    if (known === undefined) {
      this.#followed.set(key, { status: undefined, isMixed: false, readers: new Set([reader]) })
    } else if (known.readers.has(reader)) return
    else known.readers.add(reader)
    this.#counted(1)
  }

  remove(key: ScriptKey, reader: StatusReader): void {
    const known = this.#followed.get(key)
    if (known?.readers.delete(reader) !== true) return
    if (known.readers.size === 0) {
      this.#followed.delete(key)
      this.#due.delete(key)
    }
    this.#counted(-1)
  }

  /** Notes what a new reader is answered. If others know another status, one of the two is old: it has to be read. */
  answered(key: ScriptKey, status: string | null): void {
    const known = this.#followed.get(key)
    if (known === undefined || known.status === status) return
    if (known.status === undefined) {
      known.status = status
      return
    }
    known.isMixed = true
    this.#due.add(key)
  }

  /** The status may have changed. */
  changed(key: ScriptKey): void {
    if (this.#followed.has(key)) this.#due.add(key)
  }

  allChanged(): void {
    for (const key of this.#followed.keys()) this.#due.add(key)
  }

  /** Whether a status has to be read. */
  get isDue(): boolean {
    return this.#due.size > 0
  }

  /** The script hashes whose statuses have to be read next. */
  due(most: number): ReadonlyArray<ScriptKey> {
    const first: Array<ScriptKey> = []
    for (const key of this.#due) {
      if (first.length === most) break
      first.push(key)
    }
    return first
  }

  /** Reads the status of a script hash behind those of all others. */
  postpone(key: ScriptKey): void {
    if (this.#due.delete(key)) this.#due.add(key)
  }

  /** Ends what all readers follow of a script hash. */
  drop(key: ScriptKey): void {
    for (const reader of [...this.#followed.get(key)?.readers ?? []]) reader.drop(key)
  }

  /** Tells all readers, unless they know the status. Returns how many were told. */
  tell(key: ScriptKey, status: string | null): number {
    this.#due.delete(key)
    const known = this.#followed.get(key)
    if (known === undefined || (known.status === status && !known.isMixed)) return 0
    known.status = status
    known.isMixed = false
    const message = scriptNotification(key, status)
    for (const reader of [...known.readers]) reader.notify(message)
    return known.readers.size
  }

  #counted(change: number): void {
    this.#count += change
    electrumSubscriptions.set(electrumSubscriptions.value() + change)
  }
}
