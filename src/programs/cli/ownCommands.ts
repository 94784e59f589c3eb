import * as Effect from "effect/Effect"
import { RPC_CODE } from "../../rpc/method/RpcError.ts"
import type { CommandError, OwnContext } from "./commandContext.ts"
import { COMMAND_ROWS, type CommandName } from "./commandTable.ts"
import { explain } from "./failures.ts"
import { type CliCommandLine, type CliFlagName, countOf } from "./flags.ts"
import { type CliOutcome, failure, NAME, success, usageOutcome } from "./outcome.ts"
import { shownLines } from "./textWidth.ts"

/** The commands of svcd-cli that ask a daemon. Each module is loaded only for its command. */

type Runner = (context: OwnContext) => Effect.Effect<CliOutcome, CommandError>

interface OwnCommand {
  readonly load: () => Promise<Runner>
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

type Connected = Exclude<CommandName, "lint" | "rpcauth" | "doctor">

const COMMANDS: Readonly<Record<Connected, OwnCommand>> = {
  name: {
    load: async () => {
      const { nameCommand } = await import("./namePage.ts")
      return (context) => withCounts(context.line, { last: 10 }, ({ last }) => nameCommand(context, last))
    }
  },
  register: { load: async () => (await import("./register.ts")).registerCommand, missing: NOT_SVCD },
  update: { load: async () => (await import("./update.ts")).updateCommand, missing: NO_WALLET },
  renew: { load: async () => (await import("./renew.ts")).renewCommand, missing: NOT_SVCD },
  transfer: { load: async () => (await import("./transfer.ts")).transferCommand, missing: NO_WALLET },
  names: {
    load: async () => {
      const { namesCommand } = await import("./names.ts")
      return ({ daemon, input, line }) =>
        withCounts(line, { expiring: 0 }, ({ expiring }) =>
          Effect.map(
            namesCommand(daemon, input.screen, {
              prefix: line.words[0] ?? "",
              all: line.wants("all"),
              expiring: line.has("expiring") ? expiring : undefined,
              json: line.wants("json")
            }),
            success
          ))
    },
    missing: `the daemon has no wallet; "${NAME} name_scan" lists all names`
  },
  registrations: {
    load: async () => {
      const { registrationsCommand } = await import("./registrations.ts")
      return ({ daemon, input, line }) =>
        registrationsCommand(daemon, input.screen, { all: line.wants("all"), json: line.wants("json") })
    },
    missing: NOT_SVCD
  },
  expiring: {
    load: async () => {
      const { expiringCommand } = await import("./expiring.ts")
      return ({ daemon, input, line }) =>
        withCounts(line, { blocks: EXPIRING_BLOCKS, limit: FOUND_NAMES }, (counts) =>
          Effect.map(
            expiringCommand(daemon, input.screen, {
              all: line.wants("all"),
              owner: line.text("owner"),
              ...counts,
              json: line.wants("json")
            }),
            success
          ))
    },
    missing: `the daemon has no such list; "${NAME} names" shows the names of the wallet`
  },
  find: {
    load: async () => {
      const { findCommand } = await import("./find.ts")
      return ({ daemon, input, line }) =>
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
          ))
    },
    missing: `the daemon cannot search; "${NAME} name_scan" lists names`
  },
  watch: {
    load: async () => {
      const { watchCommand } = await import("./watch.ts")
      return ({ daemon, input, line }) =>
        watchCommand({ daemon, screen: input.screen, output: input.output }, {
          prefix: line.words[0],
          from: line.text("from"),
          types: line.text("types"),
          json: line.wants("json")
        })
    }
  },
  receive: { load: async () => (await import("./receive.ts")).receiveCommand, missing: NO_WALLET },
  pay: { load: async () => (await import("./pay.ts")).payCommand, missing: NO_WALLET },
  status: {
    load: async () => {
      const [{ status }, { waitForNames }] = await Promise.all([import("./status.ts"), import("./syncRows.ts")])
      return ({ connection, daemon, input, line }) =>
        Effect.gen(function*() {
          if (line.wants("wait")) yield* waitForNames(daemon, input.progress)
          if (line.wants("watch")) {
            const { watchStatus } = yield* Effect.promise(() => import("./statusWatch.ts"))
            return yield* watchStatus({ connection, daemon, input, json: line.wants("json") })
          }
          return success(yield* status(daemon, { connection, screen: input.screen, json: line.wants("json") }))
        })
    }
  },
  peers: {
    load: async () => {
      const { peersCommand } = await import("./peers.ts")
      return ({ daemon, input, line }) => peersCommand(daemon, input.screen, line.wants("json"))
    }
  },
  webhooks: {
    load: async () => {
      const { webhooksCommand } = await import("./webhooks.ts")
      return ({ daemon, input, line }) =>
        webhooksCommand(daemon, input.screen, { test: line.words[1], json: line.wants("json") })
    },
    missing: "the daemon has no webhooks: it is another program, or an older svcd"
  }
}

/** Carries out a command. Every failure is an outcome. */
export const runOwnCommand = (command: Connected, context: OwnContext): Effect.Effect<CliOutcome> => {
  const { load, missing } = COMMANDS[command]
  return Effect.promise(load).pipe(
    Effect.flatMap((run) => run(context)),
    Effect.catchAll((error) => {
      if (error._tag === "CommandFailed") return Effect.succeed(failure(1, `error: ${shownLines(error.message)}`))
      return missing !== undefined && error._tag === "RpcFailure" && error.code === RPC_CODE.methodNotFound
        ? Effect.succeed(failure(1, `error: ${missing}`))
        : explain(error, { connection: context.connection, daemon: context.daemon, command })
    })
  )
}

/** The words of a command, where its usage line says less. */
const TAKEN: { readonly [command in CommandName]?: string } = {
  names: "one prefix",
  find: "one text",
  watch: "one prefix",
  webhooks: "nothing, or: test ID",
  lint: "a name and a value; put the value in quotes",
  rpcauth: "a user name and a password"
}

/** What is wrong with the words behind a command. None is shown: a value may be there, or a password. */
export const wordProblems = ({ command, words }: CliCommandLine): ReadonlyArray<string> => {
  if (command === undefined) return []
  const { takes: [least, most], words: wanted } = COMMAND_ROWS[command]
  const isTest = command === "webhooks" && words.length > 0
  const isRight = isTest ? words.length === 2 && words[0] === "test" : words.length >= least && words.length <= most
  const taken = TAKEN[command] ?? (wanted === "" ? "no parameter" : wanted)
  return isRight ? [] : [`${command}: takes ${taken}; see ${NAME} ${command} -help`]
}
