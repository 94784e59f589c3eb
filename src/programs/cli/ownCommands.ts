import * as Effect from "effect/Effect"
import { escapeLines } from "../../base/safeText.ts"
import { RPC_CODE } from "../../rpc/method/RpcError.ts"
import { ask } from "./ask.ts"
import type { CommandError, OwnContext } from "./commandContext.ts"
import type { CommandName } from "./commandTable.ts"
import { explain } from "./failures.ts"
import { type CliCommandLine, type CliFlagName, countOf } from "./flags.ts"
import { textsOf } from "./jsonText.ts"
import { type CliOutcome, type CommandFailed, failure, NAME, success, usageOutcome } from "./outcome.ts"
import { walletList } from "./ownNames.ts"

/** Commands that ask a daemon. Each is loaded on use: together they load slower than one runs. */

type Runner = (context: OwnContext) => Effect.Effect<CliOutcome, CommandError>

interface OwnCommand {
  readonly run: Runner
  readonly missing?: string
}

const using = <Module>(
  load: () => Promise<Module>,
  run: (module: Module) => Effect.Effect<CliOutcome, CommandError>
): Effect.Effect<CliOutcome, CommandError> => Effect.flatMap(Effect.promise(load), run)

const command = <Module>(
  load: () => Promise<Module>,
  of: (module: Module) => Runner,
  missing: string
): OwnCommand => ({ run: (context) => using(load, (module) => of(module)(context)), missing })

const FOUND_NAMES = 100

/** Default of `expiring`: four weeks. */
const EXPIRING_BLOCKS = 4_032

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

export type ConnectedCommand = Exclude<CommandName, "lint" | "rpcauth" | "verify-proof">

