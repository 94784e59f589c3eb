import * as Effect from "effect/Effect"
import type { Account, BudgetKind, MemoryBudget } from "../../base/MemoryBudget.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { ConnectionType } from "../Peer.ts"
import { ITEM_SIZE, MAX_ANNOUNCED } from "../wire/messages/inv.ts"

/**
 * The part of a kind of memory that one peer may hold: room for the largest message. A peer that this node or its
 * operator chose has more, and is not dropped to make room for others.
 */
const INBOUND_SHARE = 0.25
const CHOSEN_SHARE = 0.5

/** What is held of what a peer sends. */
const RECEIVED: ReadonlyArray<BudgetKind> = ["frames", "messages"]

/** What a decoded message takes beside its payload, and what each header takes with its hash. */
const OBJECTS = 256
const HEADER = 700

/** How many headers a payload says that it has. */
const announcedHeaders = ([first = 0, low = 0, high = 0]: Bytes): number => first < 0xfd ? first : low + (high << 8)

/**
 * Estimated memory of a message of a command that is decoded from a payload. Transactions, headers and addresses
 * become objects with views of the payload; an inventory stays what it was, cut to what is kept of it.
 */
export const decodedSize = (command: string, payload: Bytes): number => {
  const { length } = payload
  switch (command) {
    case "inv":
      return OBJECTS + Math.min(length, ITEM_SIZE * MAX_ANNOUNCED)
    case "headers":
      return OBJECTS + 2 * length + HEADER * Math.min(announcedHeaders(payload), length)
    case "block":
    case "cmpctblock":
    case "blocktxn":
    case "tx":
    case "getheaders":
    case "getblocks":
      return OBJECTS + 2 * length
    case "addr":
    case "addrv2":
    case "getblocktxn":
      return OBJECTS + 8 * length
    default:
      return OBJECTS + length
  }
}

export interface PeerMemoryOptions {
  readonly name: string
  readonly type: ConnectionType
  /** Ends the connection. */
  readonly evict: (kind: BudgetKind) => void
}

/** The account of one connection: its unfinished frame, the message that is handled, its compact blocks, what it is to be sent. */
export class PeerMemory {
  readonly account: Account
  /** Bytes of the frame that is not complete. */
  readonly frames = {
    take: (bytes: number): boolean => this.account.take("frames", bytes),
    give: (bytes: number): void => this.account.give("frames", bytes)
  }
  /** Bytes that wait to be sent. */
  readonly outbox = {
    take: (bytes: number): boolean => this.account.take("outbox", bytes),
    give: (bytes: number): void => this.account.give("outbox", bytes),
    room: Effect.suspend(() => this.budget.room(this.account, ["outbox"]))
  }
  private readonly budget: MemoryBudget
  private readonly inbound: boolean

  constructor(budget: MemoryBudget, { evict, name, type }: PeerMemoryOptions) {
    this.budget = budget
    this.inbound = type === "inbound"
    this.account = budget.open({
      owner: `peer ${name}`,
      share: this.inbound ? INBOUND_SHARE : CHOSEN_SHARE,
      evictable: this.inbound,
      evict
    })
  }

  /** Counts a message while it is decoded and handled; runs nothing and returns false where there is no room for it. */
  holding(bytes: number, handling: () => Effect.Effect<void>): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      if (!this.account.take("messages", bytes)) return Effect.succeed(false)
      return Effect.as(handling(), true).pipe(
        Effect.ensuring(Effect.sync(() => this.account.give("messages", bytes)))
      )
    })
  }

  /**
   * Waits while memory is scarce and an inbound peer holds more than an equal part of it, some seconds at most: then its
   * bytes are read, and whether it or another peer has to go is decided when they are counted. `ended` returns when the
   * peer sends no more. Returns whether it still does.
   */
  room(ended: Effect.Effect<void>): Effect.Effect<boolean> {
    return Effect.suspend(() =>
      this.inbound && RECEIVED.some((kind) => this.budget.isTight(kind, this.account))
        ? Effect.raceFirst(Effect.as(this.budget.room(this.account, RECEIVED), true), Effect.as(ended, false))
        : Effect.succeed(true)
    )
  }

  close(): void {
    this.account.close()
  }
}
