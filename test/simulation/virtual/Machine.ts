import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import { globalValue } from "effect/GlobalValue"
import * as EffectRandom from "effect/Random"
import * as Scheduler from "effect/Scheduler"
import { replaceDisk } from "../../../src/base/disk.ts"
import type { Random } from "../../../src/base/random.ts"
import { streamOf } from "../seed.ts"
import { Trace, type TraceOptions } from "../trace.ts"
import type { Facts, WorldFailure } from "../World.ts"
import { type Guards, installGuards, replaced, type Substitute } from "./guards.ts"
import { SimClock } from "./SimClock.ts"
import { SimDisk } from "./SimDisk.ts"
import { type AnyFiber, type Group, SimScheduler, type Task } from "./SimScheduler.ts"
import { NANOS_PER_MS, Timeline } from "./Timeline.ts"

/** The machine of a world: runs tasks in the order of the seed, and moves time when none can run. */

/** Virtual nanoseconds that a task takes. Most are short. */
const MOST_COST = 500_000
const LEAST_COST = 1_000

/** Virtual nanoseconds at most between two looks at the clock in one task, so that work in slices ends them. */
const LOOK_COST = 50_000

/** Milliseconds of processor time that a few tasks take together, after which the last one counts as hanging. */
const SLOW_TASK = 2_000

/** Tasks between two measurements of it, which are slow themselves. */
const MEASURED = 1_024

/** Tasks without a pause, after which the world counts as spinning. */
const LIVELOCK = 1_000_000

/** Tasks between two turns of the real event loop. */
const BREATH = 500

/** Looks at what the system still does, one after another, before a pause between two. Most of its work takes one or two. */
const QUICK_LOOKS = 100

/** What the hash of a run counts. */
const KIND = { task: 1, time: 2 } as const

/** The fibers without a parent, which Effect (3.22) keeps until they end: those of a killed node never do. */
const { roots } = globalValue(Symbol.for("effect/FiberScope/Global"), () => ({ roots: new Set<AnyFiber>() }))

/** A part of the world that lives and ends as one. */
export interface Part {
  readonly group: Group
  readonly clock: SimClock
}

export interface MachineOptions extends TraceOptions {
  readonly seed: number
  /** Milliseconds by which the time of day at the beginning differs from `BEGINNING`. */
  readonly offset?: number
}

const named = ({ fiber, group }: Task): string =>
  fiber === undefined ? `${group.name}: a callback` : `${group.name}: fiber ${fiber.id().id}`

/** The name of a node; the number of its life follows. */
const nodeOf = ({ name }: Group): string => name.replace(/ \d+$/, "")

export class Machine {
  readonly timeline = new Timeline()
  readonly scheduler: SimScheduler
  readonly trace: Trace
  readonly world: Part
  readonly disk: SimDisk
  failure: WorldFailure | undefined
  /** Called at each boundary of tasks, with their count. */
  boundary: (tasks: number) => void = () => {}
  private readonly seed: number
  private readonly cost: Random
  private readonly clocks = new Map<Group, SimClock>()
  /** The last life of each node. */
  private readonly groups = new Map<string, Group>()
  private readonly substitute: Substitute
  private guards: Guards | undefined
  private isFrozen = false
  private sinceIdle = 0
  /** Milliseconds of processor time at the last measurement. */
  private used: number | undefined
  private sinceBreath = 0
  private ended: (() => void) | undefined

