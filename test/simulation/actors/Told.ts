import type { RegistrationProgress } from "../../../src/client/options.ts"
import type { NameChange } from "../../../src/client/records.ts"
import type { World } from "../World.ts"

/** What nodes told the actors of a world. Properties compare it with what is true at the end. */

/** Where and when something was told. */
export interface Source {
  readonly node: string
  /** Which start of the node. */
  readonly life: number
  /** Virtual milliseconds. */
  readonly at: number
}

export interface MinedBlock extends Source {
  /** Display order. */
  readonly hash: string
  readonly height: number
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
  readonly steps: Array<RegistrationProgress["step"]>
  /** Whether the owner cancelled it, so that it may end as failed. */
  cancelled: boolean
}

/** A client's answer about a name, with what it claimed of itself. */
export interface NameTold extends Source {
  readonly name: string
  /** `undefined`: the name does not exist or has expired. */
  readonly value: string | undefined
  readonly txid: string | undefined
  readonly height: number | undefined
  readonly expired: boolean
  /** The block up to which names were known. */
  readonly asOf: { readonly height: number; readonly hash: string | undefined; readonly proof: string }
  /** The height of the answering node's tip right after the answer. */
  readonly tip: number
}

/** What an application that follows `changes` holds: it never asks for anything else. */
export interface Replica {
  readonly node: string
  /** The value of each name in its place. */
  readonly names: Map<string, { readonly value: string; readonly txid: string; readonly height: number }>
  readonly received: Array<NameChange>
  /** Cursor of the last change; `"0"` at first. */
  cursor: string
  /** Whether it follows the node now. */
  isConnected: boolean
}

/** A message that a receiver of webhooks accepted, or refused. */
export interface Delivery extends Source {
  readonly id: string
  readonly cursor: string
  readonly accepted: boolean
}

export class Told {
  readonly blocks: Array<MinedBlock> = []
  readonly transactions: Array<SentTransaction> = []
  readonly registrations: Array<BegunRegistration> = []
  readonly names: Array<NameTold> = []
  readonly replicas: Array<Replica> = []
  readonly deliveries: Array<Delivery> = []
  /** Names for which renewal was on when a node last said so, with the node. */
  readonly renewed = new Map<string, string>()
}

const all = new WeakMap<World, Told>()

/** The record of a world; made at the first use. */
export const toldIn = (world: World): Told => {
  const known = all.get(world) ?? new Told()
  all.set(world, known)
  return known
}

export const sourceAt = (world: World, node: string): Source => ({ node, life: world.node(node).life, at: world.now() })
