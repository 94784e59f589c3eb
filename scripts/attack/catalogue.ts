import type { Field, From } from "./Field.ts"
import { peerAttacks } from "./peerAttacks.ts"
import { rpcAttacks } from "./rpcAttacks.ts"

/** An attack of the suite. */
export interface Attack {
  readonly name: string
  /** Its duration in seconds. */
  readonly seconds: number
  /** Whether the short form includes it. */
  readonly short?: boolean
  /** Credentials that RPC requires, user:password. */
  readonly authorization?: string
  /** Where peers call from that shake hands before the attack begins. */
  readonly gathered?: From
  /** Makes the messages to send, before the clock starts; returns the function that begins the attack. */
  readonly prepare: (field: Field) => () => Promise<void>
}

export const ATTACKS: ReadonlyArray<Attack> = [...peerAttacks, ...rpcAttacks]
