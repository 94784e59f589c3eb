import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { runWith } from "./commandRun.ts"
import { hex } from "./fakeDaemon.ts"

const source = (name: string, value: string, height: number) => ({
  name,
  name_encoding: "utf8",
  value: hex(value),
  value_encoding: "hex",
  txid: "ab".repeat(32),
  vout: 0,
  address: "N1",
  height,
  expires_in: 100,
  expired: false
})

const answer = (more: object) => ({
  host: "imports.bit.",
  type: "A",
  status: "records",
  records: [],
  cut: false,
  sources: [
    source("d/imports", "{\"import\":\"dd/base\"}", 812_345),
    source("dd/base", "{\"ip\":\"192.0.2.30\"}", 812_300)
  ],
  height: 812_400,
  synced: true,
  proof: "full",
  ...more
})

const A = { name: "imports.bit.", type: "A", ttl: 600, data: "192.0.2.30", address: "192.0.2.30" }
const ALIAS = { name: "imports.bit.", type: "CNAME", ttl: 600, data: "a.example.com.", target: "a.example.com." }
const NS = { name: "imports.bit.", type: "NS", ttl: 600, data: "ns.example.com.", target: "ns.example.com." }

describe("svcd-cli dig", () => {
  it.effect("prints records as dig does, then the names that they are from", () =>
    Effect.gen(function*() {
      const { run, sent } = runWith({ name_resolve: answer({ records: [A] }) })
      const { code, stderr, stdout } = yield* run("dig", "Imports.bit")
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.strictEqual(
        stdout,
        "imports.bit.\t600\tIN\tA\t192.0.2.30\n\nFrom d/imports, block 812,345\nand dd/base, block 812,300\n"
      )
      const options = { nameEncoding: "utf8", valueEncoding: "hex" }
      assert.deepStrictEqual(sent("name_resolve"), [{ host: "imports.bit", type: "A", options }])
    }))

  it.effect.each(
    [
      ["no-data", "MX", [], "imports.bit exists, but has no MX records.", 1],
      ["no-name", "A", [], "imports.bit does not exist: the value of d/imports has no such host.", 1],
      ["delegated", "A", [NS], "imports.bit is delegated: ask the name servers above for its A records.", 0],
      ["alias-outside", "A", [ALIAS], "a.example.com is outside .bit: ask your resolver for its A records.", 0]
    ] as const
  )("says in words what %s means", ([status, type, records, words, code]) =>
    Effect.gen(function*() {
      const done = yield* runWith({ name_resolve: answer({ status, type, records }) }).run("dig", "imports.bit", type)
      assert.strictEqual(done.code, code)
      assert.include(done.stdout.split("\n"), words)
    }))

  it.effect("says that a name is not registered, and what values say in vain", () =>
    Effect.gen(function*() {
      const free = yield* runWith({ name_resolve: answer({ status: "no-name", sources: [] }) }).run(
        "dig",
        "imports.bit"
      )
      assert.strictEqual(free.stdout, "imports.bit does not exist: d/imports is not registered, or has expired.\n")
      const value = "{\"ns\":[\"ns.example.com.\"],\"ip\":\"192.0.2.1\"}"
      const sources = [source("d/imports", value, 7)]
      const { stdout } = yield* runWith({
        name_resolve: answer({ status: "delegated", records: [NS], sources, cut: true, synced: false })
      }).run("dig", "imports.bit")
      assert.match(stdout, /^d\/imports: .*ip.*ns beside it replaces it/m)
      assert.match(stdout, /records are missing/)
      assert.match(stdout, /still syncing.*812,400/)
    }))

  it.effect("takes a name for its domain, and refuses other hosts", () =>
    Effect.gen(function*() {
      const { run, sent } = runWith({ name_resolve: answer({ records: [A] }) })
      for (const word of ["d/imports", "imports", "https://imports.bit/", "0x642f696d706f727473"]) {
        assert.strictEqual((yield* run("dig", word)).code, 0, word)
      }
      assert.deepStrictEqual(
        new Set(sent("name_resolve").map((params) => Object(params).host)),
        new Set(["imports.bit"])
      )
      for (const word of ["example.com", "id/alice", "d/"]) {
        const { code, stderr } = yield* run("dig", word)
        assert.strictEqual(code, 1, word)
        assert.match(stderr, /^error: /)
      }
    }))

  it.effect("prints JSON with values as text, or in hex", () =>
    Effect.gen(function*() {
      const sources = [source("d/imports", "{}", 7), { ...source("dd/base", "", 8), value: "ff" }]
      const { stdout } = yield* runWith({ name_resolve: answer({ records: [A], sources }) }).run(
        "dig",
        "imports.bit",
        "-json"
      )
      const json = JSON.parse(stdout)
      assert.deepInclude(json, { status: "records", records: [A], height: 812_400 })
      assert.deepInclude(json.sources[0], { name: "d/imports", value: "{}" })
      assert.deepInclude(json.sources[1], { name: "dd/base", value: null, value_hex: "ff" })
    }))

  it.effect("says so where the daemon cannot", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* runWith({}).run("dig", "imports.bit")
      assert.strictEqual(code, 1)
      assert.match(stderr, /older svcd/)
    }))
})
