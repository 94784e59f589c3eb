/** Other name servers that have the zone. */

/** What a transfer sent: the whole zone, changes, or SOA alone, as the secondary is up to date. */
export type TransferKind = "axfr" | "ixfr" | "current"

export interface Secondary {
  readonly address: string
  /** The serial that it has or was told. */
  readonly serial: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly by: TransferKind | "notify"
}

const MOST = 64

/** The last secondaries that transferred the zone or answered a NOTIFY, for operators. */
export class Secondaries {
  readonly #seen = new Map<string, Secondary>()

  note(secondary: Secondary): void {
    this.#seen.delete(secondary.address)
    this.#seen.set(secondary.address, secondary)
    const [oldest] = this.#seen.size > MOST ? this.#seen.keys() : []
    if (oldest !== undefined) this.#seen.delete(oldest)
  }

  /** The last one seen first. */
  get all(): ReadonlyArray<Secondary> {
    return [...this.#seen.values()].reverse()
  }
}
