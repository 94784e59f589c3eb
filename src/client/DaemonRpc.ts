import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import { readFileSync } from "node:fs"
import { formatHostPort } from "../base/addresses.ts"
import { codeOf } from "../base/errorCode.ts"
import { shownPath } from "../base/safeText.ts"
import type { Credentials } from "../config/settings.ts"
import { type DocumentRefused, type Lines, openLines } from "../rpc/DocumentLines.ts"
import type { Json } from "../rpc/json/json.ts"
import { type CallOf, callOf, type MethodCall } from "../rpc/method/calling.ts"
import type { Contract } from "../rpc/method/contract.ts"
import { RPC_CODE } from "../rpc/method/RpcError.ts"
import * as RpcClient from "../rpc/RpcClient.ts"
import type { DaemonConfig } from "./config.ts"
import {
  type DaemonFailure,
  DaemonNotReady,
  DaemonRefused,
  DaemonUnreachable,
  InvalidConfig,
  Unauthorized
} from "./errors.ts"

/**
 * Calls to a daemon, with retries within the configured time. A read is retried when the daemon is unreachable (a few
 * times) or not ready (for some seconds). A write is retried only when the daemon has certainly not executed it: the
 * request was not sent, or the daemon is starting or too busy.
 */
export interface DaemonRpc {
  readonly address: string
  /** Fails if the daemon is on another network. Each call checks it again after a lost connection. */
  readonly confirm: Effect.Effect<void, DaemonFailure | InvalidConfig>
  readonly call: <C extends Contract>(contract: C, given: CallOf<C>) => Effect.Effect<Json, CallFailure>
  /** Makes several reads in one round trip. The outcomes are in call order. */
  readonly readAll: (
    calls: ReadonlyArray<RpcClient.BatchedCall>
  ) => Effect.Effect<ReadonlyArray<Either.Either<Json, RpcClient.RpcFailure>>, DaemonFailure>
  /** Opens a document to read line by line, with the retries of a read. A broken connection fails the stream. */
  readonly lines: (
    path: string
  ) => Effect.Effect<Stream.Stream<Lines, RpcClient.RpcUnreachable>, DaemonFailure | DocumentRefused, Scope.Scope>
}

/** The caller explains an `RpcFailure`, which is the daemon's own error. */
export type CallFailure = DaemonFailure | RpcClient.RpcFailure

const UNREACHABLE_TRIES = 3

/** Milliseconds for which a call to an unready daemon is retried. */
const BUSY_MS = 10_000

/** Milliseconds. Pauses double, up to the longest. */
const FIRST_PAUSE = 100
const LONGEST_PAUSE = 1_000

/** In bytes. */
const MAX_COOKIE = 4_096

/** Maximum bytes of a reply, above those of a block in hex and of a page of names. */
const MAX_REPLY = 2 ** 25

const LASTING: ReadonlySet<string> = new Set(["ENOTFOUND", "ETIMEDOUT"])

const BUSY_STATUS: ReadonlySet<number> = new Set([429, 503])

type Kind = "busy" | "unreachable" | "final"

const kindOf = (error: RpcClient.RpcClientError): Kind => {
  switch (error._tag) {
    case "RpcUnreachable":
      return LASTING.has(error.code) ? "final" : "unreachable"
    case "RpcFailure":
      return error.code === RPC_CODE.warmUp ? "busy" : "final"
    case "UnexpectedReply":
      return BUSY_STATUS.has(error.status) ? "busy" : "final"
    case "RpcUnauthorized":
    case "RpcWrongNetwork":
      return "final"
  }
}

const wasNotSent = (error: RpcClient.RpcClientError): boolean => error._tag === "RpcUnreachable" && !error.wasSent

const refusedReason = ({ cookieFile, credentials, spareCookieFile }: DaemonConfig): string => {
  if (cookieFile !== undefined) {
    return `does not accept what ${shownPath(cookieFile)} holds: give the path of its own cookie as rpcCookieFile`
  }
  if (credentials !== undefined) return `does not accept the password of the user ${credentials.user}`
  const looked = spareCookieFile === undefined ? "" : `, and ${shownPath(spareCookieFile)} has none that it accepts`
  return `asks for credentials${looked}: give rpcUser and rpcPassword, or rpcCookieFile, the path of .cookie in its data directory`
}

