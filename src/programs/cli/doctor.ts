import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { formatHostPort } from "../../base/addresses.ts"
import { quantityOf } from "../../base/quantities.ts"
import type { ConnectionSettings } from "../../config/connection.ts"
import type { SettingsInput } from "../../config/gather.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { isForbidden } from "./ask.ts"
import type { Daemon } from "./daemon.ts"
import { type Check, checkJson, checkLines, fail, ok, warn } from "./doctorCheck.ts"
import { askNode, nodeChecks } from "./doctorNode.ts"
import { notingRefused, type RefusedMethods, remedyFor, rightsChecks } from "./doctorRights.ts"
import { askWallet, askWallets, noSuchWallet, type SharedAnswers, sharedChecks, walletChecks } from "./doctorWallet.ts"
import { indented, objectOf, textAt } from "./jsonText.ts"
import type { CliInput, CliOutcome } from "./outcome.ts"

/** `svcd-cli doctor`: finds problems and their remedies. It changes nothing. */

export interface DoctorInput {
  readonly connection: ConnectionSettings
  readonly daemon: Daemon
  readonly input: SettingsInput & Pick<CliInput, "screen" | "version">
  readonly json: boolean
  /** From `-resolver`: one that should find `.bit`. */
  readonly resolver: string | undefined
  /** From `-rpcwallet`; `undefined`: all loaded wallets. */
  readonly wallet: string | undefined
}

/** Without a readable cookie file, the daemon may need none. */
const cookieChecks = ({ connection: { cookieFile, rpc }, input }: DoctorInput): ReadonlyArray<Check> => {
  if (cookieFile === undefined || rpc.credentials !== undefined) return []
  const read = input.readFile(cookieFile)
  if (Either.isRight(read) && read.right === undefined) return []
  return [
    Either.isRight(read)
      ? ok({ check: "cookie", text: `${cookieFile} can be read` })
      : warn("cookie", {
        text: `${cookieFile} ${read.left.why}`,
        remedy: "run svcd-cli as the user that runs the node"
      })
  ]
}

const unreachable = (error: RpcClientError, { connection: { networkFrom, rpc } }: DoctorInput): Check => {
  const address = formatHostPort(rpc)
  switch (error._tag) {
    case "RpcUnauthorized":
      return fail("daemon", {
        text: `the daemon at ${address} requires other credentials`,
        remedy: "set its data directory with -datadir, or give -rpcuser and -rpcpassword, or -rpccookiefile"
      })
    case "RpcFailure":
      return fail("daemon", {
        text: `the daemon at ${address} answers: ${error.message}`,
        remedy: "wait until it has started, with -rpcwait"
      })
    case "RpcWrongNetwork":
      return fail("daemon", {
        text: error.message,
        remedy: `${error.wanted} is from ${networkFrom ?? "the default"}: set the network of this daemon there, or ` +
          "another daemon with -rpcaddr; it was not checked"
      })
    case "RpcUnreachable":
    case "UnexpectedReply":
      if (isForbidden(error)) {
        return fail("daemon", {
          text:
            `the daemon at ${address} does not allow this RPC user to call getblockchaininfo, so it was not checked`,
          remedy: remedyFor("read")
        })
      }
      if (error._tag === "UnexpectedReply" && error.status !== 503) {
        return fail("daemon", {
          text: `another program listens at ${address}: ${error.message}`,
          remedy: "stop it, or give svcd another port with -rpcaddr, here too"
        })
      }
      return fail("daemon", {
        text: error.message,
        remedy: "start svcd; if it stops at once, the end of its log says why. -rpcaddr sets another address"
      })
  }
}

const eachWallet = (
  { daemon, wallet }: DoctorInput,
  shared: SharedAnswers
): Effect.Effect<ReadonlyArray<Check>, RpcClientError> => {
  const { loaded = [] } = shared
  // The user may have no right to list wallets, but still to use one.
  if (wallet !== undefined && shared.loaded?.includes(wallet) === false) {
    return Effect.succeed([noSuchWallet(wallet, shared)])
  }
  if (wallet !== undefined || loaded.length < 2) {
    return Effect.map(askWallet(daemon, wallet), walletChecks)
  }
  const checked = (name: string) =>
    Effect.scoped(Effect.gen(function*() {
      const answers = yield* askWallet(yield* daemon.ofWallet(name), name)
      return walletChecks(answers).map((check): Check => ({ ...check, wallet: name }))
    }))
  return Effect.map(Effect.forEach(loaded, checked), (checks) => checks.flat())
}

/** Without a daemon, the files tell what waits for it. */
const fileChecks = (error: RpcClientError, { connection }: DoctorInput): Effect.Effect<ReadonlyArray<Check>> =>
  error._tag === "RpcUnreachable"
    ? Effect.map(
      Effect.promise(() => import("./doctorWalletFile.ts")),
      ({ walletFileChecks }) => walletFileChecks(connection.dataDir)
    )
    : Effect.succeed([])

const daemonChecks = (doctor: DoctorInput): Effect.Effect<ReadonlyArray<Check>> =>
  Effect.gen(function*() {
    const { connection, input } = doctor
    const refused: RefusedMethods = new Map()
    const daemon = notingRefused(doctor.daemon, refused)
    const node = yield* askNode(daemon)
    const isRegtest = textAt(node.chain, "chain") === "regtest"
    const shared = yield* askWallets(daemon, isRegtest)
    return [
      ok({ check: "daemon", text: `a daemon answers at ${formatHostPort(connection.rpc)}` }),
      ...nodeChecks(node, input.version),
      ...(yield* eachWallet({ ...doctor, daemon }, shared)),
      ...sharedChecks(shared),
      ...rightsChecks(refused)
    ]
  }).pipe(
    Effect.catchAll((error) => Effect.map(fileChecks(error, doctor), (files) => [unreachable(error, doctor), ...files]))
  )

const counted = (checks: ReadonlyArray<Check>, state: Check["state"]): number =>
  checks.filter((check) => check.state === state).length

export const doctorCommand = (doctor: DoctorInput): Effect.Effect<CliOutcome> =>
  Effect.gen(function*() {
    const { connection, input: { screen }, json } = doctor
    // Compiled parts load only here.
    const { machineChecks } = yield* Effect.promise(() => import("./doctorMachine.ts"))
    const { dnsChecks } = yield* Effect.promise(() => import("./doctorDns.ts"))
    const checks = [
      ...(yield* machineChecks(connection, doctor.input)),
      ...cookieChecks(doctor),
      ...(yield* daemonChecks(doctor)),
      ...(yield* dnsChecks(doctor))
    ]
    const [failed, warnings, skipped] = [counted(checks, "fail"), counted(checks, "warn"), counted(checks, "skip")]
    const code = failed > 0 ? 1 : 0
    if (json) {
      const answer = objectOf({ checks: checks.map(checkJson), failed, warnings, skipped })
      return { code, stdout: `${indented(answer)}\n`, stderr: "" }
    }
    const rest = skipped === 0 ? "" : " Some checks were skipped."
    const sum = failed + warnings === 0
      ? `Nothing ${skipped === 0 ? "is wrong" : "wrong was found"}.${rest}`
      : `${quantityOf(failed, "check")} failed, ${quantityOf(warnings, "warning")}.${rest}`
    return {
      code,
      stdout: [...checks.flatMap((check) => checkLines(check, screen)), "", sum, ""].join("\n"),
      stderr: ""
    }
  })
