import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { NameClient } from "../../src/client/NameClient.ts"
import type { FindFilter } from "../../src/client/options.ts"
import type { NameRecord } from "../../src/client/records.ts"
import { fromHex } from "../../src/protocol/bytes.ts"
import { encodeText } from "../../src/protocol/nameText.ts"
import { temporaryDirectory, testChain } from "../support/chain.ts"
import { fixtureBlocks } from "../support/chainFixture.ts"
import { nodeWithClient } from "../support/embedded.ts"
import { fixtureJson } from "../support/fixtures.ts"
import { embedded, filledDirectory, HEIGHT } from "./embeddedClient.ts"

interface ShownName {
  readonly nameHex: string
  readonly show: {
    readonly value: string
    readonly txid: string
    readonly address: string
    readonly height: number
    readonly expires_in: number
    readonly expired: boolean
  }
}

const { names } = fixtureJson<{ readonly names: ReadonlyArray<ShownName> }>("regtest-names/tip-names.json.gz")

const text = (hex: string): string | undefined => encodeText(fromHex(hex) ?? new Uint8Array(), "utf8")

/** Names of the fixture that are text. */
const textNames = names.flatMap(({ nameHex, show }) => {
  const name = text(nameHex)
  return name === undefined ? [] : [{ name, show }]
})
const active = textNames.filter(({ show }) => !show.expired)

/** Runs with a client on a copy of the filled directory. */
const withClient = <A, E>(use: (client: typeof NameClient.Service) => Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const dataDir = yield* filledDirectory
    return yield* Effect.provide(Effect.flatMap(NameClient, use), embedded({ dataDir }))
  })