  constructor({ offset = 0, seed, ...traced }: MachineOptions) {
    this.seed = seed
    this.cost = streamOf(seed, "cost")
    this.trace = new Trace(traced)
    this.scheduler = new SimScheduler(streamOf(seed, "order"))
    this.world = this.partOf(this.scheduler.current, { offset })
    this.disk = new SimDisk({
      random: streamOf(seed, "disk"),
      after: (node, milliseconds, run) => this.after(milliseconds, run, this.groups.get(node)),
      running: () => nodeOf(this.scheduler.current),
      now: () => this.now
    })
    const entropy = streamOf(seed, "entropy")
    this.substitute = {
      monotonic: () => this.look() / NANOS_PER_MS,
      timeOfDay: () => (this.clocks.get(this.scheduler.current) ?? this.world.clock).unsafeCurrentTimeMillis(),
      random: streamOf(seed, "math"),
      fill: (bytes) => {
        for (let i = 0; i < bytes.length; i++) bytes[i] = entropy() * 256
      },
      after: (milliseconds, run) => this.after(milliseconds, run),
      turn: (run) => this.turn(run),
      slices: () => this.scheduler.current.turn,
      escaped: (what, stack) => this.fail({ what: "escape", reason: `${what} was opened inside the world`, stack })
    }
  }

  /** A part with a clock of its own. */
  part(name: string, skew: { readonly drift?: number; readonly offset?: number } = {}): Part {
    return this.partOf(this.scheduler.group(name), skew)
  }

  private partOf(group: Group, skew: { readonly drift?: number; readonly offset?: number } = {}): Part {
    const clock = new SimClock(this.timeline, group, skew)
    this.clocks.set(group, clock)
    this.groups.set(nodeOf(group), group)
    return { group, clock }
  }

  /** Code of a part runs next, called by something else than a task. */
  enter({ group }: Part): void {
    this.scheduler.current = group
  }

  drop({ group }: Part): void {
    this.scheduler.drop(group)
    this.clocks.delete(group)
    for (const fiber of roots) if (fiber.getFiberRef(FiberRef.currentScheduler) === group) roots.delete(fiber)
  }

  /** Virtual milliseconds since the beginning. */
  get now(): number {
    return this.timeline.now / NANOS_PER_MS
  }

  note(who: string, event: string, facts: Facts = {}): void {
    const words = Object.entries(facts).map(([name, value]) => `${name}=${value}`)
    this.trace.note({ at: this.timeline.now, who, what: [event, ...words].join(" ") })
  }

  /** The first failure counts: others follow from it. */
  fail(failure: WorldFailure): void {
    this.failure ??= failure
  }

  /** Starts an effect in a part, now. */
  fork<A, E>(part: Part, effect: Effect.Effect<A, E>) {
    return Effect.runFork(
      effect.pipe(
        Effect.withClock(part.clock),
        Effect.withRandom(EffectRandom.make(`${this.seed} ${part.group.name}`))
      ),
      { scheduler: part.group, immediate: false }
    )
  }

  /** Runs a function between two tasks, for which time stands still. */
  frozen<A>(run: () => A): A {
    const before = this.isFrozen
    this.isFrozen = true
    try {
      return run()
    } finally {
      this.isFrozen = before
    }
  }

  /** Runs the world until an effect in it ends, or something fails. */
  run<A, E>(effect: Effect.Effect<A, E>): Promise<Exit.Exit<A, E> | undefined> {
    const guards = installGuards(this.substitute)
    const systemDisk = replaceDisk(this.disk)
    const { scheduler } = this
    const restore = replaced(Scheduler.defaultScheduler, {
      scheduleTask: (run: () => void, _priority: number, fiber?: Task["fiber"]) =>
        scheduler.add(scheduler.current, run, fiber)
    })
    const thrown = (error: unknown): void => this.threw("rejection", error)
    process.on("unhandledRejection", thrown)
    this.guards = guards
    return new Promise((resolve) => {
      let exit: Exit.Exit<A, E> | undefined
      this.ended = () => {
        this.ended = undefined
        this.guards = undefined
        process.off("unhandledRejection", thrown)
        restore()
        replaceDisk(systemDisk)
        guards.remove()
        resolve(exit)
      }
      this.fork(this.world, effect).addObserver((ending) => {
        exit = ending
        if (Exit.isFailure(ending)) this.fail({ what: "world", reason: Cause.pretty(ending.cause) })
      })
      guards.later(() => this.runTasks(() => exit !== undefined))
    })
  }

