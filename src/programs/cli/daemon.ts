import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import { join } from "node:path"
import { formatHostPort, isLoopback } from "../../base/addresses.ts"
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

/** The daemon that svcd-cli calls, with the credentials that are found for it. */

export interface DaemonOptions {
  readonly connection: ConnectionSettings
  readonly wallet: string | undefined
  /** The file that `-rpccookiefile` names. */
  readonly cookieFile: string | undefined
  /** Seconds for one call; 0 for any time. */
  readonly timeout: number
  /** Seconds to wait for a daemon that is starting, 0 for any time; `undefined`: not at all. */
  readonly wait: number | undefined
  readonly input: SettingsInput
  /** Reports that `-rpcwait` waits, once for a daemon. */
  readonly note?: (line: string) => void
}

export interface Daemon {
  /** Sends a call once: `-rpcwait` does not repeat one that the daemon may have received. */
  readonly call: (method: string, params?: CallParams) => Effect.Effect<Json, RpcClientError>
  /** Makes a call that changes nothing, and may be repeated. */
  readonly ask: (method: string, params?: CallParams) => Effect.Effect<Json, RpcClientError>
  /** Fails if the daemon is on another network than the one that is named. */
  readonly confirm: Effect.Effect<void, RpcClientError>
  /** Makes read-only calls in one request. The outcomes are in the order of the calls. */
  readonly batch: (
    calls: ReadonlyArray<BatchedCall>
  ) => Effect.Effect<ReadonlyArray<Either.Either<Json, RpcFailure>>, RpcClientError>
  /** Connects to read a document line by line. */
  readonly lines: (
    path: string
  ) => Effect.Effect<Stream.Stream<Lines, RpcUnreachable>, DocumentFailure | RpcClientError, Scope.Scope>
  /** The cookie file whose contents were tried. */
  readonly triedCookie: () => string | undefined
  /** The same daemon, with calls for another wallet. */
  readonly ofWallet: (name: string) => Effect.Effect<Daemon, never, Scope.Scope>
}

/** Whether a daemon that answered before may answer again: it restarts, and says so by 503 while it stops. */
export const isAway = (error: RpcClientError): boolean =>
  error._tag === "RpcUnreachable" || (error._tag === "UnexpectedReply" && error.status === 503) ||
  (error._tag === "RpcFailure" && error.code === RPC_CODE.warmUp)

/** The longest time that a timer of this runtime can wait, in milliseconds. */
const ANY_TIME = 2 ** 31 - 1

/** Pause of `-rpcwait` between two attempts. */
const WAIT = "1 second"

/** Milliseconds without an answer after which `-rpcwait` prints the address that it asks. */
const REMARK_AFTER = 3_000

/** Parses the line that the reference node writes for its clients: `user:password`. */
const parseCookie = (text: string): Credentials | undefined => {
  const parts = /^([^:\r\n]+):([^\r\n]+)\r?\n?$/.exec(text)
  const [, user, password] = parts ?? []
  return user === undefined || password === undefined ? undefined : { user, password: Redacted.make(password) }
}

const isSame = (a: Credentials, b: Credentials | undefined): boolean =>
  a.user === b?.user && Redacted.value(a.password) === Redacted.value(b.password)

/** The credentials in a cookie file, or on the left why there are none. */
const readCookie = (path: string, { readFile }: SettingsInput): Either.Either<Credentials, string> => {
  const name = `cookie file ${shownPath(path)}`
  return readFile(path).pipe(
    Either.mapLeft((why) => `${name} ${why}`),
    Either.flatMap((text) => {
      if (text === undefined) return Either.left(`${name} does not exist; the daemon creates it when it starts`)
      const credentials = parseCookie(text)
      return credentials === undefined ? Either.left(`${name} has no user:password in it`) : Either.right(credentials)
    })
  )
}

/** The data directory of the reference node, with a sub-directory for each network (upstream `chainparamsbase.cpp`). */
const SUBDIRECTORY: Readonly<Record<NetworkName, string>> = { mainnet: "", testnet: "testnet3", regtest: "regtest" }

/** The cookie file of a reference node of the same user. */
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
  /** Reports that the program waits. */
  readonly told: (error: Failure) => Effect.Effect<void>
}

/** Tries again until the time is over, which counts the attempts too. */
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

/** Prepares calls to the daemon; left: why a cookie file cannot be used. Nothing is sent yet. */
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

    /** The cookie files in the default places. Their secrets are for this machine alone. */
    const places = given !== undefined || cookieFile !== undefined || !isLoopback(address.host)
      ? []
      : [...(connection.cookieFile === undefined ? [] : [connection.cookieFile]), coreCookie(connection.network, input)]

    /** Uses the next cookie that exists. */
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

    /** Reads the cookie in use again: a daemon that starts again makes a new one. */
    const renewed = (): boolean => {
      if (tried === undefined) return false
      const cookie = readCookie(tried, input)
      if (Either.isLeft(cookie) || isSame(cookie.right, credentials)) return false
      credentials = cookie.right
      return true
    }

    /** Tries the cookies, one after the other, while the daemon asks for other credentials. */
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

    const through = (client: typeof RpcClient.Service): Daemon => ({
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
      ofWallet: (name) => Effect.map(clientOf(name), through)
    })
    return through(yield* clientOf(wallet))
  })
