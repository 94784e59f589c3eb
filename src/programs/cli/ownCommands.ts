import * as Effect from "effect/Effect"
import { RPC_CODE } from "../../rpc/method/RpcError.ts"
import type { CommandError, OwnContext } from "./commandContext.ts"
import type { CommandName } from "./commandTable.ts"
import { doctorCommand } from "./doctor.ts"
import { expiringCommand } from "./expiring.ts"
import { explain } from "./failures.ts"
import { findCommand } from "./find.ts"
import { type CliCommandLine, type CliFlagName, countOf } from "./flags.ts"
import { nameCommand } from "./namePage.ts"
import { namesCommand } from "./names.ts"
import { type CliOutcome, failure, NAME, success, usageOutcome } from "./outcome.ts"
import { payCommand } from "./pay.ts"
import { peersCommand } from "./peers.ts"
import { receiveCommand } from "./receive.ts"
import { registerCommand } from "./register.ts"
import { registrationsCommand } from "./registrations.ts"
import { renewCommand } from "./renew.ts"
import { status } from "./status.ts"
import { watchStatus } from "./statusWatch.ts"
import { waitForNames } from "./syncRows.ts"
import { shownLines } from "./textWidth.ts"
import { transferCommand } from "./transfer.ts"
import { updateCommand } from "./update.ts"
import { webhooksCommand } from "./webhooks.ts"

/** The commands of svcd-cli, and what else a call of a method does not load. */

export { helpText } from "./help.ts"
export { lintCommand, warningsOfCall } from "./lint.ts"
export { rpcauth } from "./rpcauth.ts"

type Runner = (context: OwnContext) => Effect.Effect<CliOutcome, CommandError>

interface OwnCommand {
  readonly run: Runner
  /** What to print if the daemon lacks a method that the command needs. */
  readonly missing?: string
}

/** Names that `find` and `expiring` list by default. */
const FOUND_NAMES = 100

/** Blocks before the expiry from which on `expiring` lists names by default: four weeks. */
const EXPIRING_BLOCKS = 4_032

/** Reads whole numbers of flags, then runs with them; or reports those that are none. */
const withCounts = <const N extends CliFlagName>(
  line: CliCommandLine,
  fallbacks: Readonly<Record<N, number>>,
  run: (counts: Readonly<Record<N, number>>) => Effect.Effect<CliOutcome, CommandError>
): Effect.Effect<CliOutcome, CommandError> => {
  const problems: Array<string> = []
  const counts: Record<N, number> = { ...fallbacks }
  const names = Object.keys(fallbacks).filter((name): name is N => Object.hasOwn(fallbacks, name))
  for (const name of names) {
    counts[name] = countOf({ name, text: line.text(name), fallback: fallbacks[name] }, problems)
  }
  return problems.length > 0 ? Effect.succeed(usageOutcome(problems)) : run(counts)
}

const NO_WALLET = "the daemon has no wallet: it runs with -disablewallet"
const NOT_SVCD = "the daemon cannot do that: it is another program, or an older svcd"

export type ConnectedCommand = Exclude<CommandName, "lint" | "rpcauth">

