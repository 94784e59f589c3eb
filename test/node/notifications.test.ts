import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, LogLevel, Stream } from "effect"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { ChainEvent } from "../../src/chain/ChainEvent.ts"
import { CursorUnusable } from "../../src/names/errors.ts"
import {
  notifyOfNames,
  notifyOfNode,
  notifyOfShutdown,
  notifyOfWallets,
  runCommand,
  walletCommand
} from "../../src/node/notifications.ts"
import { toHex } from "../../src/protocol/bytes.ts"
import { applyAll, text, withNewDb } from "../names/blocks.ts"
import { Branches } from "../names/events/world.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { eventually } from "../support/eventually.ts"
import { branch, rand } from "../web/events/served.ts"

const NONE = {
  blocknotify: undefined,
  walletnotify: undefined,
  namenotify: undefined,
  alertnotify: undefined,
  startupnotify: undefined,
  shutdownnotify: []
}

const textOf = (file: string): string => existsSync(file) ? readFileSync(file, "utf8") : ""

const connected = (last: number, imported = false): ChainEvent => {
  const hash = new Uint8Array(32)
  hash[31] = last
  return ChainEvent.BlockConnected({ block: { hash, height: last }, transactions: 1, imported })
}

/** The text of a hash whose last byte is this one. */
const shown = (last: number): string => last.toString(16).padStart(2, "0").padEnd(64, "0")

describe("runCommand", () => {
  it.live("reports the status of a shell command", () =>
    Effect.gen(function*() {
      const limit = { milliseconds: 20_000 }
      assert.deepStrictEqual(yield* runCommand("true && exit 3", limit), { _tag: "Ended", status: 3 })
      assert.deepStrictEqual(yield* runCommand("true", limit), { _tag: "Ended", status: 0 })
    }))

  it.live("kills a command and its children after its time", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* runCommand("sleep 60; sleep 60", { milliseconds: 100 }), { _tag: "TimedOut" })
    }))

  it.live("keeps the settings of svcd out of the environment", () =>
    Effect.gen(function*() {
      const end = yield* Effect.acquireUseRelease(
        Effect.sync(() => void (process.env["SVCD_RPC_PASSWORD"] = "geheim")),
        () => runCommand("test -z \"$SVCD_RPC_PASSWORD\" -a -n \"$PATH\"", { milliseconds: 20_000 }),
        () => Effect.sync(() => void delete process.env["SVCD_RPC_PASSWORD"])
      )
      assert.deepStrictEqual(end, { _tag: "Ended", status: 0 })
    }))
})

describe("the command of a wallet's transaction", () => {
  const txid = new Uint8Array(32).fill(1, 31)
  const hash = new Uint8Array(32).fill(2, 31)

  it("has the transaction, its block, and the quoted name of the wallet", () => {
    const command = "echo %s %b %h > %w"
    assert.strictEqual(
      walletCommand(command, { wallet: "it's %s", txid, block: { height: 7, hash } }),
      `echo ${shown(1)} ${shown(2)} 7 > 'it'"'"'s %s'`
    )
    assert.strictEqual(
      walletCommand(command, { wallet: "", txid, block: undefined }),
      `echo ${shown(1)} unconfirmed -1 > ''`
    )
  })

  it.scopedLive("runs for each change", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const file = join(directory, "transactions")
      const changes = Stream.concat(
        Stream.fromIterable([
          { wallet: "a b", txid, block: undefined },
          { wallet: "a b", txid, block: { height: 3, hash } }
        ]),
        Stream.never
      )
      yield* notifyOfWallets({ ...NONE, walletnotify: `echo %w %s %h >> ${file}` }, changes)
      yield* eventually("two commands ran", () => textOf(file).split("\n").length === 3)
      assert.strictEqual(textOf(file), `a b ${shown(1)} -1\na b ${shown(1)} 3\n`)
    }))
})

