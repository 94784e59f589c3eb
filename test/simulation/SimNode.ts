import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import { cpSync, rmSync } from "node:fs"
import { join } from "node:path"
import { Pulse } from "../../src/base/pulse.ts"
import { noThreads, Threads } from "../../src/base/threads.ts"
import type { EmbeddedOpenFailure } from "../../src/client/errors.ts"
import { Sampled } from "../../src/metrics/Samples.ts"
import { Transport } from "../../src/network/connect/Transport.ts"
import { openFailure } from "../../src/node/layers/base.ts"
import { nodeOver, type NodeServices } from "../../src/node/layers/node.ts"
import { NodeSettings, nodeSettings } from "../../src/node/layers/NodeSettings.ts"
import { webhooksLayer } from "../../src/node/webhooks.ts"
import { Lifecycle } from "../../src/rpc/Lifecycle.ts"
import { StorageCorrupted } from "../../src/storage/errors.ts"
import { Webhooks } from "../../src/webhooks/Webhooks.ts"
import { withCheapScrypt } from "../support/cheapScrypt.ts"
import { oneOf } from "./actors/drawing.ts"
import { hookChoice } from "./hooks.ts"
import type { Posts } from "./net/Posts.ts"
import type { SimNetwork } from "./net/SimNetwork.ts"
import { transportOf } from "./net/transport.ts"
import { nodeLog } from "./nodeLog.ts"
import type { NodePlan } from "./plan.ts"
import { streamOf } from "./seed.ts"
import type { Handles } from "./virtual/handles.ts"
import type { Machine, Part } from "./virtual/Machine.ts"
import { NodeGone, type NodeState, type WorldNode } from "./World.ts"

/** One svcd in the world: a whole node without servers, over its own directory. */

/** The port on which all nodes of the world listen. */
export const PEER_PORT = 18_445

/** Options of all nodes: no threads and no lookups, for a world in one process. */
export const NODE_OPTIONS = {
  network: "regtest",
  verifyThreads: 0,
  dnsSeed: "0",
  fixedSeeds: false,
  keypool: 4,
  backgroundCheck: false
} as const

/** Factors that slow the network's loops, which are most of the work of an idle world: few lives have the real pace. */
const PULSES = [1, 8, 8, 8, ...Array.from({ length: 28 }, () => 40)]

/** Operations between two places where a fiber may have to wait. Few make more interleavings. */
const YIELDS = [2048, 2048, 2048, 256, 32]

export interface NodeSurroundings {
  readonly seed: number
  readonly machine: Machine
  readonly network: SimNetwork
  readonly handles: Handles
  /** The directory of all nodes. */
  readonly root: string
  /** A directory to begin with, of a node that ended. */
  readonly template: string | undefined
  readonly posts: Posts
  readonly hostOf: (name: string) => string
}

interface Life {
  readonly part: Part
  readonly stop: Deferred.Deferred<void>
  /** Callbacks of whoever waits for the node, called when it ends. */
  readonly waiting: Set<() => void>
  runtime: Runtime.Runtime<NodeServices> | undefined
  webhooks: typeof Webhooks.Service | undefined
}

/** Whether a node ended as documented for a fault of its disk: by a failure that names the file, which is whole. */
const isPlain = (exit: Exit.Exit<unknown, unknown>, directory: string): boolean =>
  Exit.isFailure(exit) && Chunk.isEmpty(Cause.defects(exit.cause)) &&
  Option.exists(
    Cause.failureOption(exit.cause),
    (failure) =>
      failure instanceof Error && !(failure instanceof StorageCorrupted) && failure.message.includes(directory)
  )

type Start = Effect.Effect<void, EmbeddedOpenFailure | NodeGone>

export class SimNode implements WorldNode {
  readonly plan: NodePlan
  state: NodeState = "down"
  life = 0
  directory: string
  private readonly around: NodeSurroundings
  private current: Life | undefined
  private copies = 0
  /** Options since it began again. */
  private renewed: NodePlan["options"] = {}

  constructor(plan: NodePlan, around: NodeSurroundings) {
    this.plan = plan
    this.around = around
    this.directory = this.place()
    const { template } = plan.newcomer === true ? {} : around
    if (template !== undefined) cpSync(join(template, plan.name), this.directory, { recursive: true })
  }

