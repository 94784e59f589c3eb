import { createHook } from "node:async_hooks"
import { pbkdf2Sync, scryptSync } from "node:crypto"
import { createRequire, syncBuiltinESMExports } from "node:module"
import type { Random } from "../../../src/base/random.ts"
import type { Turn } from "../../../src/base/turns.ts"
import { useVirtual, type VirtualMachine } from "../../../src/base/virtual.ts"

/**
 * Keeps a run inside its world: the seams of src and, for its packages, the globals give virtual time and seeded numbers.
 * What would reach the real network, timers, threads or programs is reported with its stack.
 */

/** What a world puts in place of the machine. */
export interface Substitute {
  /** Measured milliseconds. */
  readonly monotonic: () => number
  /** Milliseconds since 1970, for who runs now. */
  readonly timeOfDay: () => number
  readonly random: Random
  readonly fill: (bytes: Uint8Array) => void
  /** Calls after so many milliseconds. Returns what cancels it. */
  readonly after: (milliseconds: number, run: () => void) => () => void
  /** Calls after others had a turn. Returns what cancels it. */
  readonly turn: (run: () => void) => () => void
  /** What the slices of work of who runs now share. */
  readonly slices: () => Turn
  readonly escaped: (what: string, stack: string | undefined) => void
}

export interface Guards {
  /** Whether promises, ticks or real work of the system were begun since `clear`. */
  readonly isTouched: () => boolean
  readonly clear: () => void
  /** Whether the system still works, for instance on a file. */
  readonly isBusy: () => boolean
  /** Calls back when promises and ticks have run. */
  readonly later: (run: () => void) => void
  /** Calls back after a real millisecond, so that waiting for the system costs no processor time. */
  readonly laterStill: (run: () => void) => void
  /** Real milliseconds. */
  readonly realTime: () => number
  readonly remove: () => void
}

/** Resources of work outside the world (`async_hooks`): of sockets, lookups, programs, timers, and threads unseen. */
const FORBIDDEN = new Set([
  "CHECKPRIMEREQUEST",
  "DERIVEBITSREQUEST",
  "HASHREQUEST",
  "KEYGENREQUEST",
  "KEYPAIRGENREQUEST",
  "PBKDF2REQUEST",
  "RANDOMBYTESREQUEST",
  "SCRYPTREQUEST",
  "SIGNREQUEST",
  "GETADDRINFOREQWRAP",
  "GETNAMEINFOREQWRAP",
  "HTTPCLIENTREQUEST",
  "HTTPINCOMINGMESSAGE",
  "PIPECONNECTWRAP",
  "PIPESERVERWRAP",
  "PROCESSWRAP",
  "QUERYWRAP",
  "STATWATCHER",
  "FSEVENTWRAP",
  "TCPCONNECTWRAP",
  "TCPSERVERWRAP",
  "TCPWRAP",
  "Timeout",
  "UDPSENDWRAP",
  "UDPWRAP",
  "WORKER"
])

/** What shows in `process.getActiveResourcesInfo` while nothing works. */
const IDLE = new Set(["Immediate", "Timeout", "TTYWrap", "PipeWrap", "MessagePort", "TickObject"])

/** What runs in this process without waiting for the system. */
const IN_PROCESS = new Set(["PROMISE", "Microtask", "TickObject", "Immediate"])

