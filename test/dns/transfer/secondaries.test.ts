import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile, spawn, spawnSync } from "node:child_process"
import { createSocket } from "node:dgram"
import { writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { temporaryDirectory } from "../../support/chain.ts"
import { eventually } from "../../support/eventually.ts"
import { type Primary, SECRET, TSIG, withPrimary } from "./transferNode.ts"

/** Name servers of others, each where it is installed. */

const isInstalled = (program: string): boolean => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0

const run = (program: string, args: ReadonlyArray<string>): Effect.Effect<string> =>
  Effect.async((resume) => {
    const child = execFile(program, args, { timeout: 10_000 }, (_, stdout) => resume(Effect.succeed(stdout)))
    return Effect.sync(() => child.kill())
  })

const freePort: Effect.Effect<number> = Effect.async((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" ? address?.port ?? 0 : 0)))
  })
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

interface Server {
  readonly program: string
  readonly args: (directory: string) => ReadonlyArray<string>
  /** Files by name. */
  readonly files: (at: { readonly directory: string; readonly port: number; readonly primary: number }) => Readonly<
    Record<string, string>
  >
}

const secret = SECRET.toString("base64")

const SERVERS: ReadonlyArray<Server> = [
  {
    program: "nsd",
    args: (directory) => ["-d", "-c", join(directory, "nsd.conf")],
    files: ({ directory, port, primary }) => ({
      "nsd.conf": `server:
  ip-address: 127.0.0.1@${port}
  username: ""
  zonesdir: "${directory}"
  database: ""
  pidfile: "${directory}/nsd.pid"
  xfrdfile: "${directory}/xfrd.state"
  zonelistfile: "${directory}/zone.list"
  xfrdir: "${directory}"
  xfrd-reload-timeout: 0
  minimal-responses: yes
remote-control:
  control-enable: no
key:
  name: transfer.example
  algorithm: hmac-sha256
  secret: "${secret}"
zone:
  name: bit
  zonefile: bit.zone
  request-xfr: 127.0.0.1@${primary} transfer.example
  allow-notify: 127.0.0.1 transfer.example
`
    })
  },
  {
    program: "knotd",
    args: (directory) => ["-c", join(directory, "knot.conf")],
    files: ({ directory, port, primary }) => ({
      "knot.conf": `server:
  listen: 127.0.0.1@${port}
  rundir: ${directory}
database:
  storage: ${directory}
key:
  - id: transfer.example
    algorithm: hmac-sha256
    secret: ${secret}
remote:
  - id: svcd
    address: 127.0.0.1@${primary}
    key: transfer.example
acl:
  - id: notified
    address: 127.0.0.1
    key: transfer.example
    action: notify
template:
  - id: default
    storage: ${directory}
zone:
  - domain: bit
    master: svcd
    acl: notified
`
    })
  },
  {
    program: "named",
    args: (directory) => ["-g", "-c", join(directory, "named.conf")],
    files: ({ directory, port, primary }) => ({
      "named.conf": `options {
  directory "${directory}"; pid-file none; session-keyfile none; managed-keys-directory "${directory}";
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no; minimal-responses yes; allow-transfer { none; };
};
controls { };
key transfer.example { algorithm hmac-sha256; secret "${secret}"; };
server 127.0.0.1 { keys { transfer.example; }; };
zone bit { type secondary; primaries { 127.0.0.1 port ${primary} key transfer.example; }; allow-notify { key transfer.example; }; file "bit.db"; };
`
    })
  }
]

/** Starts a secondary that ends with the scope. */
const started = ({ args, files, program }: Server, at: { readonly port: number; readonly primary: number }) =>
  Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    for (const [name, content] of Object.entries(files({ directory, ...at }))) {
      writeFileSync(join(directory, name), content)
    }
    let said = ""
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        const child = spawn(program, args(directory), { stdio: ["ignore", "pipe", "pipe"] })
        for (const stream of [child.stdout, child.stderr]) {
          stream.on("data", (bytes: Buffer) => {
            said += bytes.toString()
          })
        }
        return child
      }),
      (child) =>
        Effect.async<void>((resume) => {
          if (child.exitCode !== null) return resume(Effect.void)
          child.once("exit", () => resume(Effect.void))
          child.kill("SIGKILL")
        })
    )
    return { said: () => said }
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

describe.each(SERVERS)("$program as a secondary", (server) => {
  it.live.skipIf(!isInstalled(server.program) || !isInstalled("dig"))(
    "serves what the primary serves, after notices and incremental transfers with a key",
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
})

describe("notices", () => {
  it.live("come for each serial, at most one in two seconds, the last one for many blocks", () =>
    Effect.scoped(Effect.gen(function*() {
      const socket = createSocket("udp4")
      const times: Array<number> = []
      socket.on("message", (bytes, { address, port }) => {
        times.push(performance.now())
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
          for (let i = 0; i < 20; i++) yield* block()
          yield* eventually(
            "the last serial is told",
            () => transfers.secondaries.all.some(({ by, serial }) => by === "notify" && serial === serials.serial())
          )
          assert.isAtMost(times.length, 3)
          const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0))
          assert.isTrue(gaps.every((gap) => gap > 1_900), gaps.join())
        }))
    })).pipe(Effect.orDie))
})
