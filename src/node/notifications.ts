import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process"
import { escapeUnsafe } from "../base/safeText.ts"
import { afterDelay, cancelTimer, turnOfEventLoop } from "../base/turns.ts"
import type { ChainEvent } from "../chain/ChainEvent.ts"
import type { Settings } from "../config/settings.ts"
import type { NameEvent } from "../names/events/NameEvent.ts"
import type { EventFailure, NameEvents } from "../names/events/NameEvents.ts"
import { type Bytes, displayHash, toHex } from "../protocol/bytes.ts"
import type { TransactionChange } from "../wallet/Wallet.ts"

/** Runs the operator's commands, one at a time per kind. They may hold secrets, so logs have only kind and end. */

type CommandEnd =
  | { readonly _tag: "Ended"; readonly status: number | string }
  | { readonly _tag: "TimedOut" }
  | { readonly _tag: "NotStarted" }

/** Without the settings of svcd, which may include the RPC password. */
const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SVCD_")))

interface CommandLimit {
  readonly milliseconds: number
}

const endOf = (
  start: (options: SpawnOptions) => ChildProcess,
  { milliseconds }: CommandLimit
): Effect.Effect<CommandEnd> =>
  Effect.async((resume) => {
    const child = start({ detached: true, stdio: "ignore", env: environment() })
    const end = (how: CommandEnd): void => {
      cancelTimer(timer)
      resume(Effect.succeed(how))
    }
    const timer = afterDelay(milliseconds, () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
      } catch {
        child.kill("SIGKILL")
      }
      end({ _tag: "TimedOut" })
    })
    child.once("error", () => end({ _tag: "NotStarted" }))
    child.once("close", (code, signal) => end({ _tag: "Ended", status: code ?? signal ?? 0 }))
    return Effect.sync(() => {
      cancelTimer(timer)
      child.unref()
    })
  })

/**
 * Runs a command in a shell and in its own process group, without input and output, and kills the group after the
 * limit. An interrupted caller leaves it running.
 */
export const runCommand = (command: string, limit: CommandLimit): Effect.Effect<CommandEnd> =>
  endOf((options) => spawn(command, { ...options, shell: true }), limit)

/** The same for a program on the path, without a shell. */
const runProgram = (
  [program, ...args]: readonly [program: string, ...args: ReadonlyArray<string>],
  limit: CommandLimit
): Effect.Effect<CommandEnd> => endOf((options) => spawn(program, args, options), limit)

type NotifySettings = Settings["notify"]

/** Waiting commands of one kind; those beyond are dropped. */
const MAX_WAITING = 1_000

/** For wallets, as a rescan has many transactions at once. */
const MAX_WAITING_OF_WALLETS = 10_000

/** Milliseconds. */
const LONGEST = 60_000

/** Milliseconds, at the end of the node. */
const LONGEST_AT_SHUTDOWN = 10_000

const run = (kind: keyof NotifySettings, command: string, limit: { readonly milliseconds: number }) =>
  Effect.flatMap(runCommand(command, limit), (end) => {
    if (end._tag === "TimedOut") return Effect.logWarning("command killed: it takes too long", { option: kind })
    if (end._tag === "NotStarted") return Effect.logWarning("command cannot be started", { option: kind })
    return end.status === 0 ? Effect.void : Effect.logWarning("command failed", { option: kind, status: end.status })
  })

/** Runs one command at a time until the scope closes. Returns how to add one. */
const lineOf = (
  kind: keyof NotifySettings,
  most = MAX_WAITING
): Effect.Effect<(command: string) => Effect.Effect<void>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const waiting = yield* Queue.dropping<string>(most)
    const next = Effect.flatMap(waiting.take, (command) => run(kind, command, { milliseconds: LONGEST }))
    yield* Effect.forkScoped(Effect.forever(next))
    return (command) =>
      Effect.flatMap(waiting.offer(command), (taken) =>
        taken ? Effect.void : Effect.logWarning("command dropped: too many wait", { option: kind }))
  })

/** Upstream `common/system.cpp`, `ShellEscape`. */
const shellWord = (text: string): string => `'${text.replaceAll("'", `'"'"'`)}'`

/**
 * %s becomes the txid, %w the quoted name of the wallet, %b the hash of the block or `unconfirmed`, %h the height or
 * -1. Upstream `CWallet::AddToWallet`.
 */
export const walletCommand = (command: string, { block, txid, wallet }: TransactionChange): string =>
  command.replaceAll(/%[sbhw]/g, (mark) => {
    switch (mark) {
      case "%s":
        return displayHash(txid)
      case "%b":
        return block === undefined ? "unconfirmed" : displayHash(block.hash)
      case "%h":
        return String(block?.height ?? -1)
      default:
        return shellWord(wallet)
    }
  })