/** The test runner talks to its parent process meanwhile; and some functions of `node:crypto` compute at once. */
const isHarmless = (stack: string): boolean => stack.includes("/node_modules/vitest/") || /Sync \(node:/.test(stack)

interface Undo {
  readonly add: (undo: () => void) => void
  readonly all: () => void
}

const undoing = (): Undo => {
  const steps: Array<() => void> = []
  return {
    add: (undo) => void steps.push(undo),
    all: () => {
      for (const undo of steps.splice(0).reverse()) undo()
    }
  }
}

/** Replaces members of an object, and puts back what was there. */
const replace = (target: object, members: Readonly<Record<string, unknown>>, undo: Undo): void => {
  for (const [name, value] of Object.entries(members)) {
    const before = Object.getOwnPropertyDescriptor(target, name)
    Object.defineProperty(target, name, { value, configurable: true, writable: true, enumerable: true })
    undo.add(() => {
      if (before === undefined) Reflect.deleteProperty(target, name)
      else Object.defineProperty(target, name, before)
    })
  }
}

interface Repetition {
  readonly milliseconds: number
  readonly run: () => void
}

/** A handle as Node's timers return it. */
class VirtualTimer {
  private readonly cancel: () => void

  constructor(cancel: () => void) {
    this.cancel = cancel
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  hasRef(): boolean {
    return false
  }

  close(): this {
    this.cancel()
    return this
  }

  [Symbol.dispose](): void {
    this.cancel()
  }
}

/** What src takes through its seams. */
const machineOf = (world: Substitute): Partial<VirtualMachine> => ({
  time: { monotonic: world.monotonic, wallTime: world.timeOfDay },
  loop: {
    nextTurn: (task) => new VirtualTimer(world.turn(task)),
    afterDelay: (delay, task) => new VirtualTimer(world.after(Math.max(1, delay), task)),
    turn: world.slices
  },
  entropy: world.fill,
  consumption: {
    usage: () => ({ userCPUTime: 0, systemCPUTime: 0, involuntaryContextSwitches: 0 }),
    loopTime: () => ({ active: 0, idle: 1 }),
    // Collections of garbage take as long as the heap is large: none.
    heapUsed: () => Number.POSITIVE_INFINITY
  }
})

const repeated = ({ after }: Substitute, { milliseconds, run }: Repetition): VirtualTimer => {
  let cancel = (): void => {}
  const wait = (): void => {
    cancel = after(milliseconds, () => {
      wait()
      run()
    })
  }
  wait()
  return new VirtualTimer(() => cancel())
}

type Callback = (...values: ReadonlyArray<unknown>) => void

const timersOf = (world: Substitute): Readonly<Record<string, unknown>> => {
  const { after, turn } = world
  const clear = (timer: unknown): void => {
    if (timer instanceof VirtualTimer) timer.close()
  }
  return {
    setTimeout: (run: Callback, milliseconds = 1, ...values: ReadonlyArray<unknown>) =>
      new VirtualTimer(after(Math.max(1, milliseconds), () => run(...values))),
    setInterval: (run: Callback, milliseconds = 1, ...values: ReadonlyArray<unknown>) =>
      repeated(world, { milliseconds: Math.max(1, milliseconds), run: () => run(...values) }),
    setImmediate: (run: Callback, ...values: ReadonlyArray<unknown>) => new VirtualTimer(turn(() => run(...values))),
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear
  }
}

/** What `node:crypto` draws from the system, and computes in its threads. */
const cryptoOf = ({ fill }: Substitute): Readonly<Record<string, unknown>> => {
  const bytes = (count: number): Buffer => {
    const drawn = Buffer.alloc(count)
    fill(drawn)
    return drawn
  }
  return {
    pbkdf2: (...given: [...Parameters<typeof pbkdf2Sync>, (error: Error | null, key: Buffer) => void]) => {
      const [password, salt, rounds, size, digest, done] = given
      process.nextTick(done, null, pbkdf2Sync(password, salt, rounds, size, digest))
    },
    scrypt: (...given: [...Required<Parameters<typeof scryptSync>>, (error: Error | null, key: Buffer) => void]) => {
      const [password, salt, size, options, done] = given
      process.nextTick(done, null, scryptSync(password, salt, size, options))
    },
    randomBytes: (count: number, done?: (error: Error | null, drawn: Buffer) => void) => {
      const drawn = bytes(count)
      if (done === undefined) return drawn
      process.nextTick(done, null, drawn)
      return undefined
    },
    randomInt: (low: number, high?: number) => {
      const [from, to] = high === undefined ? [0, low] : [low, high]
      return from + bytes(6).readUIntBE(0, 6) % (to - from)
    },
    randomUUID: () => {
      const hex = bytes(16).toString("hex")
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
    }
  }
}

const getRandomValues = ({ fill }: Substitute) => <View extends ArrayBufferView>(view: View): View => {
  fill(new Uint8Array(view.buffer, view.byteOffset, view.byteLength))
  return view
}

/** Replaces members of an object until the returned function is called. */
export const replaced = (target: object, members: Readonly<Record<string, unknown>>): () => void => {
  const undo = undoing()
  replace(target, members, undo)
  return undo.all
}

const load = createRequire(import.meta.url)

const patch = (world: Substitute, undo: Undo): void => {
  undo.add(useVirtual(machineOf(world)))
  replace(globalThis, timersOf(world), undo)
  replace(performance, { now: world.monotonic }, undo)
  replace(Date, { now: world.timeOfDay }, undo)
  replace(Math, { random: world.random }, undo)
  replace(crypto, { getRandomValues: getRandomValues(world) }, undo)
  const nanos = (): bigint => BigInt(Math.round(world.monotonic() * 1e6))
  replace(process.hrtime, { bigint: nanos }, undo)
  // Undone after what comes next.
  undo.add(syncBuiltinESMExports)
  replace(load("node:crypto"), cryptoOf(world), undo)
  syncBuiltinESMExports()
}

/** Installs the guards of a world. A process has at most one world at a time. */
export const installGuards = (world: Substitute): Guards => {
  const undo = undoing()
  const realImmediate = setImmediate
  const realTimeout = setTimeout
  const realNow = performance.now.bind(performance)
  const before = new Set(process.getActiveResourcesInfo())
  let touched = false
  let real = false
  const hook = createHook({
    init: (_id, type) => {
      if (FORBIDDEN.has(type)) {
        const { stack = "" } = new Error(type)
        if (!isHarmless(stack)) world.escaped(type, stack)
      }
      if (type === "Immediate") return
      touched = true
      if (!IN_PROCESS.has(type)) real = true
    }
  })
  const isBusy = (): boolean => {
    if (!real) return false
    const works = process.getActiveResourcesInfo().some((type) => !IDLE.has(type) && !before.has(type))
    if (!works) real = false
    return works
  }
  patch(world, undo)
  hook.enable()
  return {
    isTouched: () => touched,
    clear: () => {
      touched = false
    },
    isBusy,
    later: (run) => void realImmediate(run),
    laterStill: (run) => {
      hook.disable()
      realTimeout(run, 1)
      hook.enable()
    },
    realTime: realNow,
    remove: () => {
      hook.disable()
      undo.all()
    }
  }
}
