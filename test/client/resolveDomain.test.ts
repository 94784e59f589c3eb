import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import { NameClient } from "../../src/client/NameClient.ts"
import type { DomainType } from "../../src/client/options.ts"
import { layerMemory, MemoryNames } from "../../src/testing.ts"
import { fakeDaemon } from "../support/fakeDaemon.ts"
import { hex, open, shown } from "./daemonClients.ts"

const base64 = (byte: number, length: number): string => Buffer.alloc(length, byte).toString("base64")

const VALUES: Readonly<Record<string, unknown>> = {
  "d/addr": { ip: ["192.0.2.1", "192.0.2.2"], ip6: "2001:db8::1" },
  "d/kinds": {
    txt: "hello",
    mx: [[10, "mail.example.com."]],
    sshfp: [[4, 2, base64(9, 32)]],
    map: { _tcp: { map: { _443: { tls: [[3, 1, 1, base64(7, 32)]] }, _xmpp: { srv: [[5, 0, 5269, "@"]] } } } }
  },
  "d/wild": { map: { "*": { ip: "192.0.2.20" } } },
  "d/cname": { alias: "addr.bit." },
  "d/outside": { alias: "host.example.com." },
  "d/old": { translate: "addr.bit." },
  "d/cut": {
    ns: ["ns1.@", "ns.example.org."],
    ds: [[12345, 13, 2, base64(5, 32)]],
    map: { ns1: { ip: "192.0.2.41" } }
  },
  "d/imports": { import: ["dd/base", "sub"], ip: "192.0.2.30" },
  "dd/base": { map: { sub: { ip: "192.0.2.31", ip6: "2001:db8::31" } } },
  "d/nothere": { import: "dd/nowhere", ip: "192.0.2.34" },
  "d/oddly": { import: `dd/${"x".repeat(300)}`, ip: "192.0.2.35" },
  "d/broken": "no JSON",
  "d/xn--zrich-kva": { ip: "192.0.2.36" }
}

const textOf = (value: unknown): string => typeof value === "string" ? value : JSON.stringify(value)

const NAMES = Object.fromEntries(Object.entries(VALUES).map(([name, value]) => [name, textOf(value)]))

const withMemory = <A, E>(
  use: (client: typeof NameClient.Service, names: typeof MemoryNames.Service) => Effect.Effect<A, E>
) =>
  Effect.provide(
    Effect.flatMap(Effect.all([NameClient, MemoryNames]), ([client, names]) => use(client, names)),
    layerMemory(NAMES)
  )

const CASES: ReadonlyArray<
  readonly [
    host: string,
    type: DomainType,
    status: string,
    records: ReadonlyArray<string>,
    sources: ReadonlyArray<string>
  ]
> = [
  ["addr.bit", "A", "records", ["addr.bit. A 192.0.2.1", "addr.bit. A 192.0.2.2"], ["d/addr"]],
  ["Addr.BIT.", "AAAA", "records", ["addr.bit. AAAA 2001:db8::1"], ["d/addr"]],
  ["addr.bit", "ANY", "records", ["addr.bit. A 192.0.2.1", "addr.bit. A 192.0.2.2", "addr.bit. AAAA 2001:db8::1"], [
    "d/addr"
  ]],
  ["addr.bit", "MX", "no-data", [], ["d/addr"]],
  ["addr.bit", "TYPE65", "no-data", [], ["d/addr"]],
  ["broken.bit", "A", "no-data", [], ["d/broken"]],
  ["x.addr.bit", "A", "no-name", [], ["d/addr"]],
  ["none.bit", "A", "no-name", [], []],
  ["a--b.bit", "A", "no-name", [], []],
  ["zürich.bit", "A", "records", ["xn--zrich-kva.bit. A 192.0.2.36"], ["d/xn--zrich-kva"]],
  ["any.wild.bit", "A", "records", ["any.wild.bit. A 192.0.2.20"], ["d/wild"]],
  ["cname.bit", "AAAA", "records", ["cname.bit. CNAME addr.bit.", "addr.bit. AAAA 2001:db8::1"], ["d/cname", "d/addr"]],
  ["cname.bit", "CNAME", "records", ["cname.bit. CNAME addr.bit."], ["d/cname"]],
  ["outside.bit", "A", "alias-outside", ["outside.bit. CNAME host.example.com."], ["d/outside"]],
  ["x.old.bit", "A", "no-name", ["old.bit. DNAME addr.bit.", "x.old.bit. CNAME x.addr.bit."], ["d/old", "d/addr"]],
  [
    "www.cut.bit",
    "A",
    "delegated",
    [
      "cut.bit. NS ns1.cut.bit.",
      "cut.bit. NS ns.example.org.",
      `cut.bit. DS 12345 13 2 ${"05".repeat(32)}`,
      "ns1.cut.bit. A 192.0.2.41"
    ],
    ["d/cut"]
  ],
  ["cut.bit", "DS", "records", [`cut.bit. DS 12345 13 2 ${"05".repeat(32)}`], ["d/cut"]],
  ["imports.bit", "AAAA", "records", ["imports.bit. AAAA 2001:db8::31"], ["d/imports", "dd/base"]],
  ["nothere.bit", "A", "records", ["nothere.bit. A 192.0.2.34"], ["d/nothere"]],
  ["oddly.bit", "A", "records", ["oddly.bit. A 192.0.2.35"], ["d/oddly"]]
]

