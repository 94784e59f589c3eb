import type * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type { Random } from "../../src/base/random.ts"
import type { EmbeddedOpenFailure } from "../../src/client/errors.ts"
import type { NodeServices } from "../../src/node/layers/node.ts"
import type { Webhooks } from "../../src/webhooks/Webhooks.ts"
import type { Posts } from "./net/Posts.ts"
import type { SimNetwork } from "./net/SimNetwork.ts"
import type { Arguments, Drawing, DrawnStep, NodePlan, Plan } from "./plan.ts"
import type { SimDisk } from "./virtual/SimDisk.ts"

/** What actors and properties see of a world. */

/** The node was killed or stopped before it had an answer. */
export class NodeGone extends Data.TaggedError("NodeGone")<{ readonly node: string }> {
  override get message(): string {
    return `the node ${this.node} is down`
  }
}

/** `lost`: it ended by itself, which is a failure unless a fault of the disk was injected. */
export type NodeState = "down" | "lost" | "opening" | "running" | "stopping"

/** One svcd of the world, through its stops, kills and starts. */
export interface WorldNode {
  readonly plan: NodePlan
  readonly name: string
  readonly state: NodeState
  /** Starts so far. Another number means that the node lost its memory meanwhile. */
  readonly life: number
  /** The directory of this life. A kill copies it: the next life uses the copy. */
  readonly directory: string
  /** While it runs, and no fault of its disk may be ending it. */
  readonly services: Context.Context<NodeServices> | undefined
  /** Its fibers that have not ended, even those that wait for ever. */
  readonly fibers: () => number
  /** While it runs, if it sends a webhook. */
  readonly webhooks: typeof Webhooks.Service | undefined
  /** The time of day of its machine, in milliseconds since 1970. */
  readonly time: () => number
  /** Runs in the node, as a call of its RPC would; the end of the node ends it. */
  readonly run: <A, E>(effect: Effect.Effect<A, E, NodeServices>) => Effect.Effect<A, E | NodeGone>
  /**
   * Looks into a running node between two tasks, without virtual time. `undefined` if the node does not run, or
   * something would have to wait, or a fault of its disk may be ending it.
   */
  readonly look: <A, E>(effect: Effect.Effect<A, E, NodeServices>) => Exit.Exit<A, E> | undefined
  /** Starts a node that is down, and waits until it runs. `options` differ from those of the plan until the next start. */
  readonly start: (options?: NodePlan["options"]) => Effect.Effect<void, EmbeddedOpenFailure | NodeGone>
  /** Begins again, now, with an empty directory and options that stay until the next time. */
  readonly renew: (options: NodePlan["options"]) => Effect.Effect<void, EmbeddedOpenFailure | NodeGone>
  /** Ends it as SIGTERM does. */
  readonly stop: Effect.Effect<void>
  /**
   * Ends it as SIGKILL does: its files stay as they are between two tasks, and nothing of it runs on. Without power, they
   * lose what was not synced, and others hear nothing of it until it starts again.
   */
  readonly kill: (power: boolean) => Effect.Effect<void>
}

export interface World {
  readonly plan: Plan
  readonly nodes: ReadonlyArray<WorldNode>
  /** Those with the whole chain. */
  readonly whole: ReadonlyArray<WorldNode>
  /** Throws for an unknown name. */
  readonly node: (name: string) => WorldNode
  readonly network: SimNetwork
  readonly disk: SimDisk
  /** Who receives webhooks. */
  readonly posts: Posts
  /** Virtual milliseconds since the beginning, with fractions. */
  readonly now: () => number
  /** The correct time of day, in milliseconds since 1970. */
  readonly time: () => number
  /** A line for the events before a failure, and for the hash of the run. */
  readonly note: (event: string, facts?: Facts) => void
  /** Ends the run as a failure. */
  readonly fail: (failure: WorldFailure) => void
}

export type Facts = { readonly [key: string]: boolean | number | string | undefined }

/** Kinds of failures besides the properties and `actor NAME`: whether such a run says that nodes are wrong. */
export const FAILURE_KINDS: Readonly<Record<string, boolean>> = {
  "DNS answer": true,
  webhook: true,
  "events of a block": true,
  "node ended": true,
  leak: true,
  defect: true,
  rejection: true,
  exception: true,
  // These say only that the run was disturbed.
  escape: false,
  world: false,
  deadlock: false,
  livelock: false,
  "slow task": false,
  "process ended": false,
  "two runs differ": false
}

export interface WorldFailure {
  /** The property or one of `FAILURE_KINDS`: stable, for counting failures of one kind. */
  readonly what: string
  readonly reason: string
  readonly stack?: string | undefined
}

/** What an action gets besides the world. */
export interface Act {
  readonly arguments: Arguments
  /** Of this step alone. */
  readonly random: Random
}

/** Runs in a fiber of its own, in virtual time. A failure is expected (a node may be down); a defect fails the run. */
export type Action = (act: Act) => Effect.Effect<void, unknown>

/** Who does something to the nodes: a miner, an owner of names, an operator, the weather. */
export interface Actor {
  readonly name: string
  readonly draw: (drawing: Drawing) => ReadonlyArray<DrawnStep>
  /** The actions by name, with the state of this run. */
  readonly act: (world: World) => Readonly<Record<string, Action>>
  /** Called when faults must end: repair what this actor disturbed. */
  readonly heal?: (world: World) => Effect.Effect<void>
}

/** What must hold. Each function returns what is wrong, if anything. */
export interface Property {
  readonly name: string
  readonly check: (world: World) => Checks
}

/** The checks of one run, with what they remember. */
export interface Checks {
  /** Tasks between two calls of `during`; 100 by default. */
  readonly every?: number
  /** At a boundary of tasks. Must not change the nodes. */
  readonly during?: () => string | undefined
  /** After the world healed. */
  readonly atEnd?: () => Effect.Effect<string | undefined>
  /** The comparisons so far, of a property that has something to compare in every run: a run without one fails. */
  readonly compared?: () => number
}
