import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as HashMap from "effect/HashMap"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Stream from "effect/Stream"
import { ClientClosed, type OpenFailure } from "../client/errors.ts"
import { type ClientConfig, NameClient } from "../client/NameClient.ts"
import type {
  ChangeFilter,
  FindFilter,
  ListFilter,
  LiveChange,
  LiveFilter,
  RegisterOptions,
  ResolveOptions,
  UpdateOptions
} from "../client/options.ts"
import type { Freshness, NameChange, NameRecord, OperationResult } from "../client/records.ts"
import type { ProofLevel } from "../light/proof.ts"
import type { SyncReport } from "../light/syncReport.ts"

/** A `NameClient` for programs that do not use Effect: promises, error classes, abort signals, async iterators. */

/** An entry of the client's log. */
export interface LogEntry {
  readonly level: "debug" | "info" | "warn" | "error"
  readonly message: string
  /** The facts of the entry. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly time: Date
}

export interface PromiseClientConfig extends ClientConfig {
  /** Receives the log entries. Without it they are dropped. */
  readonly log?: ((entry: LogEntry) => void) | undefined
  /** Aborts the opening: the promise then rejects with the signal's reason. It has no effect on an open client. */
  readonly signal?: AbortSignal | undefined
}

export interface CallOptions {
  /** Ends the waiting: the promise then rejects with the signal's reason. What is sent already is not withdrawn. */
  readonly signal?: AbortSignal | undefined
}

/** The two forms of `changes`. */
export interface PromiseChanges {
  (filter?: ChangeFilter & CallOptions): AsyncIterableIterator<NameChange>
  (filter: LiveFilter & CallOptions): AsyncIterableIterator<NameChange | LiveChange>
}

/** Names, by promises. Rejections are the errors of `svcd/promise`, each an `Error` with a `_tag`. */
export interface PromiseClient extends AsyncDisposable {
  /** The source of the answers. */
  readonly mode: "daemon" | "embedded" | "postgres"
  /** The current record of a name. */
  readonly resolveName: (name: string, options?: (ResolveOptions & CallOptions) | null) => Promise<NameRecord>
  /**
   * Registers a name: both steps, for as long as the client is open. By default it resolves after the first step.
   * positional: public API
   */
  readonly registerName: (
    name: string,
    value: string,
    options?: (RegisterOptions & CallOptions) | null
  ) => Promise<OperationResult>
  /** Changes the value of a name of the wallet. The empty value clears it. positional: public API */
  readonly updateName: (
    name: string,
    value: string,
    options?: (UpdateOptions & CallOptions) | null
  ) => Promise<OperationResult>
  /** Names that begin with a namespace and are not expired: the shortest first, then by their bytes. */
  readonly listNames: (filter?: (ListFilter & CallOptions) | null) => Promise<ReadonlyArray<NameRecord>>
  /**
   * Names by what they say, by owner, last change or expiry. The loop ends with the last name, with `break`, with the
   * signal, or with the client.
   */
  readonly findNames: (filter: FindFilter & CallOptions) => AsyncIterableIterator<NameRecord>
  /**
   * Changes of names in blocks, from now on or behind a cursor, and live changes for a filter with live types. The loop ends
   * with `break`, with the signal, or with the client.
   */
  readonly changes: PromiseChanges
  /** The height and sync state of the names. */
  readonly freshness: (options?: CallOptions) => Promise<Freshness>
  /** How far the node is: at once, then whenever that changes. The loop ends when there is nothing to wait for. */
  readonly progress: (options?: CallOptions) => AsyncIterableIterator<SyncReport>
  /**
   * Waits until every name is known with this proof; by default with that of the configuration, else `work`.
   */
  readonly ready: (level?: ProofLevel | null, options?: CallOptions) => Promise<Freshness>
  /**
   * Resolves when the client has ended: to `undefined` after `close`, to the error if the node in this process failed.
   * Calls then reject with that error.
   */
  readonly closed: Promise<Error | undefined>
  /** Releases everything: files, sockets, threads. Resolves once that is done; it may be called repeatedly. */
  readonly close: () => Promise<void>
}

const LEVELS = new Map<string, LogEntry["level"]>([
  ["Trace", "debug"],
  ["Debug", "debug"],
  ["Info", "info"],
  ["Warning", "warn"]
])

/** Sends log entries only to the program's listener, if there is one. */
const logging = (log: PromiseClientConfig["log"]): Layer.Layer<never> => {
  if (log === undefined) return Logger.remove(Logger.defaultLogger)
  return Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ annotations, cause, date, logLevel, message }) => {
      const [first, ...facts]: ReadonlyArray<unknown> = Array.isArray(message) ? message : [message]
      const fields = Object.assign(
        {},
        Object.fromEntries(HashMap.entries(annotations)),
        ...facts.filter((fact) => typeof fact === "object" && fact !== null),
        Cause.isEmpty(cause) ? {} : { cause: Cause.pretty(cause) }
      )
      try {
        log({ level: LEVELS.get(logLevel._tag) ?? "error", message: String(first), fields, time: date })
      } catch {
        // A failing listener must not stop the client, and there is no other place to report its failure.
      }
    })
  )
}

/**
 * What a call rejects with: the client's error itself and not a wrapper, so that `instanceof` works. A failure inside a
 * span is a proxy around the error, which a program could not clone.
 */
const errorOf = <E>(cause: Cause.Cause<E>): unknown => Cause.originalError(Cause.squash(cause))

// Node has the symbol from 20.4 on; without it there is no `await using` either.
const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")

