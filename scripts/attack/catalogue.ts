import type { Field, From } from "./Field.ts"
import { peerAttacks } from "./peerAttacks.ts"
import { rpcAttacks } from "./rpcAttacks.ts"

/** An attack of the suite. */
export interface Attack {
  readonly name: string
  /** Seconds that it goes on. */
  readonly seconds: number
  /** Whether the short form has it. */
  readonly short?: boolean
  /** Credentials that RPC asks for, user:password. */
  readonly authorization?: string
  /** Where the peers call from that have shaken hands before the attack begins. */
  readonly gathered?: From
  /** Makes what is to be sent, before the time runs; returns what begins the attack. */
  readonly prepare: (field: Field) => () => Promise<void>
}

export const ATTACKS: ReadonlyArray<Attack> = [...peerAttacks, ...rpcAttacks]
