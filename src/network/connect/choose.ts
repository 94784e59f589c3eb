import { below, type Random } from "../../base/random.ts"
import type { AddressBook } from "../addresses/AddressBook.ts"
import type { BookAddress } from "../addresses/bookEntry.ts"
import { offersEnough } from "../peer/Handshake.ts"
import { type AddressNetwork, endpointKey } from "../wire/netAddress.ts"
import { networkGroup } from "../wire/netGroup.ts"

/** What is to be avoided when an address is chosen. */
export interface ChoiceOptions {
  readonly purpose: "outbound-full-relay" | "block-relay-only" | "feeler"
  /** Networks that we can reach. */
  readonly networks: ReadonlySet<AddressNetwork>
  /** Groups, as `networkGroup` gives them, of our outbound peers. */
  readonly groups: ReadonlySet<string>
  /** Keys, as `endpointKey` gives them, of peers that are connected or being called, and of ourselves. */
  readonly taken: ReadonlySet<string>
  readonly barred: (address: BookAddress["address"]) => boolean
  readonly nearTip: boolean
  /** Seconds since 1970. */
  readonly now: number
  readonly random: Random
}

/** Candidates that are looked at in one round. */
const CANDIDATES = 100

/** Candidates after which an address that was called just now will do, and one with a port of another service. */
const PATIENT = 30
const CHOOSY = 50

/** How long an address is left alone after it was called, seconds. */
const PAUSE = 600

/** How long it is left alone where there is no other, seconds. */
const SHORT_PAUSE = 30

/**
 * Up to as many addresses are all looked at. Drawing from the book's buckets until one fits would take long there: most
 * slots are empty, and perhaps nothing fits at all.
 */
const FEW = 1000

/**
 * Ports of other services, on which no peer is called as long as there are others: nobody shall have us knock on
 * strangers' doors (upstream `netbase.cpp`, `IsBadPort`).
 */
const BAD_PORTS: ReadonlySet<number> = new Set([
  ...[1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109],
  ...[110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530],
  ...[531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3306, 3389, 3659],
  ...[4045, 5060, 5061, 5432, 5900, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6697, 10080, 27017]
])

/** Networks whose groups say nothing about who is there. */
const UNGROUPED: ReadonlySet<AddressNetwork> = new Set(["torv3", "i2p", "cjdns"])

/** What keeps an address from being called, however many there are. */
const isOut = ({ address, lastTry, port, services }: BookAddress, options: ChoiceOptions): boolean => {
  const { barred, groups, nearTip, networks, now, purpose, taken } = options
  if (lastTry > 0 && now - lastTry < SHORT_PAUSE) return true
  if (!networks.has(address.network) || taken.has(endpointKey(address, port)) || barred(address)) return true
  if (purpose === "feeler") return false
  if (!UNGROUPED.has(address.network) && groups.has(networkGroup(address))) return true
  return !offersEnough(services, nearTip)
}

/** Those of a kind, where there are any; else all. */
const preferring = (list: ReadonlyArray<BookAddress>, kind: (address: BookAddress) => boolean) => {
  const some = list.filter(kind)
  return some.length > 0 ? some : list
}

/** Chooses from a book that has few addresses, by the same rules and without luck. */
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
 * Chooses an address to call (reference/protocol.md 6.10; upstream `net.cpp`, `ThreadOpenConnections`). A feeler tests
 * what stands in the way of another address, or an address that never answered.
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