const COMMANDS: Readonly<Record<ConnectedCommand, OwnCommand>> = {
  name: {
    run: (context) =>
      withCounts(
        context.line,
        { last: 10 },
        ({ last }) => using(() => import("./namePage.ts"), ({ nameCommand }) => nameCommand(context, last))
      )
  },
  register: command(() => import("./register.ts"), ({ registerCommand }) => registerCommand, NOT_SVCD),
  update: command(() => import("./update.ts"), ({ updateCommand }) => updateCommand, NO_WALLET),
  renew: command(() => import("./renew.ts"), ({ renewCommand }) => renewCommand, NOT_SVCD),
  transfer: command(() => import("./transfer.ts"), ({ transferCommand }) => transferCommand, NO_WALLET),
  autorenew: command(() => import("./autorenew.ts"), ({ autorenewCommand }) => autorenewCommand, NOT_SVCD),
  cancel: command(() => import("./cancel.ts"), ({ cancelCommand }) => cancelCommand, NOT_SVCD),
  names: {
    run: ({ daemon, input, line }) =>
      withCounts(
        line,
        { expiring: 0 },
        ({ expiring }) =>
          using(() => import("./names.ts"), ({ namesCommand }) =>
            Effect.map(
              namesCommand(daemon, input.screen, {
                prefix: line.words[0] ?? "",
                all: line.wants("all"),
                expiring: line.has("expiring") ? expiring : undefined,
                json: line.wants("json")
              }),
              success
            ))
      ),
    missing: `the daemon has no wallet; "${NAME} name_scan" lists all names`
  },
  dismiss: command(() => import("./dismiss.ts"), ({ dismissCommand }) => dismissCommand, NOT_SVCD),
  registrations: {
    run: ({ daemon, input, line }) =>
      using(
        () => import("./registrations.ts"),
        ({ registrationsCommand }) =>
          registrationsCommand(daemon, input.screen, { all: line.wants("all"), json: line.wants("json") })
      ),
    missing: NOT_SVCD
  },
  expiring: {
    run: ({ daemon, input, line }) =>
      withCounts(
        line,
        { blocks: EXPIRING_BLOCKS, limit: FOUND_NAMES },
        (counts) =>
          using(() => import("./expiring.ts"), ({ expiringCommand }) =>
            Effect.map(
              expiringCommand(daemon, input.screen, {
                all: line.wants("all"),
                owner: line.text("owner"),
                ...counts,
                json: line.wants("json")
              }),
              success
            ))
      ),
    missing: `the daemon has no such list; "${NAME} names" shows the names of the wallet`
  },
  find: {
    run: ({ daemon, input, line }) =>
      withCounts(
        line,
        { limit: FOUND_NAMES },
        ({ limit }) =>
          using(() => import("./find.ts"), ({ findCommand }) =>
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
      ),
    missing: `the daemon cannot search; "${NAME} name_scan" lists names`
  },
  dig: command(() => import("./dig.ts"), ({ digCommand }) => digCommand, NOT_SVCD),
  proof: {
    run: (context) =>
      withCounts(
        context.line,
        { headers: 6 },
        ({ headers }) => using(() => import("./proof.ts"), ({ proofCommand }) => proofCommand(context, headers))
      ),
    missing: NOT_SVCD
  },
  zone: {
    run: (context) =>
      withCounts(
        context.line,
        { ttl: 600 },
        ({ ttl }) => using(() => import("./zone.ts"), ({ zoneCommand }) => zoneCommand({ ...context, ttl }))
      )
  },
  watch: {
    run: ({ daemon, input, line }) =>
      using(
        () => import("./watch.ts"),
        ({ watchCommand }) =>
          watchCommand({ daemon, screen: input.screen, output: input.output }, {
            prefix: line.words[0],
            from: line.text("from"),
            types: line.text("types"),
            json: line.wants("json"),
            line
          })
      )
  },
  receive: command(() => import("./receive.ts"), ({ receiveCommand }) => receiveCommand, NO_WALLET),
  pay: command(() => import("./pay.ts"), ({ payCommand }) => payCommand, NO_WALLET),
  tx: command(() => import("./tx.ts"), ({ txCommand }) => txCommand, NO_WALLET),
  unlock: command(() => import("./unlock.ts"), ({ unlockCommand }) => unlockCommand, NO_WALLET),
  lock: command(() => import("./unlock.ts"), ({ lockCommand }) => lockCommand, NO_WALLET),
  encrypt: command(() => import("./encrypt.ts"), ({ encryptCommand }) => encryptCommand, NO_WALLET),
  backup: command(() => import("./backup.ts"), ({ backupCommand }) => backupCommand, NO_WALLET),
  seed: command(() => import("./seedCheck.ts"), ({ seedCheckCommand }) => seedCheckCommand, NOT_SVCD),
  status: {
    run: ({ connection, daemon, input, line }) =>
      Effect.gen(function*() {
        const json = line.wants("json")
        if (line.wants("wait")) {
          const { waitForNames } = yield* Effect.promise(() => import("./syncRows.ts"))
          yield* waitForNames(daemon, input)
        }
        if (line.wants("watch")) {
          const { watchStatus } = yield* Effect.promise(() => import("./statusWatch.ts"))
          return yield* watchStatus({ connection, daemon, input, json })
        }
        const { status } = yield* Effect.promise(() => import("./status.ts"))
        return success(yield* status(daemon, { connection, screen: input.screen, json }))
      })
  },
  desk: command(() => import("./desk.ts"), ({ deskCommand }) => deskCommand, NOT_SVCD),
  doctor: {
    run: ({ connection, daemon, input, line }) =>
      using(
        () => import("./doctor.ts"),
        ({ doctorCommand }) =>
          doctorCommand({
            connection,
            daemon,
            input,
            json: line.wants("json"),
            resolver: line.text("resolver"),
            wallet: line.text("rpcwallet")
          })
      )
  },
  peers: {
    run: ({ daemon, input, line }) =>
      using(() => import("./peers.ts"), ({ peersCommand }) => peersCommand(daemon, input.screen, line.wants("json")))
  },
  webhooks: {
    run: ({ daemon, input, line }) =>
      using(
        () => import("./webhooks.ts"),
        ({ webhooksCommand }) =>
          webhooksCommand(daemon, input.screen, { test: line.words[1], json: line.wants("json") })
      ),
    missing: "the daemon has no webhooks: it is another program, or an older svcd"
  },
  dnskey: {
    run: ({ daemon, input, line }) =>
      using(
        () => import("./dnskey.ts"),
        ({ dnskeyCommand }) => dnskeyCommand(daemon, input.screen, { action: line.words[0], json: line.wants("json") })
      ),
    missing: NOT_SVCD
  }
}

/** Foreign texts must not reverse or hide anything. JSON keeps its meaning. */
const safeJson = (outcome: CliOutcome, { line }: OwnContext): CliOutcome =>
  line.wants("json") ? { ...outcome, stdout: escapeLines(outcome.stdout) } : outcome

const failed = ({ message, remedy }: CommandFailed): CliOutcome =>
  failure(1, { message: escapeLines(message), remedy: remedy === undefined ? undefined : escapeLines(remedy) })

/** Commands that spend and change nothing use wallet.json if several wallets are loaded, and say so. */
const IN_DEFAULT: ReadonlySet<ConnectedCommand> = new Set(["names", "receive", "registrations", "tx"])

const inDefault = (context: OwnContext, run: Runner): Effect.Effect<CliOutcome, CommandError> =>
  Effect.catchIf(
    run(context),
    (error) => error._tag === "RpcFailure" && error.code === RPC_CODE.walletNotSpecified,
    (several) =>
      Effect.gen(function*() {
        const { daemon, input } = context
        const loaded = textsOf(yield* ask(daemon, "listwallets"))
        if (!loaded.includes(DEFAULT_WALLET)) return yield* Effect.fail(several)
        const others = walletList(loaded.filter((name) => name !== DEFAULT_WALLET))
        input.note(`${NAME}: of wallet.json; others are loaded, and -rpcwallet NAME chooses one: ${others}`)
        return yield* run({ ...context, daemon: yield* daemon.ofWallet(DEFAULT_WALLET) })
      }).pipe(Effect.scoped)
  )

const DEFAULT_WALLET = ""

export const runOwnCommand = (command: ConnectedCommand, context: OwnContext): Effect.Effect<CliOutcome> => {
  const { missing, run } = COMMANDS[command]
  const done = IN_DEFAULT.has(command) ? inDefault(context, run) : run(context)
  return Effect.catchAll(Effect.map(done, (outcome) => safeJson(outcome, context)), (error) => {
    if (error._tag === "CommandFailed") return Effect.succeed(failed(error))
    return missing !== undefined && error._tag === "RpcFailure" && error.code === RPC_CODE.methodNotFound
      ? Effect.succeed(failure(1, { message: missing }))
      : explain(error, { connection: context.connection, daemon: context.daemon, command })
  })
}
