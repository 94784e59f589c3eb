import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, FastCheck, Layer } from "effect"
import * as ExpiringNames from "../../src/alerts/ExpiringNames.ts"
import * as WatchList from "../../src/alerts/WatchList.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { NameDb } from "../../src/names/NameDb.ts"
import { blockAt, hashAt, type Operation, text, withNewDb } from "../names/blocks.ts"
import { fakeWallet, fakeWalletsLayer } from "../support/fakeWallet.ts"
import { noWallets } from "../support/noWallets.ts"
import { ownScript } from "../wallet/payments/coins.ts"

const NAMES = ["d/a", "d/b", "d/c", "d/d", "d/e", "d/f"]
const WATCHED = { of: "subjects", mine: true, watched: true } as const

const step = FastCheck.oneof(
  { weight: 4, arbitrary: FastCheck.subarray(NAMES).map((names) => ({ type: "block", names } as const)) },
  FastCheck.integer({ min: 1, max: 4 }).map((blocks) => ({ type: "rewind", blocks } as const)),
  FastCheck.subarray(NAMES).map((names) => ({ type: "watch", names } as const)),
  FastCheck.subarray(NAMES).map((names) => ({ type: "unwatch", names } as const)),
  FastCheck.constant({ type: "list" } as const)
)

/** The service over names.db; `read` gets the names that it reads. */
const namesOver = (
  db: typeof NameDb.Service,
  watch: typeof WatchList.WatchList.Service,
  read: Array<string> = [],
  wallets = noWallets
) =>
  Layer.build(
    ExpiringNames.layerFor(regtestParams).pipe(
      Layer.provide(wallets),
      Layer.provide(Layer.succeed(WatchList.WatchList, watch)),
      Layer.provide(Layer.succeed(NameDb, {
        ...db,
        atOnce: () => undefined,
        resolve: (name) => {
          read.push(Buffer.from(name).toString())
          return db.resolve(name)
        }
      }))
    )
  ).pipe(Effect.map((context) => Context.get(context, ExpiringNames.ExpiringNames)))

/** The lists over names.db, and the names that they read. */
const listsOver = (...parts: Parameters<typeof namesOver>) =>
  Effect.map(namesOver(...parts), ({ list }) =>
    Effect.map(
      list({ blocks: 30, whose: WATCHED, limit: 100 }),
      ({ names }) =>
        names.map(({ left, record: { height, name } }) => `${Buffer.from(name).toString()} ${height} ${left}`)
    ))