describe("notifications", () => {
  it.scopedLive("of blocks run in order, one at a time, and not for the initial download", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const [file, lock] = [join(directory, "blocks"), join(directory, "lock")]
      let asked = 0
      // Two commands at one time would meet at the lock.
      const blocknotify = `mkdir ${lock} && sleep 0.02 && echo %s >> ${file}; rmdir ${lock}`
      yield* notifyOfNode({ ...NONE, blocknotify }, {
        events: Stream.concat(
          Stream.fromIterable([connected(1), connected(2), connected(3, true), connected(4), connected(5)]),
          Stream.never
        ),
        syncing: Effect.sync(() => asked++ === 0),
        warnings: Stream.never
      })
      yield* eventually("three commands ran", () => textOf(file).split("\n").length === 4)
      assert.strictEqual(textOf(file), [2, 4, 5].map((last) => `${shown(last)}\n`).join(""))
    }))

  it.scopedLive("of warnings have the quoted text, on one line", () =>
    Effect.gen(function*() {
      const file = join(yield* temporaryDirectory, "warnings")
      yield* notifyOfNode({ ...NONE, alertnotify: `echo %s >> ${file}` }, {
        events: Stream.never,
        syncing: Effect.succeed(true),
        warnings: Stream.concat(Stream.fromIterable(["names.db: it's $& `lost`; $(id)", "two\nlines"]), Stream.never)
      })
      yield* eventually("two commands ran", () => textOf(file).split("\n").length === 3)
      assert.strictEqual(textOf(file), "names.db: it's $& `lost`; $(id)\ntwo\\u000alines\n")
    }))

  it.scopedLive("tell a service manager that the node is ready, if it has a socket for that", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const told = join(directory, "told")
      const logged: Array<string> = []
      const logger = Logger.make(({ message }) => void logged.push(JSON.stringify(message)))
      const hasRun = () => textOf(told).endsWith("\n")
      const startWith = (variables: Readonly<Record<string, string>>, ended: () => boolean, startupnotify?: string) =>
        Effect.gen(function*() {
          const before = Object.keys(variables).map((name) => [name, process.env[name]] as const)
          Object.assign(process.env, variables)
          yield* Effect.addFinalizer(() =>
            Effect.sync(() => {
              for (const [name, value] of before) {
                if (value === undefined) delete process.env[name]
                else process.env[name] = value
              }
            })
          )
          yield* notifyOfNode({ ...NONE, startupnotify }, {
            events: Stream.never,
            syncing: Effect.succeed(false),
            warnings: Stream.never
          })
          yield* eventually("the start was told", ended)
        }).pipe(
          Effect.scoped,
          Effect.provide([Logger.replace(Logger.defaultLogger, logger), Logger.minimumLogLevel(LogLevel.Debug)])
        )
      const program = join(directory, "systemd-notify")
      writeFileSync(program, `#!/bin/sh\necho "$NOTIFY_SOCKET" "$@" "\${SVCD_RPC_PASSWORD-none}" >> ${told}\n`, {
        mode: 0o755
      })
      const path = { PATH: `${directory}:${process.env["PATH"]}` }
      yield* startWith({ ...path, NOTIFY_SOCKET: "/run/some", SVCD_RPC_PASSWORD: "geheim" }, hasRun)
      assert.strictEqual(textOf(told), "/run/some --ready none\n")
      rmSync(told)
      // Without a socket only the command of the operator runs.
      yield* startWith({ ...path, NOTIFY_SOCKET: "" }, hasRun, `echo command >> ${told}`)
      assert.strictEqual(textOf(told), "command\n")
      // A missing program is not a failure.
      rmSync(program)
      yield* startWith(
        { PATH: directory, NOTIFY_SOCKET: "/run/none" },
        () => logged.some((line) => /not told.*NotStarted/.test(line))
      )
    }))

  it.scopedLive("of the start and of the end run", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const [started, one, two] = ["started", "one", "two"].map((name) => join(directory, name))
      yield* notifyOfNode({ ...NONE, startupnotify: `echo > ${started}` }, {
        events: Stream.never,
        syncing: Effect.succeed(false),
        warnings: Stream.never
      })
      yield* eventually("the command ran", () => existsSync(started ?? ""))
      yield* notifyOfShutdown({ ...NONE, shutdownnotify: [`echo > ${one}; exit 1`, `echo > ${two}`] })
      assert.isTrue(existsSync(one ?? "") && existsSync(two ?? ""))
    }))
})

