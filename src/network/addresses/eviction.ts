import { sipHashHalves, sipKey } from "../../base/siphash.ts"
import { type Bytes, fromBinaryString } from "../../protocol/bytes.ts"
import type { AddressNetwork } from "../wire/netAddress.ts"

// Selects the inbound peer to evict for a new one (reference/protocol.md 6.10; upstream `node/eviction.cpp`,
// `SelectNodeToEvict`). Each rule protects peers by a property that an attacker cannot have for all its peers.

/** Seconds since 1970; 0 means never. */
export interface EvictionCandidate {
  readonly id: number
  readonly connectedAt: number
  readonly group: string
  /** The best round trip in milliseconds; `undefined` before the first `pong`. */
  readonly bestPing: number | undefined
  readonly lastTransaction: number
  readonly lastBlock: number
  /** NODE_NETWORK and NODE_WITNESS. */
  readonly servesBlocks: boolean
  readonly relaysTransactions: boolean
  readonly local: boolean
  readonly network: AddressNetwork
  readonly preferEvict: boolean
  readonly noban: boolean
}

interface Candidate extends EvictionCandidate {
  /** A keyed hash of the group, unpredictable without the key. */
  readonly groupHash: readonly [number, number]
}

type Order = (a: Candidate, b: Candidate) => number

const larger = (a: number, b: number): number => b - a

const first = (a: boolean, b: boolean): number => Number(b) - Number(a)

const longest: Order = (a, b) => a.connectedAt - b.connectedAt

const byGroup: Order = (a, b) => larger(a.groupHash[1], b.groupHash[1]) || larger(a.groupHash[0], b.groupHash[0])

/** Unanswered pings sort last. Subtraction would give NaN for infinity minus infinity. */
const byPing: Order = (a, b) => {
  const [left, right] = [a.bestPing ?? Infinity, b.bestPing ?? Infinity]
  return left === right ? 0 : left < right ? -1 : 1
}

const byTransaction: Order = (a, b) =>
  larger(a.lastTransaction, b.lastTransaction) || first(a.relaysTransactions, b.relaysTransactions) || longest(a, b)

const byBlock: Order = (a, b) =>
  larger(a.lastBlock, b.lastBlock) || first(a.servesBlocks, b.servesBlocks) || longest(a, b)

const byBlockAlone: Order = (a, b) => first(!a.relaysTransactions, !b.relaysTransactions) || byBlock(a, b)

const without = (
  candidates: ReadonlyArray<Candidate>,
  { order, count, kind = () => true }: {
    readonly order: Order
    readonly count: number
    readonly kind?: (candidate: Candidate) => boolean
  }
): ReadonlyArray<Candidate> =>
  [...candidates].sort(order).filter((candidate, rank) => rank >= count || !kind(candidate))

/** Networks with high latency, which the other rules seldom protect. */
const DISADVANTAGED: ReadonlyArray<(candidate: Candidate) => boolean> = [
  ({ network }) => network === "cjdns",
  ({ network }) => network === "i2p",
  ({ local }) => local,
  ({ network }) => network === "torv3"
]

/** Equal shares of `limit` per network, longest uptime first. Unused shares go to the others. */
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
      left = without(left, {
        order: (a, b) => first(network.kind(a), network.kind(b)) || longest(a, b),
        count: share,
        kind: network.kind
      })
      network.count -= size - left.length
      room -= size - left.length
    }
    if (left.length === before) break
  }
  return left
}

/** Half by uptime, of which up to half go to disadvantaged networks. */
const withoutLongest = (candidates: ReadonlyArray<Candidate>): ReadonlyArray<Candidate> => {
  const places = Math.floor(candidates.length / 2)
  const left = withoutDisadvantaged(candidates, Math.floor(places / 2))
  return without(left, { order: longest, count: places - (candidates.length - left.length) })
}

const youngestOfLargestGroup = (candidates: ReadonlyArray<Candidate>): Candidate | undefined => {
  const groups = new Map<string, Array<Candidate>>()
  for (const candidate of [...candidates].sort((a, b) => longest(b, a))) {
    const group = groups.get(candidate.group)
    if (group === undefined) groups.set(candidate.group, [candidate])
    else group.push(candidate)
  }
  let chosen: ReadonlyArray<Candidate> = []
  // Groups are ordered by their youngest members, so the first of the largest groups wins.
  for (const group of groups.values()) if (group.length > chosen.length) chosen = group
  return chosen[0]
}

/** `undefined` if all are protected. The secret has 16 bytes. */
export const selectPeerToEvict = (
  candidates: ReadonlyArray<EvictionCandidate>,
  secret: Bytes
): number | undefined => {
  const key = sipKey(secret)
  let left: ReadonlyArray<Candidate> = candidates
    .filter(({ noban }) => !noban)
    .map((candidate) => ({ ...candidate, groupHash: sipHashHalves(key, fromBinaryString(candidate.group)) }))
  left = without(left, { order: byGroup, count: 4 })
  left = without(left, { order: byPing, count: 8 })
  left = without(left, { order: byTransaction, count: 4 })
  left = without(left, {
    order: byBlockAlone,
    count: 8,
    kind: ({ relaysTransactions, servesBlocks }) => !relaysTransactions && servesBlocks
  })
  left = without(left, { order: byBlock, count: 4 })
  left = withoutLongest(left)
  const preferred = left.filter(({ preferEvict }) => preferEvict)
  return youngestOfLargestGroup(preferred.length > 0 ? preferred : left)?.id
}
