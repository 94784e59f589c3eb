import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Fiber } from "effect"
import { LIVE_KINDS, STREAM_KINDS } from "../../../src/names/events/kinds.ts"
import { run } from "../../../src/programs/cli/cli.ts"
import { readCliCommandLine } from "../../../src/programs/cli/flags.ts"
import { commandHelp } from "../../../src/programs/cli/help.ts"
import { changeLines, goOnLine } from "../../../src/programs/cli/watch.ts"
import { applyAll, text } from "../../names/blocks.ts"
import { eventually } from "../../support/eventually.ts"
import { MUTE } from "../../support/liveOutput.ts"
import { branch, LISTS, world } from "../../web/events/served.ts"

/** Runs `svcd-cli watch` against a server until `stop`. */
const watching = (port: number, ...args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const stopped = yield* Deferred.make<void>()
    let printed = ""
    const running = yield* Effect.forkScoped(run({
      argv: ["-network", "regtest", "-rpcaddr", `127.0.0.1:${port}`, "watch", ...args],
      env: {},
      readFile: () => Either.right(undefined),
      homedir: "/home/test",
      cwd: "/home/test/work",
      cores: 1,
      version: "1.2.3",
      screen: { terminal: false, columns: undefined, colours: false },
      progress: undefined,
      note: () => {},
      readStdin: Effect.die("standard input was read"),
      prompt: MUTE,
      output: {
        write: (more) => Effect.sync(() => void (printed += more)),
        stopped: Deferred.await(stopped)
      }
    }))
    return {
      lines: () => printed.split("\n").slice(0, -1),
      ended: Fiber.join(running),
      stop: Effect.zipRight(Deferred.succeed(stopped, undefined), Fiber.join(running))
    }
  })