const said = (answer: Effect.Effect.Success<ReturnType<typeof NameClient.Service["resolveDomain"]>>) => ({
  status: answer.status,
  records: answer.records.map(({ data, name, type }) => `${name} ${type} ${data}`),
  sources: answer.sources.map(({ name }) => name)
})

describe("resolveDomain", () => {
  for (const [host, type, status, records, sources] of CASES) {
    it.effect(`answers ${type} of ${host} with ${status}`, () =>
      withMemory((client) =>
        Effect.map(client.resolveDomain(host, type), (answer) => {
          assert.deepStrictEqual(said(answer), { status, records: [...records], sources: [...sources] })
          for (const { ttl } of answer.records) assert.strictEqual(ttl, 600)
          assert.strictEqual(answer.asOf.synced, true)
        })
      ))
  }

  it.effect("has the parts of each kind of record, and A without a type", () =>
    withMemory((client) =>
      Effect.gen(function*() {
        const of = (host: string, type?: DomainType) =>
          Effect.map(client.resolveDomain(host, type), ({ records }) => records[0])
        assert.deepInclude(yield* of("addr.bit"), { type: "A", address: "192.0.2.1" })
        assert.deepInclude(yield* of("kinds.bit", "TXT"), { data: "\"hello\"", strings: ["hello"] })
        assert.deepInclude(yield* of("kinds.bit", "MX"), { preference: 10, target: "mail.example.com." })
        assert.deepInclude(yield* of("_xmpp._tcp.kinds.bit", "SRV"), {
          priority: 5,
          weight: 0,
          port: 5269,
          target: "kinds.bit."
        })
        assert.deepInclude(yield* of("_443._tcp.kinds.bit", "TLSA"), {
          usage: 3,
          selector: 1,
          matchingType: 1,
          association: "07".repeat(32)
        })
        assert.deepInclude(yield* of("kinds.bit", "SSHFP"), {
          algorithm: 4,
          fingerprintType: 2,
          fingerprint: "09".repeat(32)
        })
        assert.deepInclude(yield* of("cut.bit", "DS"), { keyTag: 12345, algorithm: 13, digestType: 2 })
      })
    ))

  it.effect("refuses other hosts and unknown types", () =>
    withMemory((client) =>
      Effect.gen(function*() {
        /** As from a program without types. */
        const refused = (...given: ReadonlyArray<unknown>): Effect.Effect<unknown> =>
          Effect.flip(Reflect.apply(client.resolveDomain, client, given))
        for (const host of ["example.com", "d/addr", "bit", "", "a..bit", `${"x".repeat(64)}.bit`, 7]) {
          const error = yield* refused(host)
          assert.deepInclude(error, { _tag: "InvalidRequest", field: "host" })
        }
        const error = yield* refused("addr.bit", "AXFR")
        assert.deepInclude(error, { _tag: "InvalidRequest", field: "type" })
        assert.include(String(error), "TYPE65")
      })
    ))

  it.effect("fails as resolveName does where a missing block may have the name, even an imported one", () =>
    withMemory((client, names) =>
      Effect.gen(function*() {
        yield* names.syncing(true)
        for (const host of ["none.bit", "nothere.bit"]) {
          assert.strictEqual((yield* Effect.flip(client.resolveDomain(host)))._tag, "NotSynced")
        }
        assert.deepInclude((yield* client.resolveDomain("addr.bit")).asOf, { synced: false })
        const strict = client.resolveDomain("addr.bit", "A", { requireSynced: true })
        assert.strictEqual((yield* Effect.flip(strict))._tag, "NotSynced")
      })
    ))

  it.effect("treats an expired name as missing", () =>
    withMemory((client, names) =>
      Effect.gen(function*() {
        yield* names.expire("d/addr")
        assert.strictEqual((yield* client.resolveDomain("addr.bit")).status, "no-name")
      })
    ))
})

