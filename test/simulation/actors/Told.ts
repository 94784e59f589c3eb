import type { HookMessages } from "../../../scripts/crash/hookMessages.ts"
import type { Freshness, NameRecord } from "../../../src/client/records.ts"
import type { World } from "../World.ts"
import type { EventCopy } from "./copies.ts"
import { Decisions } from "./Decisions.ts"

/** What nodes told the actors of a world. Properties compare it with what is true at the end. */

/** Where and when something was told. */
export interface Source {
  readonly node: string
  /** Which start of the node. */
  readonly life: number
  /** Virtual milliseconds. */
  readonly at: number
}

/** A wallet said that it stored and sent a transaction. */
export interface SentTransaction extends Source {
  /** The purpose: the action of an owner. */
  readonly what: string
  /** Display order. */
  readonly txid: string
  /** Display order of what it replaces. */
  readonly replaces?: string
}

/** A wallet said that it registers a name. */
export interface BegunRegistration extends Source {
  readonly name: string
  readonly value: string
  /** Of NAME_NEW, display order; `undefined` while it waits. */
  readonly newTxid: string | undefined
  /** In hex. */
  readonly salt: string
  /** Whether the owner cancelled it, so that it may end as failed. */
  cancelled: boolean
}

/** A block of a node's best chain. */
export interface Tip {
  readonly height: number
  /** Display order. */
  readonly hash: string
}

/** A client's answer about a name, with what it claimed of itself. */
export interface NameTold extends Source {
  readonly name: string
  /** `undefined`: the name does not exist or has expired. */
  readonly record: NameRecord | undefined
  readonly asOf: Freshness
  /** The last block whose names the node had right before the question; `undefined` if it had none, or is light. */
  readonly names: Tip | undefined
  /** The tip of the node right before the question. */
  readonly before: Tip
  /** The tip right after the answer. */
  readonly after: Tip
}

/** What an application that follows `changes` holds: it never asks for anything else. */
export interface Replica {
  readonly node: string
  /** The last record of each name. */
  readonly names: Map<string, NameRecord>
  /** That of the last change; `"0"` at first. */
  cursor: string
}

/** What the receiver of a webhook has. */
export interface ReceivedCopy {
  readonly messages: HookMessages
  readonly copy: EventCopy
}

export class Told {
  readonly transactions: Array<SentTransaction> = []
  readonly registrations: Array<BegunRegistration> = []
  readonly names: Array<NameTold> = []
  readonly replicas: Array<Replica> = []
  /** Copies by `GET /events`. */
  readonly copies: Array<EventCopy> = []
  /** What the receiver of a node's webhook has, by node. */
  readonly hooks = new Map<string, ReceivedCopy>()
  /** By node. */
  readonly decisions = new Map<string, Decisions>()
  /** Updates that no owner signed, in display order. Whole nodes refuse them. */
  readonly thefts = new Set<string>()
  /** Payments with the key of a wallet that another program made, in display order. */
  readonly rivals = new Set<string>()
  /** Transactions that an owner may have abandoned, with all that spends their outputs, in display order. */
  readonly abandoned = new Set<string>()
  /** Nodes whose wallet was replaced by an older copy, with the time. */
  readonly restored = new Map<string, number>()
}

const all = new WeakMap<World, Told>()

/** The record of a world; made at the first use. */
export const toldIn = (world: World): Told => {
  const known = all.get(world) ?? new Told()
  all.set(world, known)
  return known
}

export const sourceAt = (world: World, node: string): Source => ({ node, life: world.node(node).life, at: world.now() })

/** What operators decided about blocks of a node. */
export const decisionsAt = (world: World, node: string): Decisions => {
  const { decisions } = toldIn(world)
  const known = decisions.get(node) ?? new Decisions()
  decisions.set(node, known)
  return known
}
