import { assert, describe, it } from "@effect/vitest"
import { Data, Effect, FastCheck, Redacted, TestClock } from "effect"
import { PassThrough } from "node:stream"
import * as Logging from "../../src/node/logging.ts"
import { TsProcess } from "../support/tsProcess.ts"

/** The lines that a program logs. */
const logged = (program: Effect.Effect<unknown>, options: Partial<Logging.LogOptions> & { colours?: boolean } = {}) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const { colours = false, ...rest } = options
    const layer = Logging.layerWith(
      { format: "json", level: "info", debugSubsystems: [], ...rest },
      { colours, writeLine: (line) => void lines.push(line) }
    )
    yield* Effect.provide(program, layer)
    return lines
  })

const entries = (program: Effect.Effect<unknown>, options?: Parameters<typeof logged>[1]) =>
  Effect.map(logged(program, options), (lines) => lines.map((line): Record<string, unknown> => JSON.parse(line)))

const ofEveryLevel = Effect.all([
  Effect.logTrace("trace"),
  Effect.logDebug("debug"),
  Effect.logInfo("info"),
  Effect.logWarning("warn"),
  Effect.logError("error"),
  Effect.logFatal("fatal")
])

class Refused extends Data.TaggedError("Refused")<{ readonly what: string }> {
  override get message(): string {
    return `refused ${this.what}`
  }
}

describe("levels", () => {
  it.effect.each(
    [
      { level: "debug", seen: ["debug", "info", "warn", "error", "fatal"] },
      { level: "info", seen: ["info", "warn", "error", "fatal"] },
      { level: "warn", seen: ["warn", "error", "fatal"] },
      { level: "error", seen: ["error", "fatal"] }
    ] as const
  )("$level shows the entries of its level and above (spec 1.9)", ({ level, seen }) =>
    Effect.gen(function*() {
      const messages = (yield* entries(ofEveryLevel, { level })).map(({ msg }) => msg)
      assert.deepStrictEqual(messages, [...seen])
    }))

  it.effect("are written as the four words of the specification", () =>
    Effect.gen(function*() {
      const levels = (yield* entries(ofEveryLevel, { level: "debug" })).map(({ level }) => level)
      assert.deepStrictEqual(levels, ["debug", "info", "warn", "error", "error"])
    }))

  const inSubsystem = (subsystem: string) => Effect.annotateLogs(ofEveryLevel, "subsystem", subsystem)

  it.effect("do not suppress a debugged subsystem, but all others (spec 1, flags)", () =>
    Effect.gen(function*() {
      const program = Effect.all([inSubsystem("rpc"), inSubsystem("network"), ofEveryLevel])
      const seen = yield* entries(program, { level: "error", debugSubsystems: ["rpc"] })
      const of = (subsystem: string | undefined) =>
        seen.filter((entry) => entry["subsystem"] === subsystem).map(({ msg }) => msg)
      assert.deepStrictEqual(of("rpc"), ["debug", "info", "warn", "error", "fatal"])
      assert.deepStrictEqual(of("network"), ["error", "fatal"])
      assert.deepStrictEqual(of(undefined), ["error", "fatal"])
    }))

  it.effect("change while the node runs, if there are switches", () =>
    Effect.gen(function*() {
      const switches = new Logging.DebugSwitches({ level: "info", debugSubsystems: ["network"] })
      const set = (name: string, on: boolean) => Effect.sync(() => switches.set(name, on))
      const program = Effect.all([
        inSubsystem("rpc"),
        set("rpc", true),
        set("network", false),
        inSubsystem("rpc"),
        inSubsystem("network"),
        set("nonsense", true),
        ofEveryLevel
      ])
      const debug = (yield* entries(program, { switches })).filter(({ level }) => level === "debug")
      assert.deepStrictEqual(debug.map(({ subsystem }) => subsystem), ["rpc"])
      assert.isFalse(switches.all.get("network"))
      assert.notInclude([...switches.all.keys()], "nonsense")
    }))

  it.effect("of debug include every subsystem, until one is switched off", () =>
    Effect.gen(function*() {
      const switches = new Logging.DebugSwitches({ level: "debug", debugSubsystems: [] })
      assert.isTrue([...switches.all.values()].every((on) => on))
      const off = Effect.sync(() => switches.set("rpc", false))
      const program = Effect.all([inSubsystem("rpc"), off, inSubsystem("rpc"), inSubsystem("network"), ofEveryLevel])
      const seen = yield* entries(program, { level: "debug", switches })
      assert.deepStrictEqual(seen.filter(({ msg }) => msg === "debug").map(({ subsystem }) => subsystem), [
        "rpc",
        "network",
        undefined
      ])
      assert.lengthOf(seen.filter(({ msg }) => msg === "info"), 4)
    }))

  it.effect("suppress every subsystem that no list contains", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* entries(inSubsystem("rpc"), { level: "info" })).length, 4)
    }))
})