  get name(): string {
    return this.plan.name
  }

  /** Its life now; `undefined` while it is down. */
  get part(): Part | undefined {
    return this.current?.part
  }

  private get isUnwell(): boolean {
    return this.around.machine.disk.isStruck(this.name)
  }

  readonly fibers = (): number => this.current?.part.group.living().length ?? 0

  get services(): Context.Context<NodeServices> | undefined {
    return this.isUnwell ? undefined : this.current?.runtime?.context
  }

  get webhooks(): typeof Webhooks.Service | undefined {
    return this.state === "running" ? this.current?.webhooks : undefined
  }

  readonly time = (): number => {
    const { machine } = this.around
    return (this.current?.part ?? machine.world).clock.unsafeCurrentTimeMillis()
  }

  readonly run = <A, E>(effect: Effect.Effect<A, E, NodeServices>): Effect.Effect<A, E | NodeGone> =>
    Effect.async<A, E | NodeGone>((resume) => {
      const life = this.current
      if (life?.runtime === undefined || this.state !== "running") return resume(new NodeGone({ node: this.name }))
      const gone = (): void => resume(new NodeGone({ node: this.name }))
      life.waiting.add(gone)
      const fiber = this.around.machine.fork(life.part, Effect.provide(effect, life.runtime))
      fiber.addObserver((exit) => {
        life.waiting.delete(gone)
        resume(exit)
      })
      return Fiber.interruptFork(fiber)
    })

  readonly look = <A, E>(effect: Effect.Effect<A, E, NodeServices>): Exit.Exit<A, E> | undefined => {
    const { runtime } = this.current ?? {}
    if (runtime === undefined || this.state !== "running" || this.isUnwell) return undefined
    const exit = this.around.machine.frozen(() => Runtime.runSyncExit(runtime)(effect))
    const waits = Exit.isFailure(exit) && Option.exists(Cause.dieOption(exit.cause), Runtime.isAsyncFiberException)
    return waits ? undefined : exit
  }

  readonly start = (options: NodePlan["options"] = {}): Start =>
    Effect.async<void, EmbeddedOpenFailure | NodeGone>((resume) => {
      if (this.state !== "down" && this.state !== "lost") return resume(new NodeGone({ node: this.name }))
      const life = this.begin()
      const gone = (): void => resume(new NodeGone({ node: this.name }))
      life.waiting.add(gone)
      const opened = (exit: Exit.Exit<void, EmbeddedOpenFailure>): void => {
        life.waiting.delete(gone)
        resume(exit)
        if (Exit.isFailure(exit)) return
        this.state = "running"
        this.note("runs")
      }
      this.around.machine.fork(life.part, this.living(life, options, opened))
        .addObserver((exit) => this.over(life, exit))
    })

  readonly stop = Effect.async<void>((resume) => {
    const life = this.current
    if (life === undefined) return resume(Effect.void)
    life.waiting.add(() => resume(Effect.void))
    if (this.state === "stopping") return
    this.note("stops")
    this.state = "stopping"
    Deferred.unsafeDone(life.stop, Effect.void)
  })

  readonly kill = (power: boolean): Effect.Effect<void> => Effect.sync(() => this.killNow(power))

  private killNow(power: boolean): void {
    const life = this.current
    if (life === undefined) return
    this.note(power ? "is killed" : "loses power")
    const { handles, machine, network } = this.around
    handles.reportSynced(life.part.group)
    const before = this.directory
    this.copies++
    this.directory = this.place()
    cpSync(before, this.directory, { recursive: true })
    if (!power) machine.note(this.name, "lost", { what: machine.disk.cutPower(this.name, this.directory) })
    network.kill(this.plan.host, power)
    machine.drop(life.part)
    this.end(life)
    handles.closeAll(life.part.group)
    rmSync(before, { recursive: true })
  }

  readonly renew = (options: NodePlan["options"]): Start =>
    Effect.suspend(() => {
      this.killNow(true)
      rmSync(this.directory, { recursive: true, force: true })
      this.copies++
      this.directory = this.place()
      this.around.machine.disk.replaced(this.name)
      this.renewed = options
      return this.start()
    })

  /** Ends it with the world, without a copy. */
  discard(): void {
    const life = this.current
    if (life === undefined) return
    this.around.machine.drop(life.part)
    this.current = undefined
    this.around.handles.closeAll(life.part.group)
  }