const COMMANDS: Readonly<Record<ConnectedCommand, OwnCommand>> = {
  name: { run: (context) => withCounts(context.line, { last: 10 }, ({ last }) => nameCommand(context, last)) },
  register: { run: registerCommand, missing: NOT_SVCD },
  update: { run: updateCommand, missing: NO_WALLET },
  renew: { run: renewCommand, missing: NOT_SVCD },
  transfer: { run: transferCommand, missing: NO_WALLET },
  names: {
    run: ({ daemon, input, line }) =>
      withCounts(line, { expiring: 0 }, ({ expiring }) =>
        Effect.map(
          namesCommand(daemon, input.screen, {
            prefix: line.words[0] ?? "",
            all: line.wants("all"),
            expiring: line.has("expiring") ? expiring : undefined,
            json: line.wants("json")
          }),
          success
        )),
    missing: `the daemon has no wallet; "${NAME} name_scan" lists all names`
  },
  registrations: {
    run: ({ daemon, input, line }) =>
      registrationsCommand(daemon, input.screen, { all: line.wants("all"), json: line.wants("json") }),
    missing: NOT_SVCD
  },
  expiring: {
    run: ({ daemon, input, line }) =>
      withCounts(line, { blocks: EXPIRING_BLOCKS, limit: FOUND_NAMES }, (counts) =>
        Effect.map(
          expiringCommand(daemon, input.screen, {
            all: line.wants("all"),
            owner: line.text("owner"),
            ...counts,
            json: line.wants("json")
          }),
          success
        )),
    missing: `the daemon has no such list; "${NAME} names" shows the names of the wallet`
  },
  find: {
    run: ({ daemon, input, line }) =>
      withCounts(line, { limit: FOUND_NAMES }, ({ limit }) =>
        Effect.map(
          findCommand(daemon, input.screen, {
            text: line.words[0],
            key: line.text("key"),
            value: line.text("value"),
            owner: line.text("owner"),
            namespace: line.text("namespace"),
            expired: line.wants("expired"),
            limit,
            json: line.wants("json")
          }),
          success
        )),
    missing: `the daemon cannot search; "${NAME} name_scan" lists names`
  },
  watch: {
    // Reading a stream of lines takes long to load.
    run: ({ daemon, input, line }) =>
      Effect.flatMap(
        Effect.promise(() => import("./watch.ts")),
        ({ watchCommand }) =>
          watchCommand({ daemon, screen: input.screen, output: input.output }, {
            prefix: line.words[0],
            from: line.text("from"),
            types: line.text("types"),
            json: line.wants("json")
          })
      )
  },
  receive: { run: receiveCommand, missing: NO_WALLET },
  pay: { run: payCommand, missing: NO_WALLET },
  status: {
    run: ({ connection, daemon, input, line }) =>
      Effect.gen(function*() {
        const json = line.wants("json")
        if (line.wants("wait")) yield* waitForNames(daemon, input.progress)
        if (line.wants("watch")) return yield* watchStatus({ connection, daemon, input, json })
        return success(yield* status(daemon, { connection, screen: input.screen, json }))
      })
  },
  doctor: {
    run: ({ connection, daemon, input, line }) => doctorCommand({ connection, daemon, input, json: line.wants("json") })
  },
  peers: { run: ({ daemon, input, line }) => peersCommand(daemon, input.screen, line.wants("json")) },
  webhooks: {
    run: ({ daemon, input, line }) =>
      webhooksCommand(daemon, input.screen, { test: line.words[1], json: line.wants("json") }),
    missing: "the daemon has no webhooks: it is another program, or an older svcd"
  }
}

/** JSON on a terminal: texts of other owners must not turn or hide anything there. A program gets every byte unchanged. */
const safeJson = (outcome: CliOutcome, { input, line }: OwnContext): CliOutcome =>
  line.wants("json") && input.screen.terminal ? { ...outcome, stdout: shownLines(outcome.stdout) } : outcome

/** Carries out a command. Every failure is an outcome. */
export const runOwnCommand = (command: ConnectedCommand, context: OwnContext): Effect.Effect<CliOutcome> => {
  const { missing, run } = COMMANDS[command]
  return Effect.catchAll(Effect.map(run(context), (outcome) => safeJson(outcome, context)), (error) => {
    if (error._tag === "CommandFailed") return Effect.succeed(failure(1, `error: ${shownLines(error.message)}`))
    return missing !== undefined && error._tag === "RpcFailure" && error.code === RPC_CODE.methodNotFound
      ? Effect.succeed(failure(1, `error: ${missing}`))
      : explain(error, { connection: context.connection, daemon: context.daemon, command })
  })
}
