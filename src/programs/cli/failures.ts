import * as Effect from "effect/Effect"
import { formatHostPort } from "../../base/addresses.ts"
import { escapeLines, shownPath } from "../../base/safeText.ts"
import type { ConnectionSettings } from "../../config/connection.ts"
import { nearest } from "../../config/suggest.ts"
import { USAGE_EXIT_CODE } from "../../config/UsageError.ts"
import { ARGUMENTS } from "../../rpc/contract/arguments.ts"
import type { DocumentRefused } from "../../rpc/DocumentLines.ts"
import { RPC_CODE } from "../../rpc/method/RpcError.ts"
import type { RpcClientError, RpcFailure, RpcUnreachable, UnexpectedReply } from "../../rpc/RpcClient.ts"
import { errorWords } from "../../rpc/words.ts"
import { isForbidden } from "./ask.ts"
import { COMMAND_NAMES, type CommandName } from "./commandTable.ts"
import type { Daemon } from "./daemon.ts"
import { textsOf } from "./jsonText.ts"
import { nameHints } from "./nameHints.ts"
import { type CliOutcome, failure, NAME, ofWallet, quotedArgument, toldFailure } from "./outcome.ts"
import { walletList } from "./ownNames.ts"

/** Messages for failed calls, in the forms that wrappers of the reference client parse (reference/rpc.md 8). */

const sourceOf = (from: string): string => from === "default" ? "That is the default address" : `It is from ${from}`

const unauthorized = ({ rpc }: ConnectionSettings, cookie: string | undefined): CliOutcome => {
  const other = rpc.credentials !== undefined || cookie !== undefined
  const tried = cookie === undefined ? "" : ` than those in ${shownPath(cookie)}`
  return failure(1, {
    message: `Authorization failed: ${formatHostPort(rpc)} requires ${
      other ? `other credentials${tried}` : "credentials"
    }`,
    remedy: "Set -rpcuser and -rpcpassword, SVCD_RPC_USER and SVCD_RPC_PASSWORD, or svcd.conf in -datadir; " +
      "or set -rpccookiefile."
  })
}

/** Commands of earlier versions. */
const RENAMED: ReadonlyMap<string, string> = new Map([["checkwords", "seed check"]])

const nearestCommand = (word: string, methods: ReadonlyArray<string>): string | undefined =>
  RENAMED.get(word) ?? nearest(word, [...COMMAND_NAMES, ...methods])

const meant = (daemon: Daemon, method: string): Effect.Effect<string | undefined> =>
  daemon.ask("help").pipe(
    Effect.map((text) => {
      if (typeof text !== "string") return undefined
      const names = text.split("\n").flatMap((line) => /^([a-z][a-z0-9_.]*)(?: |$)/.exec(line)?.[1] ?? [])
      return nearestCommand(method, names)
    }),
    Effect.orElseSucceed(() => undefined)
  )

const severalWallets = (daemon: Daemon): Effect.Effect<string> =>
  daemon.ask("listwallets").pipe(
    Effect.map(textsOf),
    Effect.map((names) =>
      `Several wallets are loaded: ${walletList(names)}; add -rpcwallet NAME${
        names.includes("") ? ", or -rpcwallet '' for wallet.json" : ""
      }.`
    ),
    Effect.orElseSucceed(() => "Several wallets are loaded; add -rpcwallet NAME.")
  )

/** For a word that is neither a command nor a method that svcd-cli knows, if no daemon can tell. */
const unknownWord = (word: string, error: RpcUnreachable): CliOutcome | undefined => {
  if (Object.hasOwn(ARGUMENTS, word)) return undefined
  const found = nearestCommand(word, Object.keys(ARGUMENTS))
  return failure(1, {
    message: `${quotedArgument(word)} is not a command, and not a method that ${NAME} knows`,
    remedy: `${found === undefined ? `"${NAME} -help" lists the commands.` : `Did you mean ${found}?`} ` +
      `No daemon can tell: ${error.message}.`
  })
}

/** An answer without the form of a daemon's. */
const anotherServer = (
  error: UnexpectedReply | DocumentRefused,
  { rpc, rpcAddrFrom }: ConnectionSettings
): CliOutcome =>
  failure(1, {
    message: error.message,
    remedy: error._tag === "UnexpectedReply" && error.status !== 503
      ? `${formatHostPort(rpc)} answers, but not as a daemon: another program listens there. ` +
        `${sourceOf(rpcAddrFrom)}; -rpcaddr sets another one.`
      : undefined
  })

