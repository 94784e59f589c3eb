import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import { join } from "node:path"
import { formatHostPort, isLoopback } from "../../base/addresses.ts"
import { cliOf } from "../../base/ownerCommands.ts"
import { shownPath } from "../../base/safeText.ts"
import type { ConnectionSettings } from "../../config/connection.ts"
import { absolutePath, type SettingsInput } from "../../config/gather.ts"
import { type Credentials } from "../../config/settings.ts"
import type { NetworkName } from "../../protocol/networks.ts"
import type { DocumentFailure, Lines } from "../../rpc/DocumentLines.ts"
import type { Json } from "../../rpc/json/json.ts"
import { RPC_CODE } from "../../rpc/method/RpcError.ts"
import {
  type BatchedCall,
  type CallParams,
  make,
  type RpcClient,
  type RpcClientError,
  type RpcFailure,
  type RpcUnreachable
} from "../../rpc/RpcClient.ts"

import { NAME } from "./outcome.ts"

export interface DaemonOptions {
  readonly connection: ConnectionSettings
  readonly wallet: string | undefined
  readonly cookieFile: string | undefined
  /** Seconds per call; 0 for any time. */
  readonly timeout: number
  /** Seconds to wait for a starting daemon, 0 for any time; `undefined`: not at all. */
  readonly wait: number | undefined
  readonly input: SettingsInput
  /** Reports that `-rpcwait` waits, once per daemon. */
  readonly note?: (line: string) => void
}

export interface Daemon {
  /** Sent once: `-rpcwait` does not repeat a call that the daemon may have received. */
  readonly call: (method: string, params?: CallParams) => Effect.Effect<Json, RpcClientError>
  /** May be repeated: a call whose repetition changes nothing more. */
  readonly ask: (method: string, params?: CallParams) => Effect.Effect<Json, RpcClientError>
  readonly confirm: Effect.Effect<void, RpcClientError>
  /** Read-only calls in one request, answered in order. */
  readonly batch: (
    calls: ReadonlyArray<BatchedCall>
  ) => Effect.Effect<ReadonlyArray<Either.Either<Json, RpcFailure>>, RpcClientError>
  readonly lines: (
    path: string
  ) => Effect.Effect<Stream.Stream<Lines, RpcUnreachable>, DocumentFailure | RpcClientError, Scope.Scope>
  readonly triedCookie: () => string | undefined
  /** Begins the commands for its wallet. */
  readonly cli: string
  readonly ofWallet: (name: string) => Effect.Effect<Daemon, never, Scope.Scope>
}

/** A daemon that answered before restarts: it answers 503 while it stops. */
export const isAway = (error: RpcClientError): boolean =>
  error._tag === "RpcUnreachable" || (error._tag === "UnexpectedReply" && error.status === 503) ||
  (error._tag === "RpcFailure" && error.code === RPC_CODE.warmUp)

/** Milliseconds, the longest timer of this runtime. */
const ANY_TIME = 2 ** 31 - 1

const WAIT = "1 second"

/** Milliseconds without an answer after which `-rpcwait` prints the address. */
const REMARK_AFTER = 3_000

const parseCookie = (text: string): Credentials | undefined => {
  const parts = /^([^:\r\n]+):([^\r\n]+)\r?\n?$/.exec(text)
  const [, user, password] = parts ?? []
  return user === undefined || password === undefined ? undefined : { user, password: Redacted.make(password) }
}

const isSame = (a: Credentials, b: Credentials | undefined): boolean =>
  a.user === b?.user && Redacted.value(a.password) === Redacted.value(b.password)

const readCookie = (path: string, { readFile }: SettingsInput): Either.Either<Credentials, string> => {
  const name = `cookie file ${shownPath(path)}`
  return readFile(path).pipe(
    Either.mapLeft(({ why }) => `${name} ${why}`),
    Either.flatMap((text) => {
      if (text === undefined) return Either.left(`${name} does not exist; the daemon creates it when it starts`)
      const credentials = parseCookie(text)
      return credentials === undefined ? Either.left(`${name} has no user:password in it`) : Either.right(credentials)
    })
  )
}

/** Subdirectories of the reference node's data directory, by network (upstream `chainparamsbase.cpp`). */
const SUBDIRECTORY: Readonly<Record<NetworkName, string>> = { mainnet: "", testnet: "testnet3", regtest: "regtest" }

const coreCookie = (network: NetworkName, { homedir }: SettingsInput): string =>
  join(homedir, ".namecoin", SUBDIRECTORY[network], ".cookie")

type Failure = RpcClientError | DocumentFailure

