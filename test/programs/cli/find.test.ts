import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { findCommand, type FindOptions } from "../../../src/programs/cli/find.ts"
import { parseJson } from "../../../src/rpc/json/readJson.ts"
import { runWith } from "./commandRun.ts"
import { batching, fakeDaemon, hex, recordingDaemon } from "./fakeDaemon.ts"

const PIPE = { terminal: false, columns: undefined, colours: false }

const OPTIONS: FindOptions = {
  text: "example",
  key: undefined,
  value: undefined,
  owner: undefined,
  namespace: undefined,
  expired: false,
  limit: 100,
  json: false
}

const entry = (name: string, expiresIn: number) => ({
  name: hex(name),
  value: hex("{\"ip\":\"192.0.2.1\"}"),
  expires_in: expiresIn,
  expired: expiresIn <= 0
})

describe("svcd-cli find", () => {
  it.effect("reads pages until the limit, and says that there are more", () =>
    Effect.gen(function*() {
      const asked: Array<unknown> = []
      const daemon = batching({
        confirm: Effect.void,
        call: (method, params) =>
          Effect.sync(() => {
            asked.push([method, params])
            const at = asked.length
            return parseJson(
              JSON.stringify({ names: at === 2 ? [] : [entry(`d/${at}`, 10)], next: `1.text.${at}`, complete: true })
            ) ?? null
          }),
        lines: () => Effect.die("no document was read"),
        triedCookie: () => undefined,
        cli: "svcd-cli"
      })
      const text = yield* findCommand(daemon, PIPE, { ...OPTIONS, namespace: "d/", limit: 2 })
      assert.match(text, /^NAME +EXPIRES IN +VALUE\nd\/1 +10 blocks +\{"ip".*\nd\/3 +10 blocks/)
      assert.include(text, "Only the first 2 are shown; -limit shows more.")
      const query = {
        text: "example",
        namespace: "642f",
        includeExpired: false,
        nameEncoding: "hex",
        valueEncoding: "hex"
      }
      assert.deepStrictEqual(asked, [
        ["name_find", { query: { ...query, limit: 2 } }],
        ["name_find", { query: { ...query, limit: 1, cursor: "1.text.1" } }],
        ["name_find", { query: { ...query, limit: 1, cursor: "1.text.2" } }]
      ])
    }))

  it.effect.each(
    [
      ["owner:N1address", {}, { owner: "N1address" }],
      ["owner: N1address", { owner: "N2" }, { text: "owner: N1address", owner: "N2" }],
      ["ip:192.0.2.1", {}, { key: "ip", value: "192.0.2.1" }],
      ["tor:", {}, { key: "tor" }],
      ["text:owner:x", {}, { text: "owner:x" }],
      ["irc:x", {}, { text: "irc:x" }]
    ] as const
  )("understands %s as the search of the pages does", ([text, given, conditions]) =>
    Effect.gen(function*() {
      const daemon = recordingDaemon({ name_find: { names: [entry("d/a", 9)], complete: true } })
      yield* findCommand(daemon, PIPE, { ...OPTIONS, ...given, text })
      const encodings = { nameEncoding: "hex", valueEncoding: "hex", limit: 100 }
      assert.deepStrictEqual(daemon.calls.map(({ params }) => params), [{
        query: { ...conditions, includeExpired: false, ...encodings }
      }])
    }))

  it.effect("finds domains in other scripts by a part of them, over pages, and shows them so", () =>
    Effect.gen(function*() {
      const pages = [
        [entry("d/xn--bcher-kva", 10)],
        [entry("d/xn--zrich-kva", 20), entry("d/xn--zrichsee-65a", 30)]
      ]
      const answer = ([query]: ReadonlyArray<unknown>) => {
        const { cursor, namespace, text } = Object(query).query ?? Object(query)
        if (text !== undefined || namespace !== hex("d/xn--")) return { names: [], complete: true }
        return cursor === undefined
          ? { names: pages[0], next: "1", complete: true }
          : { names: pages[1], complete: true }
      }
      const daemon = recordingDaemon({ name_find: (params: ReadonlyArray<unknown>) => answer([params]) })
      const shown = yield* findCommand(daemon, PIPE, { ...OPTIONS, text: "ZÜR" })
      assert.match(shown, /d\/xn--zrich-kva \(zürich\.bit\) +20 blocks/)
      assert.notInclude(shown, "bcher")
      const { names } = JSON.parse(yield* findCommand(daemon, PIPE, { ...OPTIONS, text: "zürich.bit", json: true }))
      assert.deepStrictEqual(names.map((each: { readonly name: string }) => each.name).slice(0, 1), ["d/xn--zrich-kva"])
      const before = daemon.calls.length
      yield* findCommand(daemon, PIPE, { ...OPTIONS, text: "zür", namespace: "id/" })
      assert.lengthOf(daemon.calls.slice(before), 2)
    }))

  it.effect("says that nothing is found, and that there may be more", () =>
    Effect.gen(function*() {
      const daemon = fakeDaemon({ name_find: { names: [], complete: false } })
      const text = yield* findCommand(daemon, PIPE, OPTIONS)
      assert.include(text, "No names found.")
      assert.include(text, "there may be more names")
    }))

  it.effect.each([
    ["zürich", "xn--zrich-kva"],
    ["example.bit", "d/example"]
  ])("finds %s as names write it, %s, if no text says it", ([text = "", written = ""]) =>
    Effect.gen(function*() {
      const textOf = (params: unknown) => JSON.stringify(params).includes(JSON.stringify(written))
      const daemon = recordingDaemon({
        name_find: (params: unknown) => ({ names: textOf(params) ? [entry("d/found", 10)] : [], complete: true })
      })
      assert.include(yield* findCommand(daemon, PIPE, { ...OPTIONS, text }), "d/found")
      // Domains in other scripts are read for a part of them too.
      assert.lengthOf(daemon.calls, text === "zürich" ? 3 : 2)
    }))

  it.effect("prints JSON with names that are not text", () =>
    Effect.gen(function*() {
      const daemon = fakeDaemon({ name_find: { names: [{ ...entry("", -3), name: "ff" }], complete: true } })
      const { complete, more, names: [first] } = JSON.parse(
        yield* findCommand(daemon, PIPE, { ...OPTIONS, json: true })
      )
      assert.deepStrictEqual([complete, more], [true, false])
      assert.deepStrictEqual(first.name, null)
      assert.deepStrictEqual([first.name_hex, first.expires_in, first.expired], ["ff", -3, true])
    }))

  it.effect("asks for a condition before it calls the daemon", () =>
    Effect.gen(function*() {
      const { run, sent } = runWith({ name_find: { names: [] } })
      assert.match((yield* run("find")).stderr, /^error: there is nothing to find: give a text, or -key/)
      assert.deepStrictEqual(sent("name_find"), [])
    }))
})
