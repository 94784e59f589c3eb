import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as HashMap from "effect/HashMap"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Stream from "effect/Stream"
import type { OpenFailure } from "../client/errors.ts"
import { type ClientConfig, NameClient } from "../client/NameClient.ts"
import type { ChangeFilter, ListFilter, LiveChange, LiveFilter } from "../client/options.ts"
import { ClientClosed } from "../client/promise/errors.ts"
import { makeLookup } from "../client/promise/lookup.ts"
import { plainError } from "../client/promise/plainError.ts"
import type { CallOptions, LogEntry, PromiseClient, PromiseClientConfig } from "../client/promise/PromiseClient.ts"
import type { NameChange, NameRecord } from "../client/promise/records.ts"

/** Runs a `NameClient` for programs without Effect. */

const LEVELS = new Map<string, LogEntry["level"]>([
  ["Trace", "debug"],
  ["Debug", "debug"],
  ["Info", "info"],
  ["Warning", "warn"]
])

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

/** A failure inside a span is a proxy around the error, which a program could not clone. */
const rejectionOf = (error: unknown): unknown => plainError(Cause.originalError(error))

const errorOf = <E>(cause: Cause.Cause<E>): unknown => rejectionOf(Cause.squash(cause))

// Node has the symbol from 20.4 on; without it there is no `await using` either.
const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")

/**
 * Iterates over a stream that runs only while the caller waits for an element. Requests are answered in turn. After the
 * end, an error or `return` there are no more elements, and a waiting caller gets `done`.
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

/** Rejects with the error class of the failure; nothing stays open then. */
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
      (error) =>
        signal?.aborted === true ? signal.reason : closing === undefined ? rejectionOf(error) : new ClientClosed()
    )
  }

  function changes(filter?: ChangeFilter & CallOptions): AsyncIterableIterator<NameChange>
  function changes(filter: LiveFilter & CallOptions): AsyncIterableIterator<NameChange | LiveChange>
  function changes({ signal, types, ...filter }: (LiveFilter | ChangeFilter) & CallOptions = {}) {
    return iterateUntil(types === undefined ? client.changes(filter) : client.changes({ types, ...filter }), signal)
  }

  const listNames = (filter: (ListFilter & CallOptions) | null | undefined): Promise<ReadonlyArray<NameRecord>> => {
    // A program without types may give a text, which the client refuses.
    if (typeof filter !== "object" || filter === null) return run(client.listNames(filter ?? undefined), undefined)
    const { signal, ...conditions } = filter
    return run(client.listNames(conditions), signal)
  }

  const resolveDomain: PromiseClient["resolveDomain"] = (host, type, options) =>
    run(client.resolveDomain(host, type ?? undefined, options ?? undefined), options?.signal)

  return {
    mode: client.mode,
    resolveName: (name, options) => run(client.resolveName(name, options ?? undefined), options?.signal),
    proveName: (name, options) => run(client.proveName(name, options ?? undefined), options?.signal),
    resolveDomain,
    lookup: makeLookup((host, type) => resolveDomain(host, type)),
    registerName: (name, value, options) => run(client.registerName(name, value, options ?? {}), options?.signal),
    updateName: (name, value, options) => run(client.updateName(name, value, options ?? {}), options?.signal),
    listNames,
    findNames: ({ signal, ...filter }) => iterateUntil(client.findNames(filter), signal),
    changes,
    progress: ({ signal } = {}) => iterateUntil(client.progress, signal),
    ready: (wanted, options) => run(client.ready(wanted ?? undefined), options?.signal),
    freshness: (options) => run(client.freshness, options?.signal),
    closed: ended,
    close,
    [asyncDispose]: close
  }
}
