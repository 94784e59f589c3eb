import { sipHashHalves, sipKey } from "../../base/siphash.ts"
import { type Bytes, fromBinaryString } from "../../protocol/bytes.ts"
import type { AddressNetwork } from "../wire/netAddress.ts"

/**
 * Which inbound peer makes room for another one (reference/protocol.md 6.10, last paragraph; upstream
 * `node/eviction.cpp`, `SelectNodeToEvict`). Each rule protects some peers by something that an attacker cannot have
 * for all of his at once: addresses all over the world, nearness, blocks and transactions that are new to us, long
 * uptime.
 */

/** An inbound peer. Times are seconds since 1970; 0 stands for never. */
export interface EvictionCandidate {
  readonly id: number
  readonly connectedAt: number
  /** As `networkGroup` gives it. */
  readonly group: string
  /** The best round trip, milliseconds; `undefined` as long as there was none. */
  readonly bestPing: number | undefined
  /** When it last gave us a transaction, or a block, that was new. */
  readonly lastTransaction: number
  readonly lastBlock: number
  /** Whether it offers blocks: NODE_NETWORK and NODE_WITNESS. */
  readonly servesBlocks: boolean
  /** Whether transactions are relayed to it. */
  readonly relaysTransactions: boolean
  /** Whether it comes from this machine. */
  readonly local: boolean
  readonly network: AddressNetwork
  /** Whether it is the first to go, as a discouraged address is. */
  readonly preferEvict: boolean
  /** Whether it stays in any case. */
  readonly noban: boolean
}

interface Candidate extends EvictionCandidate {
  /** A number for the group that nobody else can foresee. */
  readonly groupHash: readonly [number, number]
}

/** Orders candidates: the best ones, which are protected, come first. */
type Order = (a: Candidate, b: Candidate) => number

const larger = (a: number, b: number): number => b - a

/** True before false. */
const first = (a: boolean, b: boolean): number => Number(b) - Number(a)

const longest: Order = (a, b) => a.connectedAt - b.connectedAt

const byGroup: Order = (a, b) => larger(a.groupHash[1], b.groupHash[1]) || larger(a.groupHash[0], b.groupHash[0])

/** A ping that never came back sorts last. Not by subtraction: infinity less itself is no number. */
const byPing: Order = (a, b) => {
  const [left, right] = [a.bestPing ?? Infinity, b.bestPing ?? Infinity]
  return left === right ? 0 : left < right ? -1 : 1
}

const byTransaction: Order = (a, b) =>
  larger(a.lastTransaction, b.lastTransaction) || first(a.relaysTransactions, b.relaysTransactions) || longest(a, b)

const byBlock: Order = (a, b) =>
  larger(a.lastBlock, b.lastBlock) || first(a.servesBlocks, b.servesBlocks) || longest(a, b)

const byBlockAlone: Order = (a, b) => first(!a.relaysTransactions, !b.relaysTransactions) || byBlock(a, b)

/** Those who are left when the first `count` in an order are protected, as far as they are of a kind. */
const without = (
  candidates: ReadonlyArray<Candidate>,
  order: Order,
  count: number,
  kind: (candidate: Candidate) => boolean = () => true
): ReadonlyArray<Candidate> =>
  [...candidates].sort(order).filter((candidate, rank) => rank >= count || !kind(candidate))

/** Networks whose peers answer slowly, so that the other rules seldom protect them. */
const DISADVANTAGED: ReadonlyArray<(candidate: Candidate) => boolean> = [
  ({ network }) => network === "cjdns",
  ({ network }) => network === "i2p",
  ({ local }) => local,
  ({ network }) => network === "torv3"
]

/**
 * Protects up to `limit` peers of disadvantaged networks, those of longest uptime. Each network has an equal share; what
 * one does not need goes to the others, beginning with the one that has the fewest.
 */
const withoutDisadvantaged = (candidates: ReadonlyArray<Candidate>, limit: number): ReadonlyArray<Candidate> => {
  const networks = DISADVANTAGED
    .map((kind) => ({ kind, count: candidates.filter(kind).length }))
    .sort((a, b) => a.count - b.count)
  let left = candidates
  for (let room = limit; room > 0;) {
    const present = networks.filter(({ count }) => count > 0)
    const share = Math.max(1, Math.floor(room / Math.max(1, present.length)))
    const before = left.length
    for (const network of present) {
      if (room === 0) break
      const size = left.length
      left = without(left, (a, b) => first(network.kind(a), network.kind(b)) || longest(a, b), share, network.kind)
      network.count -= size - left.length
      room -= size - left.length
    }
    if (left.length === before) break
  }
  return left
}

/** Protects half of the candidates by uptime; up to half of these places are for disadvantaged networks. */
const withoutLongest = (candidates: ReadonlyArray<Candidate>): ReadonlyArray<Candidate> => {
  const places = Math.floor(candidates.length / 2)
  const left = withoutDisadvantaged(candidates, Math.floor(places / 2))
  return without(left, longest, places - (candidates.length - left.length))
}

/** The youngest peer of the group that has the most; of groups of one size that with the youngest peer. */
const youngestOfLargestGroup = (candidates: ReadonlyArray<Candidate>): Candidate | undefined => {
  const groups = new Map<string, Array<Candidate>>()
  for (const candidate of [...candidates].sort((a, b) => longest(b, a))) {
    const group = groups.get(candidate.group)
    if (group === undefined) groups.set(candidate.group, [candidate])
    else group.push(candidate)
  }
  let chosen: ReadonlyArray<Candidate> = []
  // They come by their youngest members, so that of equals the first one is the youngest.
  for (const group of groups.values()) if (group.length > chosen.length) chosen = group
  return chosen[0]
}

/** The id of the peer to let go; `undefined` where all are protected. The secret has 16 bytes. */
export const selectPeerToEvict = (
  candidates: ReadonlyArray<EvictionCandidate>,
  secret: Bytes
): number | undefined => {
  const key = sipKey(secret)
  let left: ReadonlyArray<Candidate> = candidates
    .filter(({ noban }) => !noban)
    .map((candidate) => ({ ...candidate, groupHash: sipHashHalves(key, fromBinaryString(candidate.group)) }))
  left = without(left, byGroup, 4)
  left = without(left, byPing, 8)
  left = without(left, byTransaction, 4)
  left = without(left, byBlockAlone, 8, ({ relaysTransactions, servesBlocks }) => !relaysTransactions && servesBlocks)
  left = without(left, byBlock, 4)
  left = withoutLongest(left)
  const preferred = left.filter(({ preferEvict }) => preferEvict)
  return youngestOfLargestGroup(preferred.length > 0 ? preferred : left)?.id
}
