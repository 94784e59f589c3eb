/** What a receiver of webhooks keeps: the value of each name, from the messages that it has not seen. */

interface HookEvent {
  readonly type: string
  readonly name: string
  readonly value: string
  readonly names: ReadonlyArray<readonly [name: string, value: string | null]>
}

interface HookBody {
  readonly type: string
  readonly height: number
  readonly hash: string
  readonly events: ReadonlyArray<HookEvent>
}

export class Consumer {
  readonly values = new Map<string, string>()
  /** The body of each message by its id. */
  readonly bodies = new Map<string, string>()
  /** Ids in the order in which they were first received. */
  readonly order: Array<string> = []
  readonly faults: Array<string> = []
  /** The hashes of the blocks that are not undone, by height. */
  private readonly blocks = new Map<number, string>()

  take(id: string, body: string): void {
    const before = this.bodies.get(id)
    if (before !== undefined) {
      if (before !== body) this.faults.push(`${id} has another body than before`)
      return
    }
    const last = this.order.at(-1)
    if (last !== undefined && numberOf(last) >= numberOf(id)) this.faults.push(`${id} comes behind ${last}`)
    this.bodies.set(id, body)
    this.order.push(id)
    const { events, hash, height, type }: HookBody = JSON.parse(body)
    if (type === "names.undone") this.blocks.delete(height)
    else {
      const above = [...this.blocks.keys()].filter((known) => known >= height && this.blocks.get(known) !== hash)
      if (above.length > 0) this.faults.push(`block ${height} comes before the blocks ${above.join(", ")} are undone`)
      this.blocks.set(height, hash)
    }
    for (const { name, names, type: kind, value } of events) {
      if (kind === "undone") {
        for (const [each, now] of names) {
          if (now === null) this.values.delete(each)
          else this.values.set(each, now)
        }
      } else if (kind !== "expired") this.values.set(name, value)
    }
  }
}

const numberOf = (id: string): number => Number(id.split("_")[2])