describe("svcd-cli watch", () => {
  it.scopedLive("prints a line a change, and where to go on when it is interrupted", () =>
    world(LISTS, ({ blocks, branches, db, port }) =>
      Effect.scoped(Effect.gen(function*() {
        const first = yield* watching(port, "d/", "-from", "0")
        yield* eventually("the past", () => first.lines().length === 2)
        assert.deepStrictEqual(first.lines(), ["1  registered     d/a  1", "2  value changed  d/a  3"])
        const { code, stderr, stdout } = yield* first.stop
        assert.deepStrictEqual([code, stdout], [0, ""])
        const [, rest = "", cursor = ""] =
          /^svcd-cli: continue with: svcd-cli watch (.*) -from (\S+)\n$/.exec(stderr) ??
            []
        assert.strictEqual(rest, `d/ -network=regtest -rpcaddr=127.0.0.1:${port}`)
        const second = yield* watching(port, "-from", cursor, "-json")
        const next = branch("b", 2, [[{
          name: text("id/ü"),
          rand: Uint8Array.of(1),
          value: Uint8Array.of(0xff, 0x39)
        }]])
        branches.add(next, blocks[1])
        branches.tip = next[0]
        const [, fork] = blocks
        if (fork === undefined) return
        yield* db.follower.rewind(fork)
        yield* applyAll(db, [next])
        yield* eventually("the reorganization", () => second.lines().length === 2)
        const [undone, fresh] = second.lines().map((line) => JSON.parse(line))
        assert.deepInclude(undone, { type: "undone", height: 2 })
        assert.deepStrictEqual([fresh.type, fresh.height, fresh.name, fresh.name_hex], [
          "registered",
          2,
          "id/ü",
          "69642fc3bc"
        ])
        assert.deepInclude(fresh.record, { name: "id/ü", name_hex: "69642fc3bc", value: null, value_hex: "ff39" })
        assert.notProperty(fresh.record, "value_encoding")
        assert.strictEqual(undone.names[0].name_hex, "642f61")
        assert.deepInclude(undone.names[0].record, { value: "1", value_hex: "31" })
        assert.include((yield* second.stop).stderr, fresh.cursor)
      }))))

  it.scopedLive("says what is wrong with a cursor, a kind and a daemon", () =>
    world(LISTS, ({ pages, port }) =>
      Effect.scoped(Effect.gen(function*() {
        const failure = (...args: ReadonlyArray<string>) =>
          Effect.flatMap(watching(port, ...args), ({ ended }) => ended)
        assert.deepInclude(yield* failure("-from", "x"), {
          code: 1,
          stdout: "",
          stderr:
            "error: no events from cursor \"x\": it is not a cursor of svcd; read everything again from cursor 0\n"
        })
        assert.match((yield* failure("-types", "born")).stderr, /^error: types: "born" is not one of registered/)
        assert.match((yield* failure("d/", "id/")).stderr, /watch: takes one prefix/)
        yield* pages.install([])
        assert.match((yield* failure()).stderr, /^error: the daemon has no events/)
      }))))

  it("goes on with the same command line, without a password", () => {
    const line = readCliCommandLine([
      "-rpcuser=u",
      "-rpcpassword=secret",
      "-rpcaddr",
      "127.0.0.1:1",
      "watch",
      "d/it's",
      "-from",
      "0",
      "-types",
      "updated,block",
      "-json"
    ])
    assert.strictEqual(
      goOnLine(line, "a1"),
      String.raw`svcd-cli watch 'd/it'\''s' -rpcaddr=127.0.0.1:1 -types=updated,block -json -from a1`
    )
  })

  it("explains every kind in its help", () => {
    for (const kind of [...STREAM_KINDS, ...LIVE_KINDS]) assert.match(commandHelp("watch"), new RegExp(`\\b${kind}\\b`))
  })

  it("shows every kind, and nothing that could move the cursor", () => {
    const screen = { terminal: true, columns: 40, colours: true }
    const hex = (shown: string) => Buffer.from(shown).toString("hex")
    const lines = (event: Record<string, unknown>) => changeLines({ event }, screen)
    assert.deepStrictEqual(lines({ type: "position" }), [])
    assert.deepStrictEqual(
      lines({
        type: "undone",
        height: 7,
        names: [{ name: hex("d/a"), record: null }, { name: "ff", record: { value: hex("1") } }]
      }),
      ["\u001b[31m7  undone         d/a  (not registered)\u001b[0m\n", "\u001b[31m7  undone         0xff  1\u001b[0m\n"]
    )
    const [wild = ""] = lines({
      type: "updated",
      height: 7,
      name: hex("d/\u001b[2J"),
      record: { value: hex("x".repeat(99)) }
    })
    assert.strictEqual(wild, `7  value changed  d/\\u001b[2J  ${"x".repeat(8)}…\n`)
    const [expiring] = lines({ type: "expiring", height: 7, blocks: 144, name: hex("d/a"), record: { value: "" } })
    assert.include(expiring, "(144 blocks left)")
    const moved = { type: "transferred", height: 7, name: hex("d/a"), record: { value: hex("2"), address: "N2" } }
    assert.deepStrictEqual(lines(moved), ["7  transferred    d/a  (to N2) 2\n"])
    assert.deepStrictEqual(lines({ type: "pending", operation: "transferred", name: hex("d/a"), value: hex("1") }), [
      "mempool  pending        d/a  (transferr…\n"
    ])
    const waiting = { operation: "renewed", name: hex("d/a"), value: hex("1") }
    assert.deepStrictEqual(lines({ ...waiting, type: "pending" }), ["mempool  pending        d/a  (renewed) 1\n"])
    assert.deepStrictEqual(lines({ ...waiting, type: "pending_dropped", reason: "replaced" }), [
      "\u001b[90mmempool  pending_dropped  d/a  (replace…\u001b[0m\n"
    ])
    assert.deepStrictEqual(lines({ type: "block", height: 7, hash: "ab", time: 1 }), ["7  block          ab\n"])
    assert.deepStrictEqual(lines({ type: "synced", height: 7 }), ["7  synced\n"])
    assert.deepStrictEqual(lines({ type: "pending_reset" }), [])
  })
})
