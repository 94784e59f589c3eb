import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { Posts } from "./net/Posts.ts"
import { SimNetwork } from "./net/SimNetwork.ts"
import { isWhole, type Plan, type Step } from "./plan.ts"
import { streamOf } from "./seed.ts"
import { SimNode } from "./SimNode.ts"
import type { TracedEvent } from "./trace.ts"
import { watchWrites } from "./virtual/databaseFaults.ts"
import { recordHandles } from "./virtual/handles.ts"
import { Machine, type Part } from "./virtual/Machine.ts"
import { BEGINNING } from "./virtual/SimClock.ts"
import { DYING, type SimDisk } from "./virtual/SimDisk.ts"
import type { Action, Actor, Checks, Property, World, WorldFailure } from "./World.ts"

/** Runs a plan: nodes, network, actors and properties in one world, from its beginning to its final checks. */

/** Who acts in a world, and what must hold in it. */
export interface Cast {
  readonly actors: ReadonlyArray<Actor>
  readonly properties: ReadonlyArray<Property>
}

export interface RunOptions {
  /** The directory for the files of all nodes. */
  readonly place: string
  /** A directory with one of each node's name to begin with. */
  readonly template?: string | undefined
  /** Where to leave the nodes' directories, each with its node's name, after a run without a failure. */
  readonly keep?: string | undefined
  readonly show?: ((event: TracedEvent) => void) | undefined
}

export interface Outcome {
  readonly failure: WorldFailure | undefined
  /** Of all events. Equal in two runs of a plan. */
  readonly hash: string
  readonly tasks: number
  /** Virtual milliseconds. */
  readonly virtual: number
  readonly last: ReadonlyArray<TracedEvent>
}

/** Tasks between two checks, unless a property says otherwise. */
const CHECK_EVERY = 100

interface Inhabitants {
  readonly nodes: ReadonlyArray<SimNode>
  readonly network: SimNetwork
  readonly posts: Posts
}

class RunningWorld implements World {
  readonly plan: Plan
  readonly nodes: ReadonlyArray<SimNode>
  readonly whole: ReadonlyArray<SimNode>
  readonly network: SimNetwork
  readonly disk: SimDisk
  readonly posts: Posts
  private readonly machine: Machine

  constructor(plan: Plan, machine: Machine, { network, nodes, posts }: Inhabitants) {
    this.plan = plan
    this.machine = machine
    this.nodes = nodes
    this.whole = nodes.filter((node) => isWhole(node.plan))
    this.network = network
    this.posts = posts
    this.disk = machine.disk
  }

  readonly node = (name: string): SimNode => {
    const found = this.nodes.find((node) => node.name === name)
    if (found === undefined) throw new RangeError(`the plan has no node ${name}`)
    return found
  }

  readonly now = (): number => this.machine.now
  readonly time = (): number => BEGINNING + this.machine.now
  readonly note: World["note"] = (event, facts) => this.machine.note("world", event, facts)
  readonly fail: World["fail"] = (failure) => this.machine.fail(failure)
}

/** `partOf`: what runs at a host now. */
const networkOf = (plan: Plan, machine: Machine, partOf: (host: string) => Part): SimNetwork => {
  const { clock } = machine.world
  return new SimNetwork({
    time: { now: () => machine.timeline.now, after: (nanos, task) => clock.after(nanos, task) },
    streamOf: (name) => streamOf(plan.seed, `network:${name}`),
    observe: ({ from, to, type }) => machine.note("network", type, { from, to }),
    entering: (host) => machine.enter(partOf(host))
  })
}

/** Checks what must hold at any time, each at its own pace. */
const watch = (machine: Machine, checks: ReadonlyArray<readonly [string, Checks]>): void => {
  const watched = checks.flatMap(([what, { during, every = CHECK_EVERY }]) =>
    during === undefined ? [] : [{ what, every, fault: during }]
  )
  machine.boundary = (tasks) => {
    for (const { every, fault, what } of watched) {
      if (tasks % every !== 0) continue
      const reason = machine.frozen(fault)
      if (reason !== undefined) machine.fail({ what, reason })
    }
  }
}

type Actions = ReadonlyMap<string, Readonly<Record<string, Action>>>

