import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { readFileSync, rmSync } from "node:fs"
import { readCommandLine } from "../../src/config/commandLine.ts"
import { readConfigFile } from "../../src/config/configFile.ts"
import type { Settings } from "../../src/config/settings.ts"
import { run } from "../../src/node/daemon.ts"
import { flagsOf } from "./DaemonProcess.ts"
import { listOf, pause, recordOf, RpcClient } from "./rpc.ts"
import { freePort } from "./workplace.ts"

/** The outcome of a start. */
export type InnerStart =
  | { readonly _tag: "Ready" }
  /** It runs, and /ready reports why its answers are not to be trusted. */
  | { readonly _tag: "NotReady"; readonly reason: string }
  /** It ended with an error that names what is wrong. */
  | { readonly _tag: "Refused"; readonly reason: string }
  /** It ended in an unexpected way. */
  | { readonly _tag: "Died"; readonly reason: string }
  | { readonly _tag: "Hung" }

/** Doubts that end only with help: of peers with blocks, or of the operator, as the doubt advises. */
const FOR_OTHERS = /from peers|delete the folder/

/** Whether what /ready reports lasts until others help. */
export const isLasting = (body: string): boolean => {
  if (!body.startsWith("{")) return false
  const { doubts, syncing } = recordOf(JSON.parse(body))
  const reasons = listOf(doubts).map((doubt) => String(recordOf(doubt)["reason"]))
  return syncing === false && reasons.length > 0 && reasons.every((reason) => FOR_OTHERS.test(reason))
}

const settingsOf = (argv: ReadonlyArray<string>): Either.Either<Settings, string> =>
  readCommandLine({ argv, env: {}, readFile: readConfigFile, homedir: "/nowhere", cwd: "/nowhere", cores: 2 }).pipe(
    Either.mapLeft(({ message }) => message),
    Either.flatMap((command) => command._tag === "Run" ? Either.right(command.settings) : Either.left("nothing to run"))
  )

/** Waits for a condition for at most so many milliseconds. */
const within = async <A>(milliseconds: number, work: Promise<A>): Promise<A | "late"> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), milliseconds)
  })
  const first = await Promise.race([work, late])
  clearTimeout(timer)
  return first
}

/**
 * The whole daemon, listener included, within this process: a start takes a sixth of the second that a process of its
 * own takes, once everything is loaded. It cannot be killed, but the content of its disk can be reconstructed.
 */
export class InnerDaemon {
  readonly rpc: RpcClient
  readonly port: number
  private readonly fiber: Fiber.RuntimeFiber<void, string>
  private exit: Exit.Exit<void, string> | undefined
  private readonly logFile: string

  private constructor(port: number, directory: string, args: ReadonlyArray<string>) {
    this.rpc = new RpcClient(port)
    this.port = port
    this.logFile = `${directory}.log`
    const argv = [...flagsOf(directory, port), "-logfile", this.logFile, ...args]
    const daemon = Either.match(settingsOf(argv), {
      onLeft: (message) => Effect.fail(message),
      onRight: (settings) => Effect.mapError(run(settings), ({ message }: { readonly message: string }) => message)
    })
    this.fiber = Effect.runFork(Effect.asVoid(daemon))
    this.fiber.addObserver((exit) => void (this.exit = exit))
  }

  static async open(directory: string, args: ReadonlyArray<string> = ["-maxpeers", "0"]): Promise<InnerDaemon> {
    return new InnerDaemon(await freePort(), directory, args)
  }

  /** How it ended; `undefined` while it runs. */
  get end(): InnerStart | undefined {
    if (this.exit === undefined) return undefined
    return Exit.match(this.exit, {
      onSuccess: (): InnerStart => ({ _tag: "Died", reason: "it stopped by itself" }),
      onFailure: (cause): InnerStart =>
        cause._tag === "Fail"
          ? { _tag: "Refused", reason: cause.error }
          : { _tag: "Died", reason: String(Effect.runSync(Effect.sync(() => cause))).slice(0, 2000) }
    })
  }

  /**
   * Waits until it is ready, has ended, or has reported for `patience` milliseconds that it is not ready. Where it is
   * `alone`, the wait ends once it reports what only others can mend.
   */
  async start(patience: number, hangs: number, alone = true): Promise<InnerStart> {
    const begun = performance.now()
    let answering: number | undefined
    for (;;) {
      if (this.end !== undefined) return this.end
      const { body, status } = await this.rpc.get("/ready")
      const now = performance.now()
      if (status === 200) return { _tag: "Ready" }
      if (status === 503 && !body.includes("initializing")) {
        answering ??= now
        if (now - answering > patience || (alone && isLasting(body))) return { _tag: "NotReady", reason: body }
      }
      if (now - begun > hangs) return { _tag: "Hung" }
      await pause(25)
    }
  }

  /** What it logged so far. */
  log(): string {
    try {
      return readFileSync(this.logFile, "utf8")
    } catch {
      return ""
    }
  }

  /** Stops it in good order; returns whether that was done within half a minute. */
  async stop(): Promise<boolean> {
    const done = await within(30_000, Effect.runPromise(Fiber.interrupt(this.fiber)))
    rmSync(this.logFile, { force: true })
    return done !== "late"
  }
}
