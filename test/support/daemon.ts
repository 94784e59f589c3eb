import { Effect, Schedule } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { createServer } from "node:net"
import { basename, join } from "node:path"
import { inject } from "vitest"
import { bundled } from "./bundle.ts"
import { temporaryDirectory } from "./chain.ts"
import { ownFixture } from "./fixtures.ts"
import { madeOnce } from "./madeOnce.ts"

const { bin }: { readonly bin: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8")
)

/** Programs of the build: `npm test` builds before it tests. */
export const program = (name: string): string => join(bundled(inject("sharedDirectory")), basename(bin[name] ?? name))

/** A loopback port without a listener. */
export const freePort = Effect.async<number, Error>((resume) => {
  const server = createServer()
  server.once("error", (error) => resume(Effect.fail(error)))
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

/** How a program ended, and its output. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** A program of the build while it runs. */
export class Running {
  readonly child: ChildProcess
  stdout = ""
  stderr = ""
  private readonly exit: Promise<readonly [number | null, NodeJS.Signals | null]>

  constructor([command = process.execPath, ...args]: ReadonlyArray<string>) {
    this.child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] })
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => void (this.stdout += text))
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => void (this.stderr += text))
    this.exit = new Promise((resolve) => this.child.once("close", (code, signal) => resolve([code, signal])))
  }

  /** Waits for its end. */
  readonly ended: Effect.Effect<Ended> = Effect.promise(async () => {
    const [code, signal] = await this.exit
    return { code, signal, stdout: this.stdout, stderr: this.stderr }
  })

  /** Sends a signal and waits for the end. */
  readonly end = (signal: NodeJS.Signals = "SIGTERM"): Effect.Effect<Ended> =>
    Effect.zipRight(Effect.sync(() => this.child.kill(signal)), this.ended)
}

/** Starts a command that ends with the scope, whatever happens. */
const startCommand = (command: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync(() => new Running(command)),
    (running) => Effect.sync(() => running.child.kill("SIGKILL"))
  )

/**
 * Starts a program that ends with the scope, whatever happens. `under` is a command that runs its arguments as a program,
 * with fewer rights or less room.
 */
export const start = (name: string, args: ReadonlyArray<string>, under: ReadonlyArray<string> = []) =>
  startCommand([...under, process.execPath, program(name), ...args])

/** Runs a command to its end. */
export const runCommand = (...command: ReadonlyArray<string>): Effect.Effect<Ended> =>
  Effect.scoped(Effect.flatMap(startCommand(command), ({ ended }) => ended))

/** Runs a program to its end. */
export const run = (name: string, ...args: ReadonlyArray<string>): Effect.Effect<Ended> =>
  Effect.scoped(Effect.flatMap(start(name, args), ({ ended }) => ended))

/** A node on regtest, offline, with a data directory. */
export interface Node {
  readonly running: Running
  readonly port: number
  /** Sends a call; returns the result, or the error as a failure. */
  readonly call: (method: string, ...params: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>
  /** HTTP status of a path. */
  readonly status: (path: string) => Effect.Effect<number, unknown>
  /** Waits until the node has every block. */
  readonly ready: Effect.Effect<void, unknown>
  /** Waits until it answers about names, as it does long before with a window. */
  readonly namesReady: Effect.Effect<void, unknown>
}

const request = (url: string, init?: RequestInit) =>
  Effect.tryPromise(async () => {
    const response = await fetch(url, init)
    const text = await response.text()
    return { status: response.status, text }
  })

export const startNode = (directory: string, ...args: ReadonlyArray<string>) => startNodeUnder([], directory, ...args)

/** The same, run by another command. */
export const startNodeUnder = (under: ReadonlyArray<string>, directory: string, ...args: ReadonlyArray<string>) =>
  startNodeBy([...under, process.execPath, program("svcd")], directory, ...args)

/** The same by a command of svcd, for instance of an installed one. */
export const startNodeBy = (command: ReadonlyArray<string>, directory: string, ...args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const port = yield* freePort
    const flags = [
      "-network",
      "regtest",
      "-datadir",
      directory,
      "-rpcaddr",
      `127.0.0.1:${port}`,
      "-maxpeers",
      "0",
      "-rpcdoccheck"
    ]
    const running = yield* startCommand([...command, ...flags, ...args])
    const url = `http://127.0.0.1:${port}`
    const status = (path: string) => Effect.map(request(url + path), ({ status }) => status)
    const goodAt = (path: string) =>
      Effect.suspend(() =>
        running.child.exitCode === null
          ? Effect.filterOrFail(status(path), (code) => code === 200, () => "not ready")
          : Effect.dieMessage(`the node ended: ${running.stderr}`)
      ).pipe(Effect.retry(Schedule.spaced("20 millis")), Effect.asVoid)
    const node: Node = {
      running,
      port,
      status,
      call: (method, ...params) =>
        Effect.flatMap(
          request(url, { method: "POST", body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) }),
          ({ text }) => {
            const answer: { readonly result?: unknown; readonly error?: unknown } = JSON.parse(text)
            return answer.error === undefined ? Effect.succeed(answer.result) : Effect.fail(answer.error)
          }
        ),
      ready: goodAt("/ready"),
      namesReady: goodAt("/ready?names")
    }
    return node
  })

/** Waits until a method answers as wanted. After two minutes the test fails with the last answer. */
export const until = (node: Node, method: string, fits: (result: unknown) => boolean) =>
  Effect.suspend(() => {
    let last: unknown
    return node.call(method).pipe(
      Effect.tapBoth({
        onFailure: (error) => Effect.sync(() => last = error),
        onSuccess: (result) => Effect.sync(() => last = result)
      }),
      Effect.filterOrFail(fits, () => "not yet"),
      Effect.retry(Schedule.spaced("10 millis")),
      Effect.timeoutFail({
        duration: "2 minutes",
        onTimeout: () => `the last answer of ${method} was ${JSON.stringify(last) ?? "none"}`
      }),
      Effect.orDieWith((reason) => typeof reason === "string" ? new Error(reason) : reason)
    )
  })

/**
 * A data directory with the chain of `regtest-names`, as a node that has ended leaves it: a copy of one that is made once
 * a run.
 */
export const wholeDirectory = Effect.tap(temporaryDirectory, (directory) =>
  madeOnce({
    name: "data-regtest-names",
    make: (draft) =>
      Effect.scoped(Effect.gen(function*() {
        const node = yield* startNode(draft, "-loadblock", ownFixture("regtest-names/blocks.dat"))
        yield* node.ready
        yield* node.running.end()
      })),
    into: directory
  }))