  private threw(what: string, error: unknown): void {
    const stack = error instanceof Error ? error.stack : undefined
    this.fail({ what, reason: String(error), stack })
  }

  /** Runs tasks until one touched the machine: then what it began ends before the next task. */
  private runTasks(isOver: () => boolean): void {
    const { guards, scheduler, timeline } = this
    if (guards === undefined) return
    const again = (): void => this.runTasks(isOver)
    for (;;) {
      if (this.failure !== undefined || isOver()) return this.ended?.()
      if (guards.isTouched()) {
        guards.clear()
        return guards.later(() => this.settle(again))
      }
      const task = scheduler.take()
      if (task === undefined) {
        this.sinceIdle = 0
        if (!this.advance()) {
          this.fail({ what: "deadlock", reason: "nothing waits for time, and no task can run" })
        }
        continue
      }
      this.runTask(task, guards)
      timeline.now += LEAST_COST + Math.floor((MOST_COST - LEAST_COST) * this.cost() ** 3)
      this.fire()
      this.boundary(scheduler.ran)
      if (++this.sinceBreath >= BREATH) {
        this.sinceBreath = 0
        return guards.later(again)
      }
    }
  }

  /** Waits until nothing real goes on. What the system finished in any order gets one order. */
  private settle(then: () => void, looks = 0): void {
    const { guards } = this
    if (guards === undefined) return
    if (guards.isBusy()) {
      const again = (): void => this.settle(then, looks + 1)
      return looks < QUICK_LOOKS ? guards.later(again) : guards.laterStill(again)
    }
    guards.clear()
    then()
  }

  private runTask(task: Task, guards: Guards): void {
    const { scheduler, timeline } = this
    this.trace.count(timeline.now, task.group.id, KIND.task)
    const began = guards.realTime()
    try {
      task.run()
    } catch (error) {
      this.threw("exception", error)
    }
    // On a busy machine, a task may wait for a processor.
    const isSlow = guards.realTime() - began > SLOW_TASK
    if (isSlow || scheduler.ran % MEASURED === 0) {
      const { system, user } = process.cpuUsage()
      const used = (system + user) / 1000
      if (isSlow && this.used !== undefined && used - this.used > SLOW_TASK) {
        this.fail({ what: "slow task", reason: `${named(task)} took ${Math.round(used - this.used)} ms` })
      }
      this.used = used
    }
    if (++this.sinceIdle > LIVELOCK) {
      const tasks = scheduler.readyTasks.slice(0, 20).map(named)
      this.fail({ what: "livelock", reason: `tasks run without a pause: ${[named(task), ...tasks].join(", ")}` })
    }
    scheduler.done(task)
  }

  private advance(): boolean {
    const { next } = this.timeline
    if (next === undefined) return false
    this.timeline.now = Math.max(this.timeline.now, next)
    this.trace.count(this.timeline.now, 0, KIND.time)
    this.fire()
    return true
  }

  /** Runs the timers that are due: those of the network call code of nodes. */
  private fire(): void {
    try {
      this.timeline.fire()
    } catch (error) {
      this.threw("exception", error)
    }
  }

  private look(): number {
    if (this.guards !== undefined && !this.isFrozen) {
      this.timeline.now += LEAST_COST + Math.floor((LOOK_COST - LEAST_COST) * this.cost())
    }
    return this.timeline.now
  }

  private after(milliseconds: number, run: () => void, group = this.scheduler.current): () => void {
    const clock = this.clocks.get(group) ?? this.world.clock
    return clock.after(milliseconds * NANOS_PER_MS, () => this.scheduler.add(group, run))
  }

  private turn(run: () => void): () => void {
    let isCancelled = false
    this.scheduler.add(this.scheduler.current, () => {
      if (!isCancelled) run()
    })
    return () => {
      isCancelled = true
    }
  }
}
