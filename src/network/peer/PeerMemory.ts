import * as Effect from "effect/Effect"
import type { BudgetKind, MemoryAccount, MemoryBudget } from "../../base/MemoryBudget.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { ConnectionType } from "../Peer.ts"
import { ITEM_SIZE, MAX_ANNOUNCED } from "../wire/messages/inv.ts"

/** A peer's share of a memory kind: the largest message. Outbound peers have more and are not evicted. */
const INBOUND_SHARE = 0.25
const CHOSEN_SHARE = 0.5

const RECEIVED: ReadonlyArray<BudgetKind> = ["frames", "messages"]

/** Memory of a decoded message beyond its payload, and of each header with its hash. */
const OBJECTS = 256
const HEADER = 700

const announcedHeaders = ([first = 0, low = 0, high = 0]: Bytes): number => first < 0xfd ? first : low + (high << 8)

/** Transactions, headers and addresses become objects with views of the payload; an inventory stays bytes. */
export const decodedSize = (command: string, payload: Bytes, whole = false): number => {
  const { length } = payload
  switch (command) {
    case "inv":
      return OBJECTS + (whole ? length : Math.min(length, ITEM_SIZE * MAX_ANNOUNCED))
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
  readonly evict: (kind: BudgetKind) => void
}

/** One connection: unfinished frame, current message, compact blocks, send buffer. */
export class PeerMemory {
  readonly account: MemoryAccount
  readonly frames = {
    take: (bytes: number): boolean => this.account.take("frames", bytes),
    give: (bytes: number): void => this.account.give("frames", bytes)
  }
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

  /** Counts a message while it is handled. Without room, runs nothing and returns false. */
  holding(bytes: number, handling: () => Effect.Effect<void>): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      if (!this.account.take("messages", bytes)) return Effect.succeed(false)
      return Effect.as(handling(), true).pipe(
        Effect.ensuring(Effect.sync(() => this.account.give("messages", bytes)))
      )
    })
  }

  /** Waits some seconds at scarce memory and a large share. Returns whether the peer still sends. */
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
