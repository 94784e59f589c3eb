import type { Random } from "../../src/base/random.ts"
import type { NodeOptions } from "../../src/config/nodeOptions.ts"

/** What a run does is data: a list of timed steps. A replay reads it, and a shrinker drops steps from it. */

/** What a file can hold. */
export type Json = boolean | null | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

export type Arguments = { readonly [key: string]: Json }

/** One action of one actor. */
export interface Step {
  /** Names the step's random stream, so that other steps can go without a change of this one. Unique in a plan. */
  readonly id: string
  /** Virtual milliseconds since the beginning. */
  readonly at: number
  readonly actor: string
  readonly action: string
  readonly arguments: Arguments
}

/** A node of the world. */
export interface NodePlan {
  readonly name: string
  /** Its address in the simulated network. */
  readonly host: string
  /** Names of the nodes that it always calls. */
  readonly peers: ReadonlyArray<string>
  /** What differs from the options of all nodes (`NODE_OPTIONS`). */
  readonly options: Omit<NodeOptions, "dataDir" | "network">
  /** Milliseconds by which its time of day is ahead. */
  readonly offset: number
  /** Parts per million by which its clock is fast. */
  readonly drift: number
  /** Whether it sends a webhook. */
  readonly hook?: boolean
  /** Whether it begins with an empty directory, and again now and then: it keeps nothing that another program needs. */
  readonly newcomer?: boolean
}

/** Whether a node has the whole chain. The others have the window of a light node. */
export const isWhole = ({ options: { sync } }: Pick<NodePlan, "options">): boolean => sync !== "light"

export interface Plan {
  readonly seed: number
  readonly world: WorldNumber
  readonly nodes: ReadonlyArray<NodePlan>
  /** Sorted by time. */
  readonly steps: ReadonlyArray<Step>
  /** Virtual milliseconds with faults; then the world heals. */
  readonly until: number
  /** Virtual milliseconds without faults, before the final checks. */
  readonly healing: number
}

export type WorldNumber = 1 | 2

/** What an actor knows when its steps are drawn. */
export interface Drawing {
  readonly seed: number
  readonly world: WorldNumber
  readonly nodes: ReadonlyArray<NodePlan>
  /** Those with the whole chain that keep it. */
  readonly whole: ReadonlyArray<NodePlan>
  readonly until: number
  /** Of this actor. */
  readonly random: Random
}

export type DrawnStep = Omit<Step, "actor" | "id">

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
