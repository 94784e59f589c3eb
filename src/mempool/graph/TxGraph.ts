import { compareRates } from "../policy/feeRate.ts"
import { ChunkOrder, type RankedChunk } from "./ChunkOrder.ts"
import { compareDiagrams, diagramOf, type DiagramPoint } from "./diagram.ts"
import { type GraphChunk, graphChunks, type GraphNode } from "./graphChunks.ts"

export type { DiagramPoint } from "./diagram.ts"
export type { GraphChunk, GraphNode } from "./graphChunks.ts"

export interface NewNode<Key extends string = string> {
  /** Smallest units; may be negative. */
  readonly fee: number
  /** Weight units, above 0. */
  readonly weight: number
  /** The transactions that it spends. Unknown keys are ignored. */
  readonly parents: Iterable<Key>
  /** The transactions that already spend it, as after a reorg. Unknown keys are ignored. */
  readonly children?: Iterable<Key>
}

interface Member<Key extends string> {
  readonly key: Key
  fee: number
  readonly weight: number
  readonly parents: Set<Key>
  readonly children: Set<Key>
  cluster: Cluster<Key>
}

/** Transactions connected directly or through others. */
interface Cluster<Key extends string> {
  readonly number: number
  readonly members: Set<Member<Key>>
  /** Best first; `undefined` until requested. */
  chunks: ReadonlyArray<RankedChunk<Key>> | undefined
}

const NONE: ReadonlySet<never> = new Set()

/**
 * The unconfirmed transactions and their dependencies: their clusters, and the chunks in which these are best mined.
 * Has fees, weights and keys, but no transactions. Computes chunks on request and keeps them until their cluster
 * changes.
 */
export class TxGraph<Key extends string = string> {
  private readonly members = new Map<Key, Member<Key>>()
  private readonly order = new ChunkOrder<Key>()
  /** Clusters whose chunks are not in `order`. */
  private readonly changed = new Set<Cluster<Key>>()
  private all: ReadonlyArray<GraphChunk<Key>> | undefined
  private clusterCount = 0

  get size(): number {
    return this.members.size
  }

  has(key: Key): boolean {
    return this.members.has(key)
  }

  /** Adds a transaction, which joins the clusters of its relatives. */
  add(key: Key, node: NewNode<Key>): void {
    if (this.members.has(key)) throw new TypeError("the transaction is in the graph already")
    const parents = this.known(node.parents)
    const children = this.known(node.children ?? NONE)
    const cluster = this.newCluster()
    const member: Member<Key> = { key, fee: node.fee, weight: node.weight, parents, children, cluster }
    this.members.set(key, member)
    cluster.members.add(member)
    for (const parent of parents) this.members.get(parent)?.children.add(key)
    for (const child of children) this.members.get(child)?.parents.add(key)
    for (const relative of this.relatives(key)) this.join(member, this.members.get(relative))
    this.touch(member.cluster)
  }

  /** Removes one transaction. Its children stay; its cluster may split. */
  remove(key: Key): void {
    const member = this.members.get(key)
    if (member === undefined) return
    const relatives = [...this.relatives(key)]
    this.members.delete(key)
    for (const parent of member.parents) this.members.get(parent)?.children.delete(key)
    for (const child of member.children) this.members.get(child)?.parents.delete(key)
    member.cluster.members.delete(member)
    this.touch(member.cluster)
    if (relatives.length > 1) this.split(relatives)
  }

  setFee(key: Key, fee: number): void {
    const member = this.members.get(key)
    if (member === undefined || member.fee === fee) return
    member.fee = fee
    this.touch(member.cluster)
  }

  parents(key: Key): ReadonlySet<Key> {
    return this.members.get(key)?.parents ?? NONE
  }

  children(key: Key): ReadonlySet<Key> {
    return this.members.get(key)?.children ?? NONE
  }

  /** All ancestors of a transaction, without itself. */
  ancestors(key: Key): ReadonlySet<Key> {
    const found = this.reach([key], (near) => this.parents(near))
    found.delete(key)
    return found
  }

  /** All descendants of a transaction, without itself. */
  descendants(key: Key): ReadonlySet<Key> {
    const found = this.reach([key], (near) => this.children(near))
    found.delete(key)
    return found
  }

  /** A transaction's cluster in chunk order, parents before children. */
  cluster(key: Key): ReadonlyArray<Key> {
    return this.chunksOf(key).flatMap(({ keys }) => keys)
  }

  /**
   * The size of the cluster that a transaction with these parents would join, with `without` removed. Beyond `most`
   * transactions the result is partial and only shows that there are more.
   */
  clusterWith(
    parents: Iterable<Key>,
    without: ReadonlySet<Key> = NONE,
    most = Infinity
  ): { readonly count: number; readonly weight: number } {
    const found = this.known([...parents].filter((key) => !without.has(key)))
    let count = 0
    let weight = 0
    for (const key of found) {
      weight += this.members.get(key)?.weight ?? 0
      if (++count > most) break
      for (const near of this.relatives(key)) if (!without.has(near)) found.add(near)
    }
    return { count, weight }
  }

