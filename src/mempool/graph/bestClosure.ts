import { compareRates, type FeeRate } from "../policy/feeRate.ts"

/** A transaction of a cluster, identified by its index. */
export interface ClusterNode extends FeeRate {
  readonly parents: ReadonlyArray<number>
}

export const totalOf = (nodes: ReadonlyArray<ClusterNode>, members: Iterable<number>): FeeRate => {
  let fee = 0
  let weight = 0
  for (const member of members) {
    fee += nodes[member]?.fee ?? 0
    weight += nodes[member]?.weight ?? 0
  }
  return { fee, weight }
}

/** A flow network with the residual capacity of each pipe. Pipe `i ^ 1` is the reverse of pipe `i`. */
class FlowNetwork {
  private readonly source: number
  private readonly sink: number
  /** Pipes by starting place. */
  private readonly leaving: ReadonlyArray<Array<number>>
  private readonly targets: Array<number> = []
  private readonly room: Array<number> = []
  /** Distance from the source in the last search, -1 for unreachable places. */
  private levels: Array<number> = []
  /** Index of the outgoing pipe to try next, by place. */
  private tried: Array<number> = []

  /** Places are 0 to `places` - 1, then source and sink. */
  constructor(places: number) {
    this.source = places
    this.sink = places + 1
    this.leaving = Array.from({ length: places + 2 }, () => [])
  }

  // positional: runs per pipe of every linearised cluster
  connect(from: number, to: number, room: number): void {
    this.leaving[from]?.push(this.targets.length)
    this.targets.push(to)
    this.room.push(room)
    this.leaving[to]?.push(this.targets.length)
    this.targets.push(from)
    this.room.push(0)
  }

  /**
   * Connects a place to the source if its value is positive, else to the sink. positional: runs per transaction of
   * every linearised cluster
   */
  weigh(place: number, value: number): void {
    if (value > 0) this.connect(this.source, place, value)
    else if (value < 0) this.connect(place, this.sink, -value)
  }

  /** Computes a maximum flow. Returns which places are still reachable from the source (Dinic's algorithm). */
  saturate(): (place: number) => boolean {
    while (this.search()) {
      this.tried = this.leaving.map(() => 0)
      while (this.send(this.source, Infinity) > 0);
    }
    const { levels } = this
    return (place) => (levels[place] ?? -1) !== -1
  }

  /** Computes the levels; returns whether the sink is reachable. */
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

  /**
   * Sends up to `amount` from a place along one shortest path to the sink. Returns the amount sent. positional: calls
   * itself at each step of every path
   */
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
 * Finds the members that raise the rate: the subset, with all parents that are members, that earns most above the rate
 * of all members together. `undefined` if no subset pays a better rate.
 *
 * It is the closure of greatest weight in a graph (Picard 1976), which a minimum cut finds: members that earn more than
 * the common rate are connected to the source, others to the sink, and children to their parents. Values are exact up
 * to 2^53. Above that, rounding may miss a better subset, but the exact comparison at the end never returns a worse
 * one.
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