describe("ExpiringNames", () => {
  it.effect.prop("lists watched names as if it read them all, over blocks, rewinds and changes of the list", {
    steps: FastCheck.array(step, { maxLength: 30 })
  }, ({ steps }) =>
    Effect.scoped(withNewDb((db) =>
      Effect.gen(function*() {
        const watch = yield* Effect.provide(WatchList.WatchList, WatchList.layerMemory)
        const list = yield* listsOver(db, watch)
        const rand = Uint8Array.of(1)
        let height = 0
        yield* db.follower.apply([blockAt(0)])
        for (const each of steps) {
          if (each.type === "block") {
            height++
            const operations = each.names.map((name): Operation => ({ name: text(name), rand }))
            yield* db.follower.apply([blockAt(height, operations)])
          } else if (each.type === "rewind") {
            height = Math.max(0, height - each.blocks)
            yield* db.follower.rewind({ height, hash: hashAt(height) })
          } else if (each.type === "watch") yield* watch.add(each.names.map(text))
          else if (each.type === "unwatch") yield* watch.remove(each.names.map(text))
          else assert.deepStrictEqual(yield* list, yield* yield* listsOver(db, watch))
        }
        assert.deepStrictEqual(yield* list, yield* yield* listsOver(db, watch))
      })
    )), { fastCheck: { numRuns: 10 } })

  it.scoped("reads after a block only what the block or the list changed", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const watch = yield* Effect.provide(WatchList.WatchList, WatchList.layerMemory)
        const read: Array<string> = []
        const list = yield* listsOver(db, watch, read)
        const rand = Uint8Array.of(1)
        yield* db.follower.apply([blockAt(0), blockAt(1, NAMES.map((name) => ({ name: text(name), rand })))])
        yield* watch.add(["d/a", "d/b", "d/none"].map(text))
        const readFor = Effect.map(Effect.zipRight(Effect.sync(() => void (read.length = 0)), list), () => [...read])
        assert.deepStrictEqual(yield* readFor, ["d/a", "d/b", "d/none"])
        assert.deepStrictEqual(yield* readFor, [])
        yield* db.follower.apply([blockAt(2, ["d/b", "d/c"].map((name) => ({ name: text(name) })))])
        yield* db.follower.apply([blockAt(3)])
        assert.deepStrictEqual(yield* readFor, ["d/b"])
        yield* watch.add([text("d/c")])
        assert.deepStrictEqual(yield* readFor, ["d/c"])
        yield* db.follower.rewind({ height: 1, hash: hashAt(1) })
        assert.deepStrictEqual(yield* readFor, ["d/a", "d/b", "d/c", "d/none"])
        for (let height = 2; height < 20; height++) yield* db.follower.apply([blockAt(height)])
        assert.deepStrictEqual(yield* readFor, ["d/a", "d/b", "d/c", "d/none"])
      })
    ))

  it.scoped("lists each watched name once after more blocks than it keeps changes of", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const watch = yield* Effect.provide(WatchList.WatchList, WatchList.layerMemory)
        const list = yield* listsOver(db, watch)
        yield* db.follower.apply([blockAt(0), blockAt(1, [{ name: text("d/a"), rand: Uint8Array.of(1) }])])
        yield* watch.add([text("d/a")])
        assert.deepStrictEqual(yield* list, ["d/a 1 30"])
        // The record stays the same object in the cache of names.db.
        for (let height = 2; height < 30; height++) yield* db.follower.apply([blockAt(height)])
        assert.deepStrictEqual(yield* list, ["d/a 1 2"])
      })
    ))

  it.scoped("chooses among own and watched names before it counts them", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const watch = yield* Effect.provide(WatchList.WatchList, WatchList.layerMemory)
        const rand = Uint8Array.of(1)
        const registered = (name: string): Operation => ({ name: text(name), rand })
        yield* db.follower.apply([
          blockAt(0),
          blockAt(1, [registered("d/a")]),
          blockAt(2, [registered("d/b")]),
          blockAt(3, [registered("d/c")])
        ])
        yield* watch.add(["d/a", "d/b", "d/c"].map(text))
        const { list } = yield* namesOver(db, watch)
        const wants = ({ name }: { readonly name: Uint8Array }) => !Buffer.from(name).equals(text("d/a"))
        const page = (cursor?: string) => list({ blocks: 30, whose: { ...WATCHED, wants }, limit: 1, cursor })
        const first = yield* page()
        assert.deepStrictEqual(first.names.map(({ record: { name } }) => name), [text("d/b")])
        const second = yield* page(first.next)
        assert.deepStrictEqual(second.names.map(({ record: { name } }) => name), [text("d/c")])
        assert.isUndefined(second.next)
      })
    ))

  it.scoped("lists the names of a wallet that was loaded in the place of another of the same name", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const watch = yield* Effect.provide(WatchList.WatchList, WatchList.layerMemory)
        const walletOf = (name: string) =>
          fakeWallet({
            list: () => [{
              name: text(name),
              operation: { op: "name_update", name: text(name), value: text("v") },
              txid: hashAt(1),
              vout: 0,
              script: text("a"),
              height: 1,
              mine: true
            }]
          }).wallet
        const loaded = [walletOf("d/a")]
        yield* db.follower.apply([blockAt(0), blockAt(1)])
        const list = yield* listsOver(db, watch, [], fakeWalletsLayer([], { loaded: () => loaded }))
        assert.deepStrictEqual(yield* list, ["d/a 1 30"])
        loaded.splice(0, 1, walletOf("d/b"))
        assert.deepStrictEqual(yield* list, ["d/b 1 30"])
      })
    ))

  it.scoped("takes the renewal of a name from the wallet that has it, not from another one", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const watch = yield* Effect.provide(WatchList.WatchList, WatchList.layerMemory)
        const walletOf = (address: string, isRenewed: boolean) =>
          fakeWallet({
            own: (script) => Buffer.from(script).toString() === address ? ownScript({ script }) : undefined,
            isRenewed: () => isRenewed
          }).wallet
        const loaded = [walletOf("a", true), walletOf("b", false)]
        const { isRenewed } = yield* namesOver(db, watch, [], fakeWalletsLayer([], { loaded: () => loaded }))
        const record = { name: text("d/a"), value: text(""), txid: hashAt(1), vout: 0, height: 1 }
        const renewed = ["a", "b", "c"].map((address) => isRenewed({ ...record, address: text(address) }))
        assert.deepStrictEqual(renewed, [true, false, false])
      })
    ))
})
