import { below, type Random } from "../../base/random.ts"
import type { PeerId } from "../../protocol/keys.ts"
import type { AddressBook } from "../addresses/AddressBook.ts"
import type { BookAddress } from "../addresses/bookEntry.ts"
import { offersEnough } from "../peer/Handshake.ts"
import { type AddressNetwork, endpointKey } from "../wire/netAddress.ts"
import { networkGroup } from "../wire/netGroup.ts"

/** An outbound peer that may be disconnected. Seconds since 1970. */
export interface ExtraPeer {
  readonly id: PeerId
  readonly network: AddressNetwork
  readonly connectedAt: number
  /** When the peer last announced a block ahead of our tip; 0 for never. */
  readonly lastAnnouncement: number
  /** When the peer last sent a new block; 0 for never. */
  readonly lastBlock: number
  readonly busy: boolean
}

/** Seconds before a peer can be disconnected (reference/protocol.md 6.10). */
const TRIAL = 30

const mayGo = ({ busy, connectedAt }: ExtraPeer, now: number): boolean => !busy && now - connectedAt > TRIAL

/**
 * The peer with the oldest block announcement, the youngest among equals, but never the only one of its network,
 * counting `manual` peers. Source: upstream `net_processing.cpp`, `EvictExtraOutboundPeers`.
 */
export const extraFullRelay = (
  peers: ReadonlyArray<ExtraPeer>,
  { limit, manual, now }: {
    readonly manual: ReadonlyArray<AddressNetwork>
    readonly limit: number
    readonly now: number
  }
): PeerId | undefined => {
  if (peers.length <= limit) return undefined
  const networks = [...manual, ...peers.map(({ network }) => network)]
  const [worst] = peers
    .filter(({ network }) => networks.filter((other) => other === network).length > 1)
    .sort((a, b) => a.lastAnnouncement - b.lastAnnouncement || b.id - a.id)
  return worst !== undefined && mayGo(worst, now) ? worst.id : undefined
}

/** The surplus block-relay-only peer to disconnect: the youngest, or the next if that sent a block. Source as above. */
export const extraBlockRelay = (
  peers: ReadonlyArray<ExtraPeer>,
  { limit, now }: { readonly limit: number; readonly now: number }
): PeerId | undefined => {
  if (peers.length <= limit) return undefined
  const [youngest, next] = [...peers].sort((a, b) => b.id - a.id)
  const chosen = youngest !== undefined && next !== undefined && youngest.lastBlock > next.lastBlock ? next : youngest
  return chosen !== undefined && mayGo(chosen, now) ? chosen.id : undefined
}

export interface ChoiceOptions {
  readonly purpose: "outbound-full-relay" | "block-relay-only" | "feeler"
  readonly networks: ReadonlySet<AddressNetwork>
  readonly groups: ReadonlySet<string>
  /** Keys (`endpointKey`) of peers that are connected or connecting, and of this node. */
  readonly taken: ReadonlySet<string>
  readonly barred: (address: BookAddress["address"]) => boolean
  readonly nearTip: boolean
  /** Seconds since 1970. */
  readonly now: number
  readonly random: Random
}

const CANDIDATES = 100

/** Candidates after which recently tried addresses and ports of other services are accepted. */
const PATIENT = 30
const CHOOSY = 50

/** Seconds for which a tried address is avoided. */
const PAUSE = 600

/** The same if there is no other address. */
const SHORT_PAUSE = 30

/** Up to this size, all addresses are checked, as random buckets of a small book are mostly empty. */
const FEW = 1000

/** Ports of other services, so that an attacker cannot direct us to them (upstream `netbase.cpp`, `IsBadPort`). */
const BAD_PORTS: ReadonlySet<number> = new Set([
  ...[1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109],
  ...[110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530],
  ...[531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3306, 3389, 3659],
  ...[4045, 5060, 5061, 5432, 5900, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6697, 10080, 27017]
])

/** Networks in which the address group does not identify an operator. */
const UNGROUPED: ReadonlySet<AddressNetwork> = new Set(["torv3", "i2p", "cjdns"])

const isOut = ({ address, lastTry, port, services }: BookAddress, options: ChoiceOptions): boolean => {
  const { barred, groups, nearTip, networks, now, purpose, taken } = options
  if (lastTry > 0 && now - lastTry < SHORT_PAUSE) return true
  if (!networks.has(address.network) || taken.has(endpointKey(address, port)) || barred(address)) return true
  if (purpose === "feeler") return false
  if (!UNGROUPED.has(address.network) && groups.has(networkGroup(address))) return true
  return !offersEnough(services, nearTip)
}

const preferring = (list: ReadonlyArray<BookAddress>, kind: (address: BookAddress) => boolean) => {
  const some = list.filter(kind)
  return some.length > 0 ? some : list
}

const chooseOfFew = (book: AddressBook, options: ChoiceOptions): BookAddress | undefined => {
  const { now, purpose, random } = options
  const searched = purpose !== "feeler" && random() < 0.5
  const fit = book.all().filter((known) => !isOut(known, options) && (purpose !== "feeler" || !known.tried))
  const table = preferring(fit, ({ tried }) => tried === searched)
  const rested = preferring(table, ({ lastTry }) => lastTry === 0 || now - lastTry >= PAUSE)
  const likely = preferring(rested, ({ port }) => !BAD_PORTS.has(port))
  return likely[below(random, likely.length)]
}

/**
 * See reference/protocol.md 6.10; upstream `net.cpp`, `ThreadOpenConnections`. A feeler tests an address in a
 * tried-table collision, or one that never answered.
 */
export const chooseAddress = (book: AddressBook, options: ChoiceOptions): BookAddress | undefined => {
  const { networks, now, purpose } = options
  book.resolveCollisions(now)
  const collision = purpose === "feeler" ? book.selectCollision() : undefined
  if (collision !== undefined && !isOut(collision, options)) return collision
  if (book.size <= FEW) return chooseOfFew(book, options)
  for (let tries = 1; tries <= CANDIDATES; tries++) {
    const candidate = book.select({ newOnly: purpose === "feeler", networks }, now)
    if (candidate === undefined) return undefined
    if (isOut(candidate, options)) continue
    if (now - candidate.lastTry < PAUSE && tries < PATIENT) continue
    if (BAD_PORTS.has(candidate.port) && tries < CHOOSY) continue
    return candidate
  }
  return undefined
}