const explained = (config: DaemonConfig, error: RpcClient.RpcClientError): CallFailure => {
  const address = formatHostPort(config)
  switch (error._tag) {
    case "RpcUnreachable":
      return new DaemonUnreachable({ address, reason: error.reason })
    case "RpcUnauthorized":
      return new Unauthorized({ address, reason: refusedReason(config) })
    case "RpcFailure":
      return error.code === RPC_CODE.warmUp ? new DaemonNotReady({ address, reason: error.message }) : error
    case "UnexpectedReply":
      return BUSY_STATUS.has(error.status)
        ? new DaemonNotReady({ address, reason: error.reason })
        : new DaemonRefused({ reason: error.reason })
    case "RpcWrongNetwork":
      return new DaemonRefused({ reason: error.message })
  }
}

export const readCookie = (path: string): Either.Either<Credentials, InvalidConfig> => {
  const wrong = (reason: string) =>
    Either.left(new InvalidConfig({ field: "rpcCookieFile", reason: `${shownPath(path)} ${reason}` }))
  let cookie: string
  try {
    cookie = readFileSync(path, "utf8").slice(0, MAX_COOKIE).trim()
  } catch (cause) {
    const code = codeOf(cause)
    return wrong(code === "ENOENT" ? "does not exist: is the daemon running?" : `cannot be read: ${code}`)
  }
  const colon = cookie.indexOf(":")
  return colon < 1
    ? wrong("is not a cookie file: it must hold user:password")
    : Either.right({ user: cookie.slice(0, colon), password: Redacted.make(cookie.slice(colon + 1)) })
}

interface Identity {
  readonly current: () => Credentials | undefined
  /** Rereads the cookie. Returns whether it differs from the refused one, perhaps through a concurrent call. */
  readonly refresh: (refused: Credentials | undefined) => boolean
}

/** Reads the cookie file only once the daemon asks for credentials. */
const spareIdentity = (cookieFile: string): Identity => {
  let cookie: Credentials | undefined
  return {
    current: () => cookie,
    refresh: (refused) => {
      const read = readCookie(cookieFile)
      if (Either.isLeft(read)) return false
      cookie = read.right
      return refused === undefined || Redacted.value(cookie.password) !== Redacted.value(refused.password)
    }
  }
}

const identityOf = (config: DaemonConfig): Either.Either<Identity, InvalidConfig> => {
  const { cookieFile, credentials, spareCookieFile } = config
  if (cookieFile === undefined && credentials === undefined && spareCookieFile !== undefined) {
    return Either.right(spareIdentity(spareCookieFile))
  }
  if (cookieFile === undefined) return Either.right({ current: () => credentials, refresh: () => false })
  return Either.map(readCookie(cookieFile), (first) => {
    let cookie = first
    return {
      current: () => cookie,
      refresh: (refused) => {
        const read = readCookie(cookieFile)
        if (Either.isRight(read)) cookie = read.right
        return refused !== undefined && Redacted.value(cookie.password) !== Redacted.value(refused.password)
      }
    }
  })
}