const act = (world: RunningWorld, actions: Actions, step: Step): Effect.Effect<void> => {
  const action = actions.get(step.actor)?.[step.action]
  if (action === undefined) return Effect.dieMessage(`no actor ${step.actor} has the action ${step.action}`)
  world.note(`${step.actor} ${step.action}`, { step: step.id, arguments: JSON.stringify(step.arguments) })
  return action({ arguments: step.arguments, random: streamOf(world.plan.seed, `act:${step.id}`) }).pipe(
    Effect.catchAll((failure) =>
      Effect.sync(() => world.note(`${step.actor} ${step.action} failed`, { step: step.id, reason: String(failure) }))
    )
  )
}

/** Takes the steps in time; each runs in a fiber of its own. */
const takeSteps = (world: RunningWorld, actions: Actions) =>
  Effect.gen(function*() {
    const running: Array<Fiber.Fiber<void>> = []
    for (const step of world.plan.steps) {
      if (step.at > world.now()) yield* Effect.sleep(step.at - world.now())
      running.push(
        yield* Effect.fork(Effect.catchAllCause(act(world, actions, step), (cause) =>
          Effect.sync(() =>
            world.fail({ what: `actor ${step.actor}`, reason: Cause.pretty(cause) })
          )))
      )
    }
    return running
  })

const living = (world: RunningWorld, { actors }: Cast, checks: ReadonlyArray<readonly [string, Checks]>) =>
  Effect.gen(function*() {
    const { plan } = world
    yield* Effect.forEach(world.nodes, (node) => node.start(), { concurrency: "unbounded", discard: true })
    const actions = new Map(actors.map((actor) => [actor.name, actor.act(world)]))
    const running = yield* takeSteps(world, actions)
    yield* Effect.sleep(Math.max(0, plan.until - world.now()))
    world.note("faults end")
    world.network.heal()
    world.disk.heal()
    // Before the repairs: what was half done is to repair, too.
    yield* Fiber.interruptAll(running)
    for (const { heal } of actors) if (heal !== undefined) yield* heal(world)
    // A fault of the last moments may still be ending a node.
    yield* Effect.sleep(DYING)
    for (const node of world.nodes) if (node.state === "down" || node.state === "lost") yield* node.start()
    yield* Effect.sleep(plan.healing)
    world.note("final checks")
    for (const [what, { atEnd, compared }] of checks) {
      const reason = atEnd === undefined ? undefined : yield* atEnd()
      if (reason !== undefined) world.fail({ what, reason })
      const count = compared?.()
      if (count !== undefined) world.note("compared", { what, count })
      if (count === 0) world.fail({ what, reason: "it compared nothing" })
    }
    yield* Effect.forEach(world.nodes, (node) => node.stop, { discard: true })
  })

/** Runs a plan once. Its failure is in the outcome. */
export const runPlan = async (plan: Plan, cast: Cast, options: RunOptions): Promise<Outcome> => {
  const root = mkdtempSync(join(options.place, "svcd-world-"))
  const machine = new Machine({ seed: plan.seed, root, show: options.show })
  const handles = recordHandles(() => machine.scheduler.current, machine.disk)
  const unwatch = watchWrites((database, statement) => machine.disk.writing(database, statement))
  const network = networkOf(
    plan,
    machine,
    (host) => nodes.find((node) => node.plan.host === host)?.part ?? machine.world
  )
  const posts = new Posts()
  const around = {
    seed: plan.seed,
    machine,
    network,
    posts,
    handles,
    root,
    template: options.template,
    hostOf: (name: string) => plan.nodes.find((node) => node.name === name)?.host ?? name
  }
  const nodes: ReadonlyArray<SimNode> = plan.nodes.map((node) => new SimNode(node, around))
  try {
    const world = new RunningWorld(plan, machine, { nodes, network, posts })
    const checks = cast.properties.map(({ check, name }) => [name, check(world)] as const)
    watch(machine, checks)
    await machine.run(living(world, cast, checks))
    if (options.keep !== undefined && machine.failure === undefined) {
      for (const { directory, name } of nodes) cpSync(directory, join(options.keep, name), { recursive: true })
    }
    const { failure, now: virtual, scheduler: { ran: tasks }, trace: { hash, last } } = machine
    return { failure, hash, tasks, virtual, last }
  } finally {
    for (const node of nodes) node.discard()
    unwatch()
    handles.remove()
    rmSync(root, { recursive: true, force: true })
  }
}