describe("the commands of names", () => {
  const evil = text("d/a'; $(false) `id` %s \n")

  it.scopedLive("run one at a time for each change in a block that is not of a download, with the name in hex", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const [file, lock] = [join(directory, "names"), join(directory, "lock")]
        const branches = new Branches()
        const blocks = branch("a", 0, [
          [],
          [{ name: text("d/before"), rand }],
          [{ name: text("d/downloaded"), rand }],
          [{ name: evil, rand }, { name: text("d/b"), rand }],
          [{ name: evil, value: text("new") }]
        ])
        branches.add(blocks)
        const reach = (from: number, to: number) => {
          branches.tip = blocks[to - 1]
          return applyAll(db, [blocks.slice(from, to)])
        }
        yield* reach(0, 2)
        let [syncing, asked] = [true, 0]
        // Two commands at one time would meet at the lock.
        const namenotify = `mkdir ${lock} && sleep 0.02 && echo %s >> ${file}; rmdir ${lock}`
        yield* notifyOfNames({ ...NONE, namenotify }, {
          log: branches.events(db),
          syncing: Effect.sync(() => {
            asked++
            return syncing
          })
        })
        yield* eventually("the first look", () => asked === 1)
        yield* reach(2, 3)
        yield* eventually("the look behind the downloaded block", () => asked === 2)
        syncing = false
        yield* reach(3, 4)
        const lines = () => textOf(file).split("\n").slice(0, -1)
        yield* eventually("the commands of a block", () => lines().length === 2)
        yield* reach(4, 5)
        yield* eventually("the command of the next block", () => lines().length === 3)
        const other = branch("b", 4, [[], []])
        branches.add(other, blocks[3])
        branches.tip = other[1]
        if (blocks[3] === undefined) return assert.fail()
        yield* db.follower.rewind(blocks[3])
        yield* applyAll(db, [other])
        yield* eventually("the command of the block that left", () => lines().length === 4)
        const shownName = toHex(evil)
        assert.deepStrictEqual(lines(), [shownName, toHex(text("d/b")), shownName, shownName])
      })
    ))

  it.scopedLive("go on from the next block when events cannot be read", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const file = join(yield* temporaryDirectory, "names")
        const branches = new Branches()
        const blocks = branch("a", 0, [[], [{ name: text("d/a"), rand }], [{ name: text("d/b"), rand }]])
        branches.add(blocks)
        branches.tip = blocks[0]
        yield* applyAll(db, [blocks.slice(0, 1)])
        const log = branches.events(db)
        let pages = 0
        yield* notifyOfNames({ ...NONE, namenotify: `echo %s >> ${file}` }, {
          log: {
            ...log,
            page: (from, options) =>
              pages++ === 0
                ? new CursorUnusable({ cursor: "x", why: "pruned", oldest: "0" })
                : log.page(from, options)
          },
          syncing: Effect.succeed(false)
        })
        yield* eventually("the failure", () => pages === 1)
        branches.tip = blocks[1]
        yield* applyAll(db, [blocks.slice(1, 2)])
        yield* eventually("the next look", () => pages === 2)
        branches.tip = blocks[2]
        yield* applyAll(db, [blocks.slice(2)])
        yield* eventually("the command", () => textOf(file) === `${toHex(text("d/b"))}\n`)
      })
    ))
})
