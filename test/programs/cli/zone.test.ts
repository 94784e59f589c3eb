import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readCliCommandLine } from "../../../src/programs/cli/flags.ts"
import { zoneCommand } from "../../../src/programs/cli/zone.ts"
import { RpcFailure } from "../../../src/rpc/RpcClient.ts"
import { runWith } from "./commandRun.ts"
import { hex, recordingDaemon } from "./fakeDaemon.ts"

interface Scan {
  readonly start: string
  readonly count: number
}

const entry = (name: string, value: string, left = 100) => ({
  name: hex(name),
  value: hex(value),
  expires_in: left,
  expired: left <= 0
})

const isScan = (params: unknown): params is Scan => typeof params === "object" && params !== null && "start" in params

const nameIn = (params: unknown): string =>
  typeof params === "object" && params !== null && "name" in params ? String(params.name) : ""

/** A daemon with these names, in the order of `name_scan`. */
const daemonWith = (names: ReadonlyArray<ReturnType<typeof entry>>) => ({
  getblockchaininfo: { blocks: 700, headers: 700, initialblockdownload: false },
  name_show: (params: unknown) =>
    names.find(({ name }) => name === nameIn(params)) ?? new RpcFailure({ code: -4, message: "name never existed" }),
  name_scan: (params: unknown) => {
    const { count, start } = isScan(params) ? params : { count: 0, start: "" }
    const begin = Math.max(0, names.findIndex(({ name }) => name === start))
    return names.slice(begin, begin + count)
  }
})

/** What `svcd-cli zone` without a name writes. */
const whole = (names: ReadonlyArray<ReturnType<typeof entry>>, ...flags: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const daemon = recordingDaemon(daemonWith(names))
    const written: Array<string> = []
    const outcome = yield* zoneCommand({
      daemon,
      ttl: 600,
      line: readCliCommandLine(["zone", ...flags]),
      input: {
        output: { write: (text) => Effect.sync(() => void written.push(text)), stopped: Effect.never }
      }
    })
    return { outcome, written, calls: daemon.calls, lines: written.join("").split("\n").slice(0, -1) }
  })

describe("svcd-cli zone", () => {
  it.effect("prints the records of one name, with imported ones", () =>
    Effect.gen(function*() {
      const { run } = runWith(daemonWith([
        entry("d/wild", "{\"import\":\"dd/base\",\"map\":{\"*\":{\"ip\":\"192.0.2.20\"}}}"),
        entry("dd/base", "{\"txt\":\"hi\"}"),
        entry("d/empty", ""),
        entry("d/old", "{}", 0)
      ]))
      const { code, stderr, stdout } = yield* run("zone", "wild.bit")
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.strictEqual(stdout, "wild.bit.\t600\tIN\tTXT\t\"hi\"\n*.wild.bit.\t600\tIN\tA\t192.0.2.20\n")
      const [, wildcard = ""] = (yield* run("zone", "d/wild", "-json")).stdout.split("\n")
      assert.deepInclude(JSON.parse(wildcard), { name: "*.wild.bit.", type: "A", ttl: 600, address: "192.0.2.20" })
      assert.include((yield* run("zone", "wild.bit", "-ttl", "60")).stdout, "*.wild.bit.\t60\tIN\tA")
      assert.strictEqual((yield* run("zone", "wild.bit", "-ttl", "soon")).code, 2)
      assert.match((yield* run("zone", "d/empty")).stderr, /makes no DNS records/)
      for (const name of ["d/none", "d/old", "id/alice"]) assert.strictEqual((yield* run("zone", name)).code, 1, name)
    }))

  it.effect("prints the whole zone: SOA first, page by page, without expired names and names that are not domains", () =>
    Effect.gen(function*() {
      const domains = Array.from({ length: 1_100 }, (_, i) => entry(`d/n${i + 1_000}`, "{\"ip\":\"192.0.2.1\"}"))
      const names = [
        entry("d/a", "{\"import\":\"d/n1000\"}"),
        entry("d/b", "{\"ip\":\"192.0.2.2\"}", 0),
        entry("d/UP", "{\"ip\":\"192.0.2.3\"}"),
        ...domains
      ]
      const { calls, lines, outcome, written } = yield* whole(names)
      assert.deepStrictEqual(outcome, { code: 0, stdout: "", stderr: "" })
      assert.deepStrictEqual(lines.slice(0, 5), [
        "bit.\t86400\tIN\tSOA\tthis.x--nmc.bit. hostmaster.this.x--nmc.bit. 700 600 600 7200 60",
        "bit.\t86400\tIN\tNS\tthis.x--nmc.bit.",
        "this.x--nmc.bit.\t600\tIN\tA\t127.127.127.127",
        "aia.x--nmc.bit.\t600\tIN\tCNAME\tthis.x--nmc.bit.",
        "a.bit.\t600\tIN\tA\t192.0.2.1"
      ])
      assert.strictEqual(lines.length, 5 + domains.length)
      assert.strictEqual(new Set(lines).size, lines.length)
      assert.isAtLeast(calls.filter(({ method }) => method === "name_scan").length, 3)
      for (const text of written) assert.isBelow(text.length, 20_000)
    }))

  it.effect("takes the name servers of the zone", () =>
    Effect.gen(function*() {
      const { lines } = yield* whole([], "-ns", "NS1.example.org", "-ns", "ns2.example.org.")
      assert.deepStrictEqual(lines, [
        "bit.\t86400\tIN\tSOA\tns1.example.org. hostmaster.ns1.example.org. 700 600 600 7200 60",
        "bit.\t86400\tIN\tNS\tns1.example.org.",
        "bit.\t86400\tIN\tNS\tns2.example.org."
      ])
      const { message } = yield* Effect.flip(whole([], "-ns", "no host"))
      assert.match(message, /-ns: no host/)
    }))
})
