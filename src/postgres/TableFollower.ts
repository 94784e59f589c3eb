import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { wrongLine } from "../client/daemonEvents.ts"
import type { DaemonFailure } from "../client/errors.ts"
import type { FeedLine } from "../rpc/eventFeed.ts"
import type { ExportStore } from "./ExportStore.ts"
import { BlocksMissing, type PostgresFailed } from "./failures.ts"
import { BlockCollector, type ExportStep } from "./lines.ts"
import type { ExportPosition } from "./openSchema.ts"
import type { BlockRows } from "./rows.ts"

/** Moves the tables along the steps in a daemon's lines. */

/** Approximate operations and blocks per transaction of the first copy. */
const OPERATIONS_AT_ONCE = 20_000
const BLOCKS_AT_ONCE = 5_000

/** Milliseconds between progress lines. */
const TOLD_MS = 10_000

class Progress {
  private operations = 0
  private told = 0

  add(count: number): void {
    this.operations += count
  }

  note(now: number): { readonly perSecond: number } | undefined {
    if (this.told === 0) this.told = now
    const passed = now - this.told
    if (passed < TOLD_MS) return undefined
    const perSecond = Math.round(this.operations / (passed / 1_000))
    this.operations = 0
    this.told = now
    return { perSecond }
  }
}

export interface FollowerParts {
  readonly store: ExportStore
  readonly position: ExportPosition
  /** Writes blocks of the first copy while the next ones are read. */
  readonly scope: Scope.Scope
}

export class TableFollower {
  readonly #collector = new BlockCollector()
  readonly #progress = new Progress()
  readonly #store: ExportStore
  readonly #scope: Scope.Scope
  /** Blocks of the first copy waiting for the preceding transaction. */
  #waiting: BlockRows
  #writing: Fiber.Fiber<void, PostgresFailed> = Fiber.void
  /** The last block, including waiting ones. */
  #height: number
  #complete: boolean

  constructor({ position: { complete, height }, scope, store }: FollowerParts) {
    this.#store = store
    this.#scope = scope
    this.#waiting = store.newRows()
    this.#height = height
    this.#complete = complete
  }

  /** From then on each block is a transaction. */
  get isComplete(): boolean {
    return this.#complete
  }

  get last(): number {
    return this.#height
  }

  /** Starts writing the waiting blocks once those before are written. */
  readonly #flush: Effect.Effect<void, PostgresFailed> = Effect.gen(this, function*() {
    yield* Fiber.join(this.#writing)
    const rows = this.#waiting
    this.#waiting = this.#store.newRows()
    this.#writing = yield* Effect.forkIn(this.#store.append(rows), this.#scope)
    this.#progress.add(rows.operationCount)
    const told = this.#progress.note(yield* Clock.currentTimeMillis)
    if (told !== undefined) {
      yield* Effect.logInfo("export copies", { height: this.#height, operationsPerSecond: told.perSecond })
    }
  })

  readonly settle: Effect.Effect<void, PostgresFailed> = Effect.gen(this, function*() {
    yield* this.#flush
    yield* Fiber.join(this.#writing)
  })

  #step(step: ExportStep): Effect.Effect<void, PostgresFailed | BlocksMissing> {
    if (step.type === "undo") {
      this.#height = step.height - 1
      return Effect.zipRight(
        this.settle,
        Effect.zipRight(this.#store.undo(step), Effect.logInfo("block undone", { height: step.height }))
      )
    }
    const { block } = step
    if (block.height !== this.#height + 1) return new BlocksMissing({ last: this.#height, next: block.height })
    this.#height = block.height
    if (this.#complete) {
      return Effect.zipRight(
        this.#store.connect(step),
        Effect.logDebug("block exported", { height: block.height, operations: block.operations.length })
      )
    }
    this.#waiting.add(step)
    const { blockCount, operationCount } = this.#waiting
    return operationCount >= OPERATIONS_AT_ONCE || blockCount >= BLOCKS_AT_ONCE ? this.#flush : Effect.void
  }

  take(lines: Iterable<FeedLine>): Effect.Effect<void, PostgresFailed | BlocksMissing | DaemonFailure> {
    return Effect.gen(this, function*() {
      const before = this.#collector.tooLong
      for (const line of lines) {
        const steps = this.#collector.take(line)
        if (steps === undefined) return yield* wrongLine
        // Avoids a fiber turn per line, most of which are not steps.
        for (const step of steps) yield* this.#step(step)
      }
      if (this.#collector.tooLong > before) {
        yield* Effect.logWarning("names longer than 1,024 bytes are not exported", { height: this.#height })
      }
    })
  }

  /** Completes the first copy once all blocks are written. */
  readonly finish: Effect.Effect<void, PostgresFailed> = Effect.gen(this, function*() {
    const began = yield* Clock.currentTimeMillis
    yield* Effect.logInfo("export makes names and indexes", { height: this.#height })
    yield* this.#store.complete()
    this.#complete = true
    const seconds = Math.round(((yield* Clock.currentTimeMillis) - began) / 1_000)
    yield* Effect.logInfo("export is complete", { height: this.#height, seconds })
  })
}