export const notifyOfWallets = (
  { walletnotify }: NotifySettings,
  changes: Stream.Stream<TransactionChange>
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function*() {
    if (walletnotify === undefined) return
    const add = yield* lineOf("walletnotify", MAX_WAITING_OF_WALLETS)
    yield* Effect.forkScoped(Stream.runForEach(changes, (change) => add(walletCommand(walletnotify, change))))
  })

/** Changes of names in memory while their commands run; the others stay on disk. */
const CHANGES_AT_ONCE = 100

const namesOf = (event: NameEvent): ReadonlyArray<Bytes> => {
  if (event.type === "undone") return event.names.map(({ name }) => name)
  return event.type === "block" || event.type === "expiring" ? [] : [event.record.name]
}

export interface NotifiedNames {
  readonly log: Pick<typeof NameEvents.Service, "news" | "now" | "page">
  readonly syncing: Effect.Effect<boolean>
}

/**
 * Runs `-namenotify` for each change of a name: an operation, an expiry, a disconnected block. A slow command delays
 * the others and drops none, because the log of events keeps them.
 */
export const notifyOfNames = (
  { namenotify }: NotifySettings,
  { log, syncing }: NotifiedNames
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function*() {
    if (namenotify === undefined) return
    const options = { notices: false, before: false, most: CHANGES_AT_ONCE }
    const follow: Effect.Effect<never, EventFailure> = Effect.gen(function*() {
      for (let at = yield* log.now;;) {
        const changed = log.news()
        if (yield* syncing) {
          at = yield* log.now
          yield* changed
          continue
        }
        const { events, isEnd, next } = yield* log.page(at, options)
        yield* Effect.forEach(
          events.flatMap(namesOf),
          (name) => run("namenotify", namenotify.replaceAll("%s", toHex(name)), { milliseconds: LONGEST }),
          { discard: true }
        )
        at = next
        yield* isEnd ? changed : turnOfEventLoop
      }
    })
    const goOn = Effect.catchAll(follow, ({ message: reason }) => {
      const changed = log.news()
      return Effect.zipRight(
        Effect.logWarning("changes of names missed: their events cannot be read", { option: "namenotify", reason }),
        changed
      )
    })
    yield* Effect.forkScoped(Effect.forever(goOn))
  })

/**
 * Reports to systemd, or another manager that sets `NOTIFY_SOCKET`, that the node is ready (sd_notify(3)). Node.js
 * cannot send to such a socket, so systemd's program does; without it the node runs all the same.
 */
const tellServiceManager: Effect.Effect<void> = Effect.suspend(() => {
  if ((process.env["NOTIFY_SOCKET"] ?? "") === "") return Effect.void
  return Effect.flatMap(
    runProgram(["systemd-notify", "--ready"], { milliseconds: LONGEST }),
    (end) =>
      end._tag === "Ended" && end.status === 0
        ? Effect.logDebug("service manager told that the node is ready")
        : Effect.logDebug("service manager not told that the node is ready: systemd-notify failed", {
          end: end._tag === "Ended" ? end.status : end._tag
        })
  )
})

export interface NotifiedNode {
  readonly events: Stream.Stream<ChainEvent>
  readonly warnings: Stream.Stream<string>
  /** No command runs during the download of the chain. */
  readonly syncing: Effect.Effect<boolean>
}

/** Runs `-blocknotify`, `-alertnotify`, and `-startupnotify` now; reports that the node is ready. */
export const notifyOfNode = (
  settings: NotifySettings,
  { events, syncing, warnings }: NotifiedNode
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { alertnotify, blocknotify, startupnotify } = settings
    yield* Effect.forkScoped(tellServiceManager)
    if (startupnotify !== undefined) yield* (yield* lineOf("startupnotify"))(startupnotify)
    if (alertnotify !== undefined) {
      const alert = yield* lineOf("alertnotify")
      const raised = Stream.runForEach(warnings, (warning) =>
        alert(alertnotify.replaceAll("%s", () => shellWord(escapeUnsafe(warning)))))
      yield* Effect.forkScoped(raised)
    }
    if (blocknotify === undefined) {
      return
    }
    const add = yield* lineOf("blocknotify")
    const told = Stream.runForEach(events, (event) =>
      event._tag === "BlockConnected" && !event.imported
        ? Effect.unlessEffect(add(blocknotify.replaceAll("%s", displayHash(event.block.hash))), syncing)
        : Effect.void)
    yield* Effect.forkScoped(told)
  })

export const notifyOfShutdown = ({ shutdownnotify }: NotifySettings): Effect.Effect<void> =>
  Effect.forEach(
    shutdownnotify,
    (command) => run("shutdownnotify", command, { milliseconds: LONGEST_AT_SHUTDOWN }),
    { discard: true, concurrency: "unbounded" }
  )