  /** The chunks of a transaction's cluster, best first. Empty for an unknown transaction. */
  chunksOf(key: Key): ReadonlyArray<GraphChunk<Key>> {
    const cluster = this.members.get(key)?.cluster
    return cluster === undefined ? [] : this.chunksIn(cluster).map(({ chunk }) => chunk)
  }

  chunkOf(key: Key): GraphChunk<Key> | undefined {
    return this.chunksOf(key).find(({ keys }) => keys.includes(key))
  }

  /** All chunks, best first, which puts parents before children. */
  chunks(): ReadonlyArray<GraphChunk<Key>> {
    this.settle()
    return this.all ??= this.order.all()
  }

  /** The chunk to evict first: the last of `chunks`, which has no descendants outside of it. */
  worst(): GraphChunk<Key> | undefined {
    this.settle()
    return this.order.worst()
  }

  clustersAffected(keys: Iterable<Key>): number {
    return this.clustersOf(keys).size
  }

  /**
   * Whether removing some transactions and adding others, whose parents may be in the graph or among them, improves the
   * fee-rate diagram and worsens it nowhere. Compares only the affected clusters. Source: upstream `policy/rbf.cpp`,
   * `ImprovesFeerateDiagram`.
   */
  improves(removed: ReadonlySet<Key>, added: ReadonlyArray<GraphNode<Key>>): boolean {
    const touched = [...removed, ...added.flatMap(({ parents }) => [...parents])]
    const before: Array<GraphChunk<Key>> = []
    const after: Array<GraphNode<Key>> = [...added]
    for (const cluster of this.clustersOf(touched)) {
      for (const { chunk } of this.chunksIn(cluster)) before.push(chunk)
      for (const member of cluster.members) if (!removed.has(member.key)) after.push(member)
    }
    before.sort((a, b) => compareRates(b, a))
    return compareDiagrams(graphChunks(after), before) === "better"
  }

  /** The fee-rate diagram of all transactions, from the origin. */
  diagram(): ReadonlyArray<DiagramPoint> {
    return diagramOf(this.chunks())
  }

  private known(keys: Iterable<Key>): Set<Key> {
    const known = new Set<Key>()
    for (const key of keys) if (this.members.has(key)) known.add(key)
    return known
  }

  private *relatives(key: Key): Iterable<Key> {
    yield* this.parents(key)
    yield* this.children(key)
  }

  /** Everything reachable from transactions of the graph, including themselves. */
  private reach(starts: Iterable<Key>, next: (key: Key) => Iterable<Key>): Set<Key> {
    const found = this.known(starts)
    for (const key of found) for (const near of next(key)) found.add(near)
    return found
  }

  private clustersOf(keys: Iterable<Key>): ReadonlySet<Cluster<Key>> {
    const clusters = new Set<Cluster<Key>>()
    for (const key of keys) {
      const member = this.members.get(key)
      if (member !== undefined) clusters.add(member.cluster)
    }
    return clusters
  }

  private newCluster(): Cluster<Key> {
    return { number: this.clusterCount++, members: new Set(), chunks: undefined }
  }

  /** Marks the chunks of a cluster as outdated. */
  private touch(cluster: Cluster<Key>): void {
    for (const ranked of cluster.chunks ?? []) ranked.isCurrent = false
    cluster.chunks = undefined
    this.all = undefined
    if (cluster.members.size > 0) this.changed.add(cluster)
    else this.changed.delete(cluster)
  }

  /** Merges the smaller of two transactions' clusters into the larger. */
  private join(a: Member<Key>, b: Member<Key> | undefined): void {
    if (b === undefined || a.cluster === b.cluster) return
    const isLarger = a.cluster.members.size > b.cluster.members.size
    const [from, into] = isLarger ? [b.cluster, a.cluster] : [a.cluster, b.cluster]
    this.move([...from.members], into)
    this.touch(from)
  }

  private move(members: Iterable<Member<Key>>, into: Cluster<Key>): void {
    for (const member of members) {
      member.cluster.members.delete(member)
      member.cluster = into
      into.members.add(member)
    }
  }

  /** Splits a cluster that lost a member, given its relatives: all connected parts but one are new. */
  private split(relatives: ReadonlyArray<Key>): void {
    const seen = new Set<Key>()
    for (const [i, relative] of relatives.entries()) {
      if (seen.has(relative)) continue
      const part = this.reach([relative], (near) => this.relatives(near))
      for (const key of part) seen.add(key)
      if (i === 0) continue
      const cluster = this.newCluster()
      const members: Array<Member<Key>> = []
      for (const key of part) {
        const member = this.members.get(key)
        if (member !== undefined) members.push(member)
      }
      this.move(members, cluster)
      this.touch(cluster)
    }
  }

  private chunksIn(cluster: Cluster<Key>): ReadonlyArray<RankedChunk<Key>> {
    if (cluster.chunks !== undefined) return cluster.chunks
    const chunks = graphChunks([...cluster.members]).map((chunk, index) => ({
      chunk,
      cluster: cluster.number,
      index,
      isCurrent: true
    }))
    cluster.chunks = chunks
    this.changed.delete(cluster)
    this.order.add(chunks)
    return chunks
  }

  /** Computes the chunks of all changed clusters. */
  private settle(): void {
    for (const cluster of this.changed) this.chunksIn(cluster)
  }
}