interface Call {
  readonly connection: ConnectionSettings
  readonly daemon: Daemon
  readonly method?: string
  readonly command?: CommandName
  readonly name?: string | undefined
  /** The first word of the command line, if it is not a command. */
  readonly word?: string | undefined
}

const exitOf = ({ code }: RpcFailure): number => Math.abs(code) % 256 || 1

const plainly = (error: RpcFailure, remedy: string | undefined): CliOutcome =>
  toldFailure({
    exit: exitOf(error),
    text: `error: ${escapeLines(error.message)}${remedy === undefined ? "" : `\n${remedy}`}`,
    problem: { code: error.code, message: error.message, remedy }
  })

const asReference = (error: RpcFailure, hints: ReadonlyArray<string>): CliOutcome =>
  toldFailure({
    exit: exitOf(error),
    text: [`error code: ${error.code}\nerror message:\n${escapeLines(error.message)}`, ...hints].join("\n"),
    problem: { code: error.code, message: error.message, remedy: hints.length === 0 ? undefined : hints.join("\n") }
  })

/** Added to the reference node's text, which names a method. */
const UNLOCKS = `"${NAME} unlock" unlocks the wallet.`

const explainFailure = (
  error: RpcFailure,
  { command, daemon, method, name }: Pick<Call, "command" | "daemon" | "method" | "name">
): Effect.Effect<CliOutcome> => {
  const hints = error.code === RPC_CODE.wallet || error.code === RPC_CODE.invalidEncoding
    ? nameHints(name)
    : error.code === RPC_CODE.walletUnlockNeeded
    ? [ofWallet(UNLOCKS, daemon)]
    : []
  if (error.code === RPC_CODE.walletNotSpecified) {
    return Effect.map(severalWallets(daemon), (list) =>
      command === undefined
        ? asReference(error, [...hints, list])
        : toldFailure({ exit: exitOf(error), text: `error: ${list}`, problem: { code: error.code, message: list } }))
  }
  if (command !== undefined) {
    const remedy = errorWords(error)?.command
    return Effect.succeed(plainly(error, remedy === undefined ? undefined : ofWallet(remedy, daemon)))
  }
  if (error.code !== RPC_CODE.methodNotFound || method === undefined) return Effect.succeed(asReference(error, hints))
  return Effect.map(
    meant(daemon, method),
    (found) => asReference(error, found === undefined ? [] : [`Did you mean ${found}?`])
  )
}

/** docs/security.md. */
const forbiddenRemedy = ({ missingRight }: UnexpectedReply, method: string | undefined): string => {
  const lacks = missingRight === undefined
    ? "the right for it"
    : `the right "${missingRight}" for ${method === undefined ? "it" : `this call of ${method}`}`
  return `This RPC user lacks ${lacks} (-rpcrights, -rpcwhitelist), or -rpcallowip does not name this machine.`
}

/** `method`: as the operator named it. `command`: the command of svcd-cli that made the call. */
export const explain = (
  error: RpcClientError | DocumentRefused,
  call: Call
): Effect.Effect<CliOutcome> => {
  const { connection, daemon } = call
  switch (error._tag) {
    case "RpcFailure":
      return explainFailure(error, call)
    case "RpcUnauthorized":
      return Effect.succeed(unauthorized(connection, daemon.triedCookie()))
    case "RpcUnreachable": {
      const unknown = call.word === undefined || error.wasSent ? undefined : unknownWord(call.word, error)
      if (unknown !== undefined) return Effect.succeed(unknown)
      const from = sourceOf(connection.rpcAddrFrom)
      const next = error.wasSent
        ? "It may have received the call, so svcd-cli does not repeat it."
        : "-rpcaddr sets another address, -rpcwait waits for the daemon."
      return Effect.succeed(failure(1, {
        message: error.message,
        remedy: `${from}: is svcd running and listening there? ${next}`
      }))
    }
    case "RpcWrongNetwork":
      return Effect.succeed(failure(USAGE_EXIT_CODE, {
        message: error.message,
        remedy: `${error.wanted} is from ${connection.networkFrom ?? "the default"}: name the network of this daemon ` +
          "there, or another daemon with -rpcaddr. Nothing was done."
      }))
    case "DocumentRefused":
    case "UnexpectedReply":
      if (error._tag === "UnexpectedReply" && isForbidden(error)) {
        return Effect.succeed(failure(1, { message: error.message, remedy: forbiddenRemedy(error, call.method) }))
      }
      return Effect.succeed(anotherServer(error, connection))
  }
}