describe("the embedded client", () => {
  it.scopedLive("returns the same record of every name as the reference node", () =>
    withClient((client) =>
      Effect.gen(function*() {
        for (const { name, show } of textNames) {
          if (show.expired) {
            const error = yield* Effect.flip(client.resolveName(name))
            assert.strictEqual(error._tag, "NameExpired", name)
            continue
          }
          const record = yield* client.resolveName(name)
          const value = text(show.value)
          assert.deepStrictEqual(
            record,
            {
              name,
              value: value ?? record.value,
              ...(value === undefined ? { valueHex: show.value } : {}),
              address: show.address.startsWith("<") ? "" : show.address,
              txid: show.txid,
              height: show.height,
              expiresIn: show.expires_in,
              expired: false,
              asOf: { height: HEIGHT, synced: true, proof: "full" }
            } satisfies NameRecord
          )
          // The second time the record comes from memory.
          assert.deepStrictEqual(yield* client.resolveName(name), record)
        }
        assert.isAbove(active.length, 30)
      })
    ))

  it.scopedLive("lists the unexpired names of a namespace, the shortest first, up to the limit", () =>
    withClient((client) =>
      Effect.gen(function*() {
        const listed = (yield* client.listNames({ limit: 1_000 })).map(({ name }) => name)
        assert.deepStrictEqual([...listed].sort(), active.map(({ name }) => name).sort())
        const bytes = (name: string) => Buffer.from(name)
        for (const [i, name] of listed.slice(1).entries()) {
          const before = bytes(listed[i] ?? "")
          assert.isBelow(before.length - bytes(name).length || Buffer.compare(before, bytes(name)), 0)
        }
        const domains = (yield* client.listNames({ namespace: "d/" })).map(({ name }) => name)
        assert.deepStrictEqual(domains, listed.filter((name) => name.startsWith("d/")))
        assert.deepStrictEqual(
          (yield* client.listNames({ namespace: "d/", limit: 2 })).map(({ name }) => name),
          domains.slice(0, 2)
        )
        assert.deepStrictEqual(yield* client.listNames({ limit: 0 }), [])
        assert.deepStrictEqual(yield* client.listNames({ namespace: "none has that/" }), [])
        const error = yield* Effect.flip(client.listNames({ limit: -1 }))
        assert.deepInclude({ ...error }, { _tag: "InvalidRequest", field: "limit" })
      })
    ))

  it.scopedLive("finds names by text, key, owner and prefix, as a look at all of them does", () =>
    withClient((client) =>
      Effect.gen(function*() {
        const all = yield* client.listNames({ limit: 10_000 })
        const find = (filter: FindFilter) =>
          Effect.map(
            Stream.runCollect(client.findNames(filter)),
            (found) => [...found].map(({ name }) => name).sort()
          )
        const those = (fits: (record: NameRecord) => boolean) => all.filter(fits).map(({ name }) => name).sort()
        const first = all.find(({ name }) => /^[a-z]\/[a-z0-9]{6}/.test(name))
        if (first === undefined) return assert.fail("there are names")
        const part = first.name.slice(2, 6)
        assert.deepStrictEqual(
          yield* find({ text: part }),
          those(({ name, value }) => `${name} ${value}`.toLowerCase().includes(part))
        )
        assert.deepStrictEqual(yield* find({ namespace: "d/" }), those(({ name }) => name.startsWith("d/")))
        assert.deepStrictEqual(
          yield* find({ owner: first.address, namespace: "" }),
          those(({ address }) => address === first.address)
        )
        assert.deepStrictEqual(yield* find({ expiresWithin: 5 }), those(({ expiresIn }) => expiresIn <= 5))
        const failure = yield* Effect.flip(Stream.runDrain(client.findNames({ text: "d/" })))
        assert.deepInclude({ ...failure }, { _tag: "InvalidRequest", field: "filter" })
      })
    ))

  it.scopedLive("refuses names that no chain can hold, and reports the invalid argument", () =>
    withClient((client) =>
      Effect.gen(function*() {
        for (const name of ["x".repeat(256), "ü".repeat(128), "d/\ud800"]) {
          const error = yield* Effect.flip(client.resolveName(name))
          assert.deepInclude({ ...error }, { _tag: "InvalidRequest", field: "name" })
        }
        const longest = yield* Effect.flip(client.resolveName("x".repeat(255)))
        assert.strictEqual(longest._tag, "NameNotFound")
      })
    ))

  it.scopedLive("resolves hosts below .bit from its names", () =>
    withClient((client) =>
      Effect.gen(function*() {
        const { name } = active.find((each) => /^d\/[a-z][a-z0-9]*$/.test(each.name)) ?? assert.fail("no such name")
        const { asOf, sources, status } = yield* client.resolveDomain(`${name.slice(2)}.bit`, "ANY")
        assert.include(["records", "no-data", "delegated"], status)
        assert.deepStrictEqual(sources[0], yield* client.resolveName(name))
        assert.deepStrictEqual(asOf, { height: HEIGHT, synced: true, proof: "full" })
        assert.deepInclude(yield* client.resolveDomain("absent.bit"), {
          status: "no-name",
          records: [],
          sources: [],
          asOf
        })
      })
    ))

  it.scopedLive("fails with NotSynced if the caller requires a greater height", () =>
    withClient((client) =>
      Effect.gen(function*() {
        const { name = "" } = active[0] ?? {}
        yield* client.resolveName(name, { requireSynced: true, minHeight: HEIGHT })
        const error = yield* Effect.flip(client.resolveName(name, { minHeight: HEIGHT + 1 }))
        assert.deepInclude({ ...error }, { _tag: "NotSynced", height: HEIGHT })
      })
    ))

  it.scopedLive("answers from the known blocks while blocks are missing, and does not report a name as free", () =>
    Effect.gen(function*() {
      const dataDir = yield* filledDirectory
      yield* Effect.gen(function*() {
        const client = yield* NameClient
        const { name = "" } = active[0] ?? {}
        assert.deepStrictEqual((yield* client.resolveName(name)).asOf, { height: HEIGHT, synced: false, proof: "full" })
        assert.deepStrictEqual(yield* client.freshness, { height: HEIGHT, synced: false, proof: "full" })
        const insisted = yield* Effect.flip(client.resolveName(name, { requireSynced: true }))
        assert.strictEqual(insisted._tag, "NotSynced")
        assert.strictEqual((yield* Effect.flip(client.resolveDomain("absent.bit")))._tag, "NotSynced")
        const missing = yield* Effect.flip(client.resolveName("d/absent"))
        assert.deepInclude({ ...missing }, { _tag: "NotSynced", height: HEIGHT })
        const { name: expired = "" } = textNames.find(({ show }) => show.expired) ?? {}
        assert.strictEqual((yield* Effect.flip(client.resolveName(expired)))._tag, "NotSynced")
        assert.strictEqual((yield* Effect.flip(client.listNames({ namespace: "none/" })))._tag, "NotSynced")
        const update = yield* Effect.flip(client.updateName("d/absent", "v"))
        assert.deepInclude({ ...update }, { _tag: "NotSynced", height: HEIGHT })
        // A registration may begin: whether the name is free is checked again when it is claimed.
        assert.strictEqual((yield* Effect.flip(client.registerName("d/absent", "v")))._tag, "InsufficientFunds")
        // The configured peer is unreachable: there may be blocks that the node does not know.
      }).pipe(
        Effect.provide(embedded({ dataDir, disableWallet: false, maxPeers: 1, bootstrapPeers: ["127.0.0.1:9"] }))
      )
    }))

  it.scopedLive("does not report itself synced before the names are at the tip", () =>
    Effect.gen(function*() {
      const dataDir = yield* temporaryDirectory
      yield* Effect.gen(function*() {
        const client = yield* NameClient
        const chain = yield* testChain
        const blocks = fixtureBlocks("regtest-names/blocks.dat.gz").slice(1, 201)
        const [last = [], most] = [blocks.slice(-1), blocks.slice(0, -1)]
        // While many blocks come, the name database follows in batches: only names of known blocks are missing now.
        yield* chain.sink.acceptHeaders(most)
        yield* chain.sink.deliver(most, true)
        assert.strictEqual((yield* chain.tip).height, most.length)
        const { height, synced } = yield* client.freshness
        assert.strictEqual(synced, height === most.length)
        assert.isBelow(height, most.length)
        // A denial first lets the name database follow.
        assert.strictEqual((yield* Effect.flip(client.resolveName("d/absent")))._tag, "NameNotFound")
        assert.deepStrictEqual(yield* client.freshness, { height: most.length, synced: true, proof: "full" })
        yield* chain.sink.deliver(last, false)
        assert.deepStrictEqual(yield* client.freshness, { height: blocks.length, synced: true, proof: "full" })
      }).pipe(Effect.provide(nodeWithClient({ dataDir, disableWallet: true })))
    }))
})