/**
 * An iterator over a stream that runs only while the caller waits for the next element. Requests are answered one after
 * the other. After the end, an error or `return` there are no more elements, and a waiting caller gets `done`.
 */
const iterate = <A>(source: AsyncIterable<A>, end: (error: unknown) => unknown): AsyncIterableIterator<A> => {
  const inner = source[Symbol.asyncIterator]()
  const nothing: IteratorResult<A> = { done: true, value: undefined }
  let isOver = false
  let finish = (): void => {}
  const finished = new Promise<IteratorResult<A>>((resolve) => {
    finish = () => resolve(nothing)
  })
  let last: Promise<unknown> = Promise.resolve()

  const ask = async (): Promise<IteratorResult<A>> => {
    if (isOver) return nothing
    try {
      const result = await Promise.race([inner.next(), finished])
      isOver ||= result.done === true
      return result
    } catch (error) {
      isOver = true
      throw end(error)
    }
  }
  const iterator: AsyncIterableIterator<A> = {
    next: () => {
      const asked = last.then(ask)
      last = asked.catch(() => {})
      return asked
    },
    return: async (value) => {
      isOver = true
      finish()
      await inner.return?.()
      return { done: true, value }
    },
    [Symbol.asyncIterator]: () => iterator
  }
  return iterator
}

/** Opens a client. Rejects with the error class of the failure; nothing stays open then. */
export const open = async (
  layer: (config: ClientConfig) => Layer.Layer<NameClient, OpenFailure>,
  { log, signal, ...config }: PromiseClientConfig
): Promise<PromiseClient> => {
  signal?.throwIfAborted()
  const runtime = ManagedRuntime.make(Layer.provide(layer(config), logging(log)))
  const opened = await runtime.runPromiseExit(NameClient, signal === undefined ? {} : { signal })
  if (Exit.isFailure(opened) || signal?.aborted === true) {
    await runtime.dispose()
    signal?.throwIfAborted()
    throw Exit.isFailure(opened) ? errorOf(opened.cause) : new ClientClosed()
  }
  const client = opened.value
  const context = await runtime.runtime()
  const running = new Set<Fiber.RuntimeFiber<unknown, unknown>>()
  let closing: Promise<void> | undefined

  const run = <A, E>(effect: Effect.Effect<A, E>, signal: AbortSignal | undefined): Promise<A> =>
    new Promise<A>((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason)
      if (closing !== undefined) return reject(new ClientClosed())
      const fiber = runtime.runFork(effect)
      const abort = (): void => fiber.unsafeInterruptAsFork(fiber.id())
      running.add(fiber)
      signal?.addEventListener("abort", abort, { once: true })
      fiber.addObserver((exit) => {
        running.delete(fiber)
        signal?.removeEventListener("abort", abort)
        if (Exit.isSuccess(exit)) return resolve(exit.value)
        if (!Cause.isInterruptedOnly(exit.cause)) return reject(errorOf(exit.cause))
        reject(signal?.aborted === true ? signal.reason : new ClientClosed())
      })
    })

  const close = (): Promise<void> => {
    closing ??= (async () => {
      for (const fiber of running) fiber.unsafeInterruptAsFork(fiber.id())
      await runtime.dispose()
    })()
    return closing
  }

  const ended: Promise<Error | undefined> = new Promise((resolve) =>
    runtime.runFork(client.failure).addObserver((exit) => {
      const error = Exit.isFailure(exit) ? errorOf(exit.cause) : undefined
      resolve(error instanceof ClientClosed || !(error instanceof Error) || closing !== undefined ? undefined : error)
    })
  )

  const iterateUntil = <A, E>(stream: Stream.Stream<A, E>, signal: AbortSignal | undefined) => {
    const aborted = Effect.async<never, unknown>((resume) => {
      if (signal === undefined) return
      const abort = (): void => resume(Effect.fail(signal.reason))
      if (signal.aborted) return abort()
      signal.addEventListener("abort", abort, { once: true })
      return Effect.sync(() => signal.removeEventListener("abort", abort))
    })
    return iterate(
      Stream.toAsyncIterableRuntime(Stream.interruptWhen(stream, aborted), context),
      (error) => signal?.aborted === true ? signal.reason : closing === undefined ? error : new ClientClosed()
    )
  }

  function changes(filter?: ChangeFilter & CallOptions): AsyncIterableIterator<NameChange>
  function changes(filter: LiveFilter & CallOptions): AsyncIterableIterator<NameChange | LiveChange>
  function changes({ signal, types, ...filter }: (LiveFilter | ChangeFilter) & CallOptions = {}) {
    return iterateUntil(types === undefined ? client.changes(filter) : client.changes({ types, ...filter }), signal)
  }

  return {
    mode: client.mode,
    resolveName: (name, options) => run(client.resolveName(name, options ?? undefined), options?.signal),
    registerName: (name, value, options) => run(client.registerName(name, value, options ?? {}), options?.signal),
    updateName: (name, value, options) => run(client.updateName(name, value, options ?? {}), options?.signal),
    listNames: (filter) => run(client.listNames(filter ?? undefined), filter?.signal),
    findNames: ({ signal, ...filter }) => iterateUntil(client.findNames(filter), signal),
    changes,
    progress: ({ signal } = {}) => iterateUntil(client.progress, signal),
    ready: (level, options) => run(client.ready(level ?? undefined), options?.signal),
    freshness: (options) => run(client.freshness, options?.signal),
    closed: ended,
    close,
    [asyncDispose]: close
  }
}