describe("json", () => {
  it.effect("has time, level, msg, then the facts", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_700_000_000_000)
      const program = Effect.logInfo("new block", { height: 5, hash: "00ab" }).pipe(
        Effect.annotateLogs("subsystem", "chain")
      )
      assert.deepStrictEqual(yield* logged(program), [
        "{\"time\":\"2023-11-14T22:13:20.000Z\",\"level\":\"info\",\"msg\":\"new block\",\"subsystem\":\"chain\"," +
        "\"height\":5,\"hash\":\"00ab\"}"
      ])
    }))

  it.effect("keeps facts from taking the place of time, level and msg", () =>
    Effect.gen(function*() {
      const [entry] = yield* entries(Effect.logInfo("x", { level: "error", msg: "forged", time: 0 }))
      assert.deepInclude(entry, { level: "info", msg: "x", level_: "error", msg_: "forged", time_: 0 })
    }))

  it.effect("holds values of any kind", () =>
    Effect.gen(function*() {
      const circle: Record<string, unknown> = {}
      circle["self"] = circle
      const [entry] = yield* entries(Effect.logInfo("values", {
        work: 2n ** 70n,
        bytes: Uint8Array.of(1, 0xab),
        large: new Uint8Array(2_000),
        absent: undefined,
        nothing: null,
        infinite: Infinity,
        when: new Date(0),
        error: new Refused({ what: "it" }),
        list: [1, [2]],
        nested: { a: { b: 1 } },
        circle,
        call: () => 1
      }))
      assert.deepInclude(entry, {
        work: "1180591620717411303424",
        bytes: "01ab",
        large: `${"00".repeat(1_024)}… (2000 bytes)`,
        nothing: null,
        infinite: "Infinity",
        when: "1970-01-01T00:00:00.000Z",
        error: "refused it",
        list: [1, [2]],
        nested: { a: { b: 1 } },
        call: "a function"
      })
      assert.notProperty(entry, "absent")
      assert.include(JSON.stringify(entry?.["circle"]), "…")
    }))

  it.effect("hides secrets and cuts long values", () =>
    Effect.gen(function*() {
      const password = Redacted.make("top-secret")
      const [line = ""] = yield* logged(
        Effect.logInfo("x", { password, nested: [{ password }], agent: "a".repeat(5_000) })
      )
      assert.notInclude(line, "top-secret")
      assert.include(line, "<redacted>")
      assert.include(line, `${"a".repeat(4_096)}… (904 more)`)
      assert.notInclude(line, "a".repeat(4_097))
    }))

  it.effect("shows the cause of a defect, on its line", () =>
    Effect.gen(function*() {
      const failing = Effect.catchAllCause(
        Effect.dieMessage("undo record does not match"),
        (cause) => Effect.logError("stopped", cause)
      )
      const [entry] = yield* entries(failing)
      assert.deepInclude(entry, { level: "error", msg: "stopped" })
      assert.include(String(entry?.["cause"]), "undo record does not match")
    }))

  it.effect("shows a cause without a message as the message", () =>
    Effect.gen(function*() {
      const [entry] = yield* entries(
        Effect.catchAllCause(new Refused({ what: "it" }), (cause) => Effect.logError(cause))
      )
      assert.include(String(entry?.["msg"]), "refused it")
    }))

  it.effect("shows how long a span took", () =>
    Effect.gen(function*() {
      const program = Effect.withLogSpan(Effect.zipRight(TestClock.adjust("250 millis"), Effect.logInfo("x")), "import")
      assert.strictEqual((yield* entries(program))[0]?.["import_ms"], 250)
    }))
})