  private place(): string {
    return join(this.around.root, `${this.name}-${this.copies}`)
  }

  private note(event: string): void {
    this.around.machine.note(this.name, event, { life: this.life })
  }

  private begin(): Life {
    const { machine } = this.around
    this.life++
    const life: Life = {
      part: machine.part(`${this.name} ${this.life}`, this.plan),
      stop: Deferred.unsafeMake<void>(FiberId.none),
      waiting: new Set(),
      runtime: undefined,
      webhooks: undefined
    }
    this.current = life
    machine.disk.begun(this.name)
    this.state = "opening"
    this.note("starts")
    return life
  }

  private living(
    life: Life,
    options: NodePlan["options"],
    opened: (exit: Exit.Exit<void, EmbeddedOpenFailure>) => void
  ) {
    const { machine, network, posts } = this.around
    const settings = this.settings(options)
    const { hook: sendsHook = false, name } = this.plan
    /** As the daemon does once the node runs. */
    const sending = (context: Context.Context<NodeServices>) =>
      Effect.gen(function*() {
        const given = { ...Context.get(context, NodeSettings).settings, webhooks: hookChoice(name) }
        const layer = Layer.provide(webhooksLayer(given, posts), Layer.succeedContext(context))
        const webhooks = Context.get(yield* Layer.build(layer), Webhooks)
        yield* webhooks.start
        return webhooks
      })
    return Effect.gen(function*() {
      const context = yield* Layer.build(nodeOver(Layer.effect(NodeSettings, settings))).pipe(
        Effect.mapError(openFailure),
        Effect.tapErrorCause((cause) => Effect.sync(() => opened(Exit.failCause(cause))))
      )
      life.runtime = yield* Effect.provide(Effect.runtime<NodeServices>(), context)
      opened(Exit.void)
      if (sendsHook) life.webhooks = yield* sending(context)
      yield* Effect.raceFirst(Context.get(context, Lifecycle).ended, Deferred.await(life.stop))
    }).pipe(
      Effect.scoped,
      Effect.provideService(Transport, transportOf(network, this.plan.host)),
      Effect.provideService(Threads, noThreads),
      Effect.provideService(Sampled, { node: undefined }),
      withCheapScrypt,
      Effect.provide(nodeLog(machine, this.name)),
      Effect.provideService(Pulse, this.drawn("pulse", PULSES)),
      Effect.withMaxOpsBeforeYield(this.drawn("yields", YIELDS)),
      // A span notes the stack of its caller, which nobody reads here.
      Effect.withTracerEnabled(false)
    )
  }

  private settings(options: NodePlan["options"]) {
    const { host, options: own, peers } = this.plan
    return nodeSettings({
      ...NODE_OPTIONS,
      dataDir: this.directory,
      listen: `${host}:${PEER_PORT}`,
      bootstrapPeers: peers.map((peer) => `${this.around.hostOf(peer)}:${PEER_PORT}`),
      ...own,
      ...this.renewed,
      ...options
    })
  }

  private drawn(what: string, list: ReadonlyArray<number>): number {
    return oneOf(streamOf(this.around.seed, `node:${this.name}-${this.life}-${what}`), list)
  }

  /** It ended by itself, or as it was told to. */
  private over(life: Life, exit: Exit.Exit<unknown, unknown>): void {
    const { handles, machine } = this.around
    const left = handles.closeAll(life.part.group)
    const asked = this.state === "stopping"
    machine.drop(life.part)
    this.end(life)
    if (Exit.isFailure(exit) || !asked) {
      if (!asked) this.state = "lost"
      const reason = Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "ended without being told to"
      machine.note(this.name, reason)
      if (this.isUnwell && isPlain(exit, this.directory)) return
      machine.fail({ what: "node ended", reason: `${this.name}: ${reason}` })
    } else {
      this.note("has stopped")
      const leaks = left.filter((database) => !machine.disk.isHit(this.name, database))
      if (leaks.length === 0) return
      machine.fail({ what: "leak", reason: `${this.name} stopped and left open ${leaks.join(", ")}` })
    }
  }

  private end(life: Life): void {
    this.current = undefined
    this.state = "down"
    for (const gone of [...life.waiting]) gone()
    life.waiting.clear()
  }
}