const LABELS = ["a", "b", "www"]
const HOSTS = ["a.bit.", "b.bit", "www.a.bit.", "c.example.", "www", "@", "www.@", ""]

const label = FastCheck.constantFrom(...LABELS)
const host = FastCheck.constantFrom(...HOSTS)

/** Values with few labels and hosts, so that imports, aliases and delegations meet. */
const value = FastCheck.letrec((tie) => ({
  level: FastCheck.record({
    ip: FastCheck.constantFrom("192.0.2.1", ["192.0.2.2", "192.0.2.3"], "no address"),
    ip6: FastCheck.constant("2001:db8::1"),
    txt: FastCheck.string({ maxLength: 4 }),
    alias: host,
    translate: host,
    ns: FastCheck.array(host, { maxLength: 2 }),
    import: FastCheck.oneof(
      FastCheck.constantFrom("d/a", "d/b", "dd/c", "dd/none"),
      FastCheck.tuple(FastCheck.constantFrom("d/a", "dd/c"), label).map((one) => [one])
    ),
    map: FastCheck.dictionary(FastCheck.oneof(label, FastCheck.constantFrom("", "*")), tie("level"), {
      maxKeys: 3
    })
  }, { requiredKeys: [] })
})).level

const names = FastCheck.dictionary(
  FastCheck.constantFrom("d/a", "d/b", "dd/c"),
  FastCheck.oneof({
    weight: 9,
    arbitrary: value.map((each) => JSON.stringify(each)).filter(({ length }) => length <= 520)
  }, {
    weight: 1,
    arbitrary: FastCheck.string({ maxLength: 20 })
  })
)

const QUESTIONS = ["a.bit", "b.bit", "www.a.bit", "x.www.a.bit", "b.b.bit", "c.bit"].flatMap((name) =>
  (["A", "AAAA", "NS", "CNAME", "ANY"] as const).map((type) => [name, type] as const)
)

describe("resolveDomain in several modes", () => {
  it.scopedLive("answers alike over a daemon and over names in memory", () =>
    Effect.gen(function*() {
      let values: Readonly<Record<string, string>> = {}
      const daemon = yield* fakeDaemon(({ method, params: [name] }) => {
        if (method !== "name_show") return undefined
        const found = Object.entries(values).find(([each]) => hex(each) === name)
        return found === undefined
          ? { code: -4, message: "name never existed" }
          : { result: shown(found[0], { value: hex(found[1]) }) }
      })
      const overDaemon = yield* open(daemon)
      const answers = (questions: typeof QUESTIONS) => (client: typeof NameClient.Service) =>
        Effect.forEach(questions, ([name, type]) => Effect.map(client.resolveDomain(name, type), said))
      yield* Effect.promise(() =>
        FastCheck.assert(
          FastCheck.asyncProperty(
            names,
            FastCheck.shuffledSubarray(QUESTIONS, { minLength: 3, maxLength: 3 }),
            (given, questions) => {
              values = given
              return Effect.runPromise(
                Effect.gen(function*() {
                  const inMemory = yield* Effect.provide(
                    Effect.flatMap(NameClient, answers(questions)),
                    layerMemory(given)
                  )
                  assert.deepStrictEqual(yield* answers(questions)(overDaemon), inMemory)
                })
              )
            }
          ),
          { numRuns: 15 }
        )
      )
    }))
})
