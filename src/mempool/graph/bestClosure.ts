import { compareRates, type FeeRate } from "../policy/feeRate.ts"

/** A transaction of a cluster: transactions are known by their index in it. */
export interface ClusterNode extends FeeRate {
  readonly parents: ReadonlyArray<number>
}

/** Fee and weight of transactions together. */
export const totalOf = (nodes: ReadonlyArray<ClusterNode>, members: Iterable<number>): FeeRate => {
  let fee = 0
  let weight = 0
  for (const member of members) {
    fee += nodes[member]?.fee ?? 0
    weight += nodes[member]?.weight ?? 0
  }
  return { fee, weight }
}

/** A network of pipes from a source to a sink, and what still fits through each: the way back is the next pipe. */
class FlowNetwork {
  private readonly source: number
  private readonly sink: number
  /** Pipes by the place they leave. */
  private readonly leaving: ReadonlyArray<Array<number>>
  private readonly targets: Array<number> = []
  private readonly room: Array<number> = []
  /** Steps from the source, -1 for what is out of reach; of the last search. */
  private levels: Array<number> = []
  /** Which of the leaving pipes is to be tried next. */
  private tried: Array<number> = []

  /** Places are 0 to `places` - 1; source and sink come behind them. */
  constructor(places: number) {
    this.source = places
    this.sink = places + 1
    this.leaving = Array.from({ length: places + 2 }, () => [])
  }

  connect(from: number, to: number, room: number): void {
    this.leaving[from]?.push(this.targets.length)
    this.targets.push(to)
    this.room.push(room)
    this.leaving[to]?.push(this.targets.length)
    this.targets.push(from)
    this.room.push(0)
  }

  /** Connects a place to the source where its value is positive, else to the sink. */
  weigh(place: number, value: number): void {
    if (value > 0) this.connect(this.source, place, value)
    else if (value < 0) this.connect(place, this.sink, -value)
  }

  /** Sends as much as fits, and answers which places the source could still send more to (Dinic's algorithm). */
  saturate(): (place: number) => boolean {
    while (this.search()) {
      this.tried = this.leaving.map(() => 0)
      while (this.send(this.source, Infinity) > 0);
    }
    const { levels } = this
    return (place) => (levels[place] ?? -1) !== -1
  }

  /** Finds the levels; whether the sink can be reached. */
  private search(): boolean {
    const levels = this.leaving.map(() => -1)
    levels[this.source] = 0
    const queue = [this.source]
    for (const place of queue) {
      for (const pipe of this.leaving[place] ?? []) {
        const target = this.targets[pipe] ?? 0
        if (levels[target] !== -1 || (this.room[pipe] ?? 0) <= 0) continue
        levels[target] = (levels[place] ?? 0) + 1
        queue.push(target)
      }
    }
    this.levels = levels
    return levels[this.sink] !== -1
  }

  /** Sends up to `amount` from a place on along one shortest way to the sink; answers how much went. */
  private send(place: number, amount: number): number {
    if (place === this.sink) return amount
    const pipes = this.leaving[place] ?? []
    for (let at = this.tried[place] ?? 0; at < pipes.length; at++) {
      this.tried[place] = at
      const pipe = pipes[at] ?? 0
      const target = this.targets[pipe] ?? 0
      const room = this.room[pipe] ?? 0
      if (room <= 0 || this.levels[target] !== (this.levels[place] ?? 0) + 1) continue
      const sent = this.send(target, Math.min(amount, room))
      if (sent === 0) continue
      this.room[pipe] = room - sent
      this.room[pipe ^ 1] = (this.room[pipe ^ 1] ?? 0) + sent
      return sent
    }
    this.tried[place] = pipes.length
    return 0
  }
}

/**
 * Looks among `members` for those that lift the rate: a part that holds all parents that are members, and pays a better
 * rate than all members together; the part that earns most above that rate. `undefined` where there is none.
 *
 * It is the closure of greatest weight in a graph (Picard 1976), which a minimum cut finds: what earns more than the
 * common rate is fed by the source, what earns less drains into the sink, and children drag their parents along.
 * Values are exact up to 2^53; above that rounding may miss a better part, and the exact comparison at the end keeps it
 * from answering a worse one.
 */
export const bestClosure = (
  nodes: ReadonlyArray<ClusterNode>,
  members: ReadonlyArray<number>
): ReadonlySet<number> | undefined => {
  const total = totalOf(nodes, members)
  const places = new Map(members.map((member, place) => [member, place]))
  const network = new FlowNetwork(members.length)
  for (const [place, member] of members.entries()) {
    const node = nodes[member]
    if (node === undefined) continue
    network.weigh(place, node.fee * total.weight - node.weight * total.fee)
    for (const parent of node.parents) {
      const above = places.get(parent)
      if (above !== undefined) network.connect(place, above, Infinity)
    }
  }
  const isIn = network.saturate()
  const part = new Set(members.filter((_, place) => isIn(place)))
  if (part.size === 0 || part.size === members.length) return undefined
  return compareRates(totalOf(nodes, part), total) > 0 ? part : undefined
}
