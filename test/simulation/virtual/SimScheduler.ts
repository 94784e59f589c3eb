import type * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import { below, type Random } from "../../../src/base/random.ts"
import type { Turn } from "../../../src/base/turns.ts"

/** The seed decides which of the tasks that could run runs next. */

/** A task that is ready runs before this many others have run. */
const STARVATION = 200

/** Fibers of a group after which those that ended are forgotten. */
const FORGOTTEN = 2_000

export type AnyFiber = Fiber.RuntimeFiber<unknown, unknown>

export interface Task {
  readonly group: Group
  fiber: AnyFiber | undefined
  run: () => void
  /** Tasks that had run when this one became ready. */
  since: number
  /** Its place among the ready tasks; -1 otherwise. */
  place: number
  /** The next task of the same fiber, which must not overtake it. */
  next: Task | undefined
}

const nothing = (): void => {}

/** What belongs together, and can be dropped together: a node, the actors, the world itself. */
export class Group implements Scheduler.Scheduler {
  readonly name: string
  readonly id: number
  isDead = false
  /** Of its event loop. */
  readonly turn: Turn = { began: undefined }
  private readonly all: SimScheduler
  private readonly fibers = new Set<AnyFiber>()
  private fewest = 0

  constructor(all: SimScheduler, name: string, id: number) {
    this.all = all
    this.name = name
    this.id = id
  }

  readonly shouldYield: Scheduler.Scheduler["shouldYield"] = Scheduler.defaultShouldYield

  readonly scheduleTask: Scheduler.Scheduler["scheduleTask"] = (run, _priority, fiber) => {
    this.all.add(this, run, fiber)
  }

  /** Notes a fiber that has something to do. */
  seen(fiber: AnyFiber): void {
    this.fibers.add(fiber)
    if (this.fibers.size > FORGOTTEN + 2 * this.fewest) this.fewest = this.living().length
  }

  forget(): void {
    this.fibers.clear()
  }

  /** The fibers that have not ended, even those that wait for ever. */
  living(): ReadonlyArray<AnyFiber> {
    for (const fiber of this.fibers) if (fiber.unsafePoll() !== null) this.fibers.delete(fiber)
    return [...this.fibers]
  }
}

/** All tasks of the world that could run now. */
export class SimScheduler {
  /** Whose task runs, or ran last. */
  current: Group
  /** Tasks that have run. */
  ran = 0
  private readonly random: Random
  private readonly ready: Array<Task> = []
  /** The same tasks, oldest first. Those that have run are skipped when they come up. */
  private byAge: Array<Task> = []
  private oldest = 0
  private readonly lastOf = new Map<AnyFiber, Task>()
  private groups = 0

  constructor(random: Random) {
    this.random = random
    this.current = this.group("world")
  }

  group(name: string): Group {
    return new Group(this, name, this.groups++)
  }

  get waiting(): number {
    return this.ready.length
  }

  get readyTasks(): ReadonlyArray<Task> {
    return this.ready
  }

  add(group: Group, run: () => void, fiber?: AnyFiber): void {
    if (group.isDead) return
    const task: Task = { group, fiber, run, since: this.ran, place: -1, next: undefined }
    if (fiber !== undefined) {
      group.seen(fiber)
      const before = this.lastOf.get(fiber)
      this.lastOf.set(fiber, task)
      if (before !== undefined) {
        before.next = task
        return
      }
    }
    this.enter(task)
  }

  /** Takes the next task out. Its runner calls `done` after it. */
  take(): Task | undefined {
    const count = this.ready.length
    if (count === 0) return undefined
    const old = this.longestReady()
    const chosen = old !== undefined && this.ran - old.since >= STARVATION
      ? old
      : this.ready[count === 1 ? 0 : below(this.random, count)]
    if (chosen === undefined) return undefined
    this.leave(chosen)
    this.release(chosen)
    this.current = chosen.group
    this.ran++
    return chosen
  }

  /** Lets go of what the task holds: a list of past tasks would keep it from the garbage collector. */
  done(task: Task): void {
    task.run = nothing
    task.fiber = undefined
    task.next = undefined
  }

  /** Nothing of the group runs any more. */
  drop(group: Group): void {
    group.isDead = true
    group.forget()
    for (const task of this.ready.filter((one) => one.group === group)) this.leave(task)
    for (const [fiber, task] of this.lastOf) {
      if (task.group === group) this.lastOf.delete(fiber)
    }
  }

  private enter(task: Task): void {
    task.since = this.ran
    task.place = this.ready.length
    this.ready.push(task)
    this.byAge.push(task)
  }

  private leave(task: Task): void {
    const last = this.ready.pop()
    if (last !== undefined && last !== task) {
      last.place = task.place
      this.ready[task.place] = last
    }
    task.place = -1
  }

  /** Lets the next task of the same fiber become ready. */
  private release({ fiber, next }: Task): void {
    if (fiber === undefined) return
    if (next === undefined) this.lastOf.delete(fiber)
    else this.enter(next)
  }

  private longestReady(): Task | undefined {
    while (this.byAge[this.oldest]?.place === -1) this.oldest++
    if (this.oldest > 1024 && this.oldest * 2 > this.byAge.length) {
      this.byAge = this.byAge.slice(this.oldest)
      this.oldest = 0
    }
    return this.byAge[this.oldest]
  }
}