const isStarting = (error: Failure, once: boolean): boolean =>
  (error._tag === "RpcUnreachable" && !(once && error.wasSent)) ||
  (error._tag === "RpcFailure" && error.code === RPC_CODE.warmUp) ||
  (error._tag === "DocumentRefused" && error.status === 503)

interface Waiting {
  readonly wait: number | undefined
  readonly once: boolean
  readonly told: (error: Failure) => Effect.Effect<void>
}

/** The time includes the attempts. */
const waiting = <A, E extends Failure, R>(work: Effect.Effect<A, E, R>, { once, told, wait }: Waiting) =>
  wait === undefined ? work : Effect.clockWith((clock) => {
    const now = () => Number(clock.unsafeCurrentTimeNanos()) / 1e6
    const begin = now()
    const deadline = wait === 0 ? Infinity : begin + wait * 1000
    return Effect.retry(work, {
      schedule: Schedule.spaced(WAIT),
      while: (error) => {
        if (!isStarting(error, once) || now() >= deadline) return Effect.succeed(false)
        return now() - begin < REMARK_AFTER ? Effect.succeed(true) : Effect.as(told(error), true)
      }
    })
  })

/** Left: why a cookie file cannot be used. Nothing is sent yet. */
export const makeDaemon = (options: DaemonOptions): Effect.Effect<Daemon, string, Scope.Scope> =>
  Effect.gen(function*() {
    const { connection, cookieFile, input, note = () => {}, timeout, wait, wallet } = options
    const { credentials: given, ...address } = connection.rpc
    let credentials = given
    let tried: string | undefined
    if (cookieFile !== undefined) {
      tried = absolutePath(cookieFile, input)
      credentials = yield* readCookie(tried, input)
    }
    const source = { address, credentials: () => credentials }
    const network = connection.networkFrom === undefined ? undefined : connection.network
    const clientOf = (name: string | undefined) =>
      make({ ...source, network, wallet: name, timeout: timeout === 0 ? ANY_TIME : timeout * 1000 })

    /** Default cookie files. Their secrets are for this machine only. */
    const places = given !== undefined || cookieFile !== undefined || !isLoopback(address.host)
      ? []
      : [...(connection.cookieFile === undefined ? [] : [connection.cookieFile]), coreCookie(connection.network, input)]

    const found = (): boolean => {
      for (let path = places.shift(); path !== undefined; path = places.shift()) {
        const cookie = readCookie(path, input)
        if (Either.isLeft(cookie)) continue
        tried = path
        credentials = cookie.right
        return true
      }
      return false
    }

    /** A restarted daemon makes a new cookie. */
    const renewed = (): boolean => {
      if (tried === undefined) return false
      const cookie = readCookie(tried, input)
      if (Either.isLeft(cookie) || isSame(cookie.right, credentials)) return false
      credentials = cookie.right
      return true
    }

    /** Tries the cookies in turn while the daemon asks for other credentials. */
    const authorized = <A, E extends Failure, R>(once: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.catchIf(
        once,
        ({ _tag }) => _tag === "RpcUnauthorized" && (renewed() || found()),
        () => authorized(once)
      )

    let isTold = false
    const told = (error: Failure): Effect.Effect<void> => {
      if (isTold) return Effect.void
      isTold = true
      const place = formatHostPort(address)
      const what = error._tag === "RpcUnreachable"
        ? `waiting for a daemon at ${place}`
        : `waiting until the daemon at ${place} has started`
      return Effect.sync(() => note(`${NAME}: ${what} (Ctrl-C ends it, -rpcwaittimeout limits it)`))
    }

    const through = (client: typeof RpcClient.Service, name: string | undefined): Daemon => ({
      call: (method, params = []) => waiting(authorized(client.call(method, params)), { wait, once: true, told }),
      ask: (method, params = []) =>
        waiting(authorized(client.call(method, params, { mayRepeat: true })), { wait, once: false, told }),
      batch: (calls) => waiting(authorized(client.batch(calls)), { wait, once: false, told }),
      lines: (path) =>
        Effect.promise(() => import("../../rpc/DocumentLines.ts")).pipe(
          Effect.flatMap(({ openLines }) =>
            waiting(authorized(Effect.zipRight(client.confirm, openLines(source, path))), { wait, once: false, told })
          )
        ),
      confirm: waiting(authorized(client.confirm), { wait, once: false, told }),
      triedCookie: () => tried,
      cli: cliOf(name),
      ofWallet: (other) => Effect.map(clientOf(other), (client) => through(client, other))
    })
    return through(yield* clientOf(wallet), wallet)
  })
