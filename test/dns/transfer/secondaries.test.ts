import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { createSocket } from "node:dgram"
import { eventually } from "../../support/eventually.ts"
import { freePort, isInstalled, SERVERS, started } from "./secondaryServers.ts"
import { type Primary, SECRET, TSIG, withPrimary } from "./transferNode.ts"

/** Name servers of others, each where it is installed. */

const run = (program: string, args: ReadonlyArray<string>): Effect.Effect<string> =>
  Effect.async((resume) => {
    const child = execFile(program, args, { timeout: 10_000 }, (_, stdout) => resume(Effect.succeed(stdout)))
    return Effect.sync(() => child.kill())
  })

const dig = (port: number, ...args: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(
    run("dig", ["+norec", "+noall", "+answer", "+comments", "+tries=1", "@127.0.0.1", "-p", `${port}`, ...args]),
    (out) => out.split("\n").map((line) => line.replaceAll(/\s+/g, " ")).filter((line) => line !== "")
  )

/** The records of an answer without SOA, in order of the text. */
const recordsIn = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.filter((line) => !line.startsWith(";") && !/ (?:SOA|TSIG) /.test(line)).toSorted()

const KEY = ["-y", `hmac-sha256:transfer.example:${SECRET.toString("base64")}`]
const WRONG_KEY = ["-y", `hmac-sha256:transfer.example:${Buffer.alloc(32, 8).toString("base64")}`]

const VALUES = {
  "d/one": { ip: "192.0.2.1", map: { "*": { ip6: "2001:db8::1" }, www: { alias: "" } } },
  "d/cut": { ns: ["ns1.@"], ds: [[12345, 13, 2, Buffer.alloc(32, 5).toString("base64")]], map: { ns1: "192.0.2.3" } },
  "d/imports": { import: "dd/x" },
  "dd/x": { txt: ["imported", "x".repeat(300)], map: { old: { translate: "one.bit." } } }
}

describe.skipIf(!isInstalled("dig"))("dig", () => {
  it.live("transfers the zone by address or key, over TCP alone, and sees why it may not", () =>
    withPrimary({ transfer: [{ key: TSIG.name }] }, ({ block, port, world }) =>
      Effect.gen(function*() {
        yield* block(VALUES)
        const refused = yield* dig(port, "bit", "AXFR")
        assert.deepStrictEqual(recordsIn(refused), [])
        const zone = recordsIn(yield* dig(port, "bit", "AXFR", ...KEY))
        assert.include(zone, "*.one.bit. 600 IN AAAA 2001:db8::1")
        assert.include(zone, "old.imports.bit. 600 IN DNAME one.bit.")
        assert.lengthOf(zone, 10)
        assert.include((yield* dig(port, "bit", "SOA", ...KEY)).join(), "status: NOERROR")
        for (const key of [WRONG_KEY, ["-y", `hmac-sha256:other:${SECRET.toString("base64")}`]]) {
          assert.include((yield* dig(port, "bit", "SOA", ...key)).join(), "status: NOTAUTH")
        }
        assert.include((yield* dig(port, "bit", "IXFR=1", ...KEY, "+notcp")).join(), "status: REFUSED")
        assert.deepStrictEqual(recordsIn(yield* dig(port, "example.bit", "AXFR", ...KEY)), [])
        world.complete = false
        assert.deepStrictEqual(recordsIn(yield* dig(port, "bit", "AXFR", ...KEY)), [])
      })).pipe(Effect.orDie))
})

const serialAt = (port: number): Effect.Effect<number> =>
  Effect.map(dig(port, "bit", "SOA"), (lines) => Number(/ SOA \S+ \S+ (\d+) /.exec(lines.join("\n"))?.[1] ?? -1))

const zoneAt = (port: number): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(dig(port, "bit", "AXFR", ...KEY), recordsIn)

const QUESTIONS = [
  ["one.bit", "A"],
  ["www.one.bit", "A"],
  ["any.one.bit", "AAAA"],
  ["cut.bit", "NS"],
  ["imports.bit", "TXT"],
  ["x.old.imports.bit", "A"],
  ["none.bit", "A"],
  ["later.bit", "A"]
] as const

/** Sections of an answer as both servers must give them. The header is another in its flags. */
const answerAt = (port: number, name: string, type: string) =>
  Effect.map(
    run("dig", ["+norec", "+noall", "+answer", "+authority", "@127.0.0.1", "-p", `${port}`, name, type]),
    (out) => out.split("\n").map((line) => line.replaceAll(/\s+/g, " ")).filter((line) => line !== "").toSorted()
  )

const follows = (primary: Primary, port: number, said: () => string) =>
  Effect.gen(function*() {
    const same = eventually(
      "the secondary has the serial",
      Effect.map(serialAt(port), (serial) => serial === primary.serials.serial())
    ).pipe(Effect.catchAllDefect((defect) => Effect.die(new Error(`${String(defect)}\n${said().slice(-3_000)}`))))
    const equal = Effect.gen(function*() {
      yield* same
      for (const [name, type] of QUESTIONS) {
        assert.deepStrictEqual(
          yield* answerAt(port, name, type),
          yield* answerAt(primary.port, name, type),
          `${name} ${type}`
        )
      }
    })
    yield* equal
    yield* primary.block({ "dd/x": { txt: "changed" }, "d/later": { ip: "192.0.2.77" } })
    yield* equal
    yield* primary.block()
    yield* equal
    yield* primary.undo(2)
    yield* primary.block({ "d/one": { ip: "192.0.2.99" } })
    yield* equal
    const kinds = primary.transfers.secondaries.all
    assert.isNotEmpty(kinds)
    assert.isNotEmpty(yield* zoneAt(primary.port))
  })

// At once: each waits for notices, of which two are at least two seconds apart.
describe.concurrent("as a secondary", () => {
  for (const server of SERVERS) {
    it.live.skipIf(!isInstalled(server.program) || !isInstalled("dig"))(
      `${server.program} serves what the primary serves, after notices and incremental transfers with a key`,
      () =>
        Effect.scoped(Effect.gen(function*() {
          const port = yield* freePort
          const target = { address: { host: "127.0.0.1", port }, key: TSIG.name }
          yield* withPrimary({ notify: [target], transfer: [{ key: TSIG.name }] }, (primary) =>
            Effect.scoped(Effect.gen(function*() {
              yield* primary.block(VALUES)
              const { said } = yield* started(server, { port, primary: primary.port })
              yield* follows(primary, port, said)
            })))
        })).pipe(Effect.orDie),
      { timeout: 120_000 }
    )
  }
})

describe("notices", () => {
  it.live("come for each serial, at most one in two seconds, the last one for many blocks", () =>
    Effect.scoped(Effect.gen(function*() {
      const socket = createSocket("udp4")
      let notices = 0
      socket.on("message", (bytes, { address, port }) => {
        notices++
        bytes[2] = (bytes[2] ?? 0) | 0x80
        socket.send(bytes, port, address)
      })
      yield* Effect.acquireRelease(
        Effect.async<void>((resume) => void socket.bind(0, "127.0.0.1", () => resume(Effect.void))),
        () => Effect.sync(() => socket.close())
      )
      const target = { address: { host: "127.0.0.1", port: socket.address().port }, key: undefined }
      yield* withPrimary({ notify: [target] }, ({ block, serials, transfers }) =>
        Effect.gen(function*() {
          const from = performance.now()
          for (let i = 0; i < 20; i++) yield* block()
          yield* eventually(
            "the last serial is told",
            () => transfers.secondaries.all.some(({ by, serial }) => by === "notify" && serial === serials.serial())
          )
          // On a busy machine, a notice may come late, and so nearer to the next one.
          assert.isAtMost(notices, 2 + Math.floor((performance.now() - from) / 2_000))
        }))
    })).pipe(Effect.orDie))
})