describe("text", () => {
  it.effect("has time, level, subsystem, message and facts", () =>
    Effect.gen(function*() {
      // The test clock belongs to all tests of a worker; another may have moved it.
      yield* TestClock.setTime(0)
      const program = Effect.annotateLogs(
        Effect.logInfo("peer connected", { address: "[::1]:8334", agent: "a b", inbound: false, list: [1] }),
        "subsystem",
        "network"
      )
      assert.deepStrictEqual(yield* logged(program, { format: "text" }), [
        "1970-01-01T00:00:00.000Z info  [network] peer connected address=[::1]:8334 agent=\"a b\" inbound=false list=[1]"
      ])
    }))

  it.effect("has colours only for a terminal", () =>
    Effect.gen(function*() {
      // The test clock belongs to all tests of a worker; another may have moved it.
      yield* TestClock.setTime(0)
      const [coloured] = yield* logged(Effect.logWarning("x"), { format: "text", colours: true })
      assert.strictEqual(coloured, "1970-01-01T00:00:00.000Z \u001b[33mwarn \u001b[0m x")
      const [plain] = yield* logged(Effect.logWarning("x"), { format: "text" })
      assert.strictEqual(plain, "1970-01-01T00:00:00.000Z warn  x")
    }))
})

describe("a line", () => {
  const forgery = "/x/\n{\"level\":\"error\",\"msg\":\"forged\"}\r\u001b[31m\u2028\u202e\u009b"

  for (const format of ["text", "json"] as const) {
    it.effect(`of ${format} cannot be broken or forged by a peer's user agent`, () =>
      Effect.gen(function*() {
        const program = Effect.logInfo(forgery, { agent: forgery, [forgery]: { deep: [forgery] } }).pipe(
          Effect.annotateLogs("subsystem", forgery)
        )
        const [line = ""] = yield* logged(program, { format })
        assert.isFalse(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(line), line)
      }))

    it.effect.prop(`of ${format} is one line for any entry`, {
      msg: FastCheck.fullUnicodeString(),
      facts: FastCheck.dictionary(FastCheck.fullUnicodeString(), FastCheck.anything())
    }, ({ facts, msg }) =>
      Effect.gen(function*() {
        const [line = ""] = yield* logged(Effect.logInfo(msg, facts), { format })
        assert.isFalse(/[\p{Cc}\p{Zl}\p{Zp}]/u.test(line), line)
        if (format === "json") assert.strictEqual(JSON.parse(line).level, "info")
      }))
  }
})

describe("streamOutput", () => {
  const terminal = (isTTY: boolean) => Object.assign(new PassThrough(), { isTTY })
  // A stream with the one property of a terminal that is asked for.
  const coloursOf = (isTTY: boolean, env: Record<string, string>) => Logging.streamOutput(terminal(isTTY), env).colours

  it("has colours on a terminal, but not with NO_COLOR or on a dumb terminal", () => {
    assert.isTrue(coloursOf(true, {}))
    assert.isTrue(coloursOf(true, { NO_COLOR: "" }))
    assert.isFalse(coloursOf(true, { NO_COLOR: "1" }))
    assert.isFalse(coloursOf(true, { TERM: "dumb" }))
    assert.isFalse(coloursOf(false, {}))
  })

  it("writes lines, and survives a stream that fails", () => {
    const stream = terminal(false)
    const output = Logging.streamOutput(stream, {})
    output.writeLine("a")
    assert.strictEqual(String(stream.read()), "a\n")
    stream.destroy(new Error("EPIPE"))
    output.writeLine("b")
  })

  it.live("keeps the process running after the reader of its output has closed it (spec 1.9)", () =>
    Effect.promise(async () => {
      const program = new TsProcess(new URL("talk.ts", import.meta.url), [])
      await program.says("still here")
      program.child.stdout.destroy()
      program.child.stderr.destroy()
      program.child.stdin.write("stop\n")
      assert.strictEqual(await program.ended, 7)
    }))
})