/** The scope closes the connections. */
export const make = (
  config: DaemonConfig,
  firstPause = FIRST_PAUSE
): Effect.Effect<DaemonRpc, InvalidConfig, Scope.Scope> =>
  Effect.gen(function*() {
    const { basePath, host, network, port, secure, timeout, wallet } = config
    const address = formatHostPort({ host, port })
    const identity = yield* identityOf(config)
    const source = { address: { host, port }, secure, basePath, credentials: identity.current }
    const client = yield* RpcClient.make({
      ...source,
      network,
      wallet,
      maxReply: MAX_REPLY,
      timeout
    })

    const patient = <A, R = never>(
      attempt: Effect.Effect<A, RpcClient.RpcClientError, R>,
      mayRepeat: (error: RpcClient.RpcClientError) => boolean
    ): Effect.Effect<A, CallFailure, R> =>
      Effect.suspend(() => {
        let last: RpcClient.RpcClientError | undefined
        const loop = Effect.gen(function*() {
          const begun = yield* Clock.currentTimeMillis
          let refreshed = false
          for (let tries = 1, pause = firstPause;; tries++, pause = Math.min(2 * pause, LONGEST_PAUSE)) {
            const credentials = identity.current()
            const outcome = yield* Effect.either(attempt)
            if (Either.isRight(outcome)) return outcome.right
            const error = outcome.left
            last = error
            const kind = kindOf(error)
            if (error._tag === "RpcUnauthorized" && !refreshed && identity.refresh(credentials)) {
              refreshed = true
              continue
            }
            const waited = (yield* Clock.currentTimeMillis) - begun
            const again = kind === "busy" ? waited < BUSY_MS : kind === "unreachable" && tries <= UNREACHABLE_TRIES
            if (!again || !mayRepeat(error)) return yield* Effect.fail(explained(config, error))
            // Random pauses keep waiting callers from retrying simultaneously.
            yield* Effect.sleep(pause * (0.75 + 0.5 * (yield* Random.next)))
          }
        })
        return Effect.timeoutFail(loop, {
          duration: timeout,
          onTimeout: () =>
            last === undefined
              ? new DaemonUnreachable({ address, reason: "no answer in time" })
              : explained(config, last)
        })
      })

    /** A starting daemon answers each call of the batch with the warm-up error. */
    const batch = (calls: ReadonlyArray<RpcClient.BatchedCall>) =>
      Effect.flatMap(client.batch(calls), (outcomes) => {
        const warming = outcomes.find((outcome) => Either.isLeft(outcome) && outcome.left.code === RPC_CODE.warmUp)
        return warming !== undefined && Either.isLeft(warming)
          ? Effect.fail(warming.left)
          : Effect.succeed(outcomes)
      })

    /** The daemon may have executed a sent but unanswered call. */
    const unsure = (failure: CallFailure): CallFailure =>
      failure._tag === "DaemonUnreachable"
        ? new DaemonUnreachable({ address, reason: `${failure.reason}; the daemon may have executed the call` })
        : failure

    const write = (call: MethodCall): Effect.Effect<Json, CallFailure> =>
      Effect.suspend(() => {
        let sent = false
        const attempt = Effect.suspend(() => {
          sent = true
          return client.call(call.method, call.params)
        })
        const mayRepeat = (error: RpcClient.RpcClientError): boolean => {
          if (kindOf(error) !== "busy" && !wasNotSent(error)) return false
          sent = false
          return true
        }
        return Effect.mapError(patient(attempt, mayRepeat), (failure) => sent ? unsure(failure) : failure)
      })

    /** Retries a document only after a temporary refusal. */
    const document = (path: string) =>
      openLines(source, path).pipe(
        Effect.map((lines) => Either.right(lines)),
        Effect.catchTag("DocumentRefused", (refusal) =>
          BUSY_STATUS.has(refusal.status)
            ? new RpcClient.UnexpectedReply({ address, status: refusal.status, reason: refusal.body.trim() })
            : Effect.succeed(Either.left(refusal)))
      )

    /** The wrong network is a configuration error, not a daemon failure. */
    const confirm = patient(
      Effect.catchTag(client.confirm, "RpcWrongNetwork", ({ message }) => Effect.succeed(message)),
      () => true
    ).pipe(
      Effect.mapError(refused),
      Effect.flatMap((reason) => reason === undefined ? Effect.void : new InvalidConfig({ field: "network", reason }))
    )

    return {
      address,
      confirm,
      lines: (path) =>
        Effect.flatMap(
          Effect.mapError(patient(Effect.zipRight(client.confirm, document(path)), () => true), refused),
          (opened): Effect.Effect<Stream.Stream<Lines, RpcClient.RpcUnreachable>, DocumentRefused> => opened
        ),
      call: (contract, given) => {
        const call = callOf(contract, given)
        return call.mayRepeat ? patient(client.call(call.method, call.params, call), () => true) : write(call)
      },
      readAll: (calls) => Effect.mapError(patient(batch(calls), () => true), refused)
    }
  })

/** Maps a daemon error that needs no explanation. */
export const refused = (failure: CallFailure): DaemonFailure =>
  failure._tag === "RpcFailure" ? new DaemonRefused({ code: failure.code, reason: failure.message }) : failure
