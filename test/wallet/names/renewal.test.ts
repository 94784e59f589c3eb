import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { binaryString, concat } from "../../../src/protocol/bytes.ts"
import { outpoint } from "../../../src/protocol/transaction.ts"
import { emptyDocument, type WalletDocument } from "../../../src/wallet/keys/WalletDocument.ts"
import { isRenewed, ownSetting } from "../../../src/wallet/names/renewals.ts"
import { foreignNew } from "./NameNode.ts"
import { bytes, first, mine, NAME, operationOf, own, VALUE, withNames } from "./operating.ts"
import type { World } from "./World.ts"

describe("renewal", () => {
  const updates = (world: World) => world.made("name_update").length

  it.effect("renews the requested names, near their end, once", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* own(world, names)
        yield* own(world, names, bytes("d/left"))
        yield* names.setRenewal(NAME, true)
        yield* names.setRenewal(NAME, true)
        assert.deepStrictEqual(names.renewal(), { all: false, names: [NAME], except: [] })
        const { height = 0 } = world.record(NAME) ?? {}
        yield* mine(world, names, height + 26 - world.height)
        assert.strictEqual(updates(world), 0)
        yield* mine(world, names, 1)
        assert.strictEqual(updates(world), 1)
        yield* names.step
        assert.strictEqual(updates(world), 1)
        yield* mine(world, names, 1)
        assert.strictEqual(world.record(NAME)?.height, height + 28)
        assert.deepStrictEqual(world.record(NAME)?.value, VALUE)
      })
    ))

  it.effect("renews all names, waits while it cannot, and stops on request", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* own(world, names)
        yield* names.setRenewal(undefined, true)
        world.locked = true
        yield* mine(world, names, 27)
        assert.strictEqual(updates(world), 0)
        world.locked = false
        world.poor = true
        yield* names.step
        world.poor = false
        world.behind = true
        yield* names.step
        assert.strictEqual(updates(world), 0)
        world.behind = false
        yield* mine(world, names, 1)
        assert.strictEqual(updates(world), 1)
        yield* names.setRenewal(undefined, false)
        yield* mine(world, names, 40)
        assert.strictEqual(updates(world), 1)
      })
    ))

  it.effect("renews all names but the exceptions, which hold until all are set again", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        const left = bytes("d/left")
        yield* own(world, names)
        yield* own(world, names, left)
        yield* names.setRenewal(undefined, true)
        yield* names.setRenewal(left, false)
        yield* names.setRenewal(left, false)
        assert.deepStrictEqual(names.renewal(), { all: true, names: [], except: [left] })
        assert.deepStrictEqual([NAME, left].map(names.isRenewed), [true, false])
        yield* mine(world, names, 28)
        const renewed = world.made("name_update").map(operationOf)
        assert.deepStrictEqual(renewed.map((each) => each.op === "name_update" && each.name), [NAME])
        // A mistyped exception would leave the meant name renewed.
        const refused = yield* Effect.flip(names.setRenewal(bytes("d/lfet"), false))
        assert.strictEqual(refused.message, "the wallet neither owns nor registers this name")
        yield* names.setRenewal(left, true)
        assert.deepStrictEqual(names.renewal(), { all: true, names: [left], except: [] })
        yield* names.setRenewal(left, false)
        yield* names.setRenewal(undefined, true)
        assert.deepStrictEqual(names.renewal(), { all: true, names: [], except: [] })
        yield* names.setRenewal(left, false)
        yield* names.setRenewal(undefined, false)
        assert.deepStrictEqual(names.renewal(), { all: false, names: [], except: [] })
      })
    ))

  it.effect("forgets a name that another owner has, but not before a reorg cannot bring it back", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        const excepted = bytes("d/excepted")
        yield* own(world, names)
        yield* own(world, names, excepted)
        yield* names.setRenewal(undefined, true)
        yield* names.setRenewal(NAME, true)
        yield* names.setRenewal(excepted, false)
        const kept = { all: true, names: [NAME], except: [excepted] }
        const given = { all: true, names: [], except: [] }
        const stored = { all: true, names: [NAME], except: [excepted] }
        for (const name of [NAME, excepted]) {
          yield* names.nameUpdate({ name, value: undefined, destination: bytes("another owner") })
        }
        yield* mine(world, names, 2)
        assert.deepStrictEqual(names.renewal(), given)
        assert.deepStrictEqual(world.document.renewals, stored)
        world.reorganise(2)
        assert.deepStrictEqual(names.renewal(), kept)
        yield* mine(world, names, 100)
        assert.deepStrictEqual(world.document.renewals, stored)
        // While the wallet searches the chain, the transaction that brings the name back may be missing.
        world.searched = false
        yield* mine(world, names, 1)
        assert.deepStrictEqual(world.document.renewals, stored)
        world.searched = true
        // Or a missing block may have it.
        world.syncing = true
        yield* names.step
        assert.deepStrictEqual(world.document.renewals, stored)
        world.syncing = false
        yield* names.step
        assert.deepStrictEqual(world.document.renewals, { all: true, names: [] })
      })
    ))

  it.effect("keeps the setting of a name that is given to the wallet, while neither a block nor the mempool has that", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        const salt = new Uint8Array(20).fill(9)
        const made = foreignNew(world, NAME, salt)
        world.connect([made])
        world.connect([
          world.foreign({ op: "name_firstupdate", name: NAME, rand: salt, value: VALUE }, [outpoint(made.txid, 0)])
        ])
        yield* names.nameNew(bytes("d/other"), {})
        world.giveBack(NAME)
        yield* names.setRenewal(NAME, true)
        // The next run knows the transaction no more: it waits elsewhere, and the chain goes on.
        world.sent.pop()
        world.pool = new Map()
        yield* mine(world, names, 120)
        assert.deepStrictEqual(world.document.renewals.names, [NAME])
        assert.deepStrictEqual(names.renewal().names, [NAME])
      })
    ))

  it.effect("keeps an exception that is switched off again before the wallet has found its names", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* own(world, names)
        yield* names.setRenewal(NAME, false)
        world.searched = false
        yield* names.setRenewal(NAME, false)
        yield* names.step
        assert.deepStrictEqual(names.renewal().except, [NAME])
        assert.deepStrictEqual(world.document.renewals.except, [NAME])
      })
    ))

  it.effect("keeps the setting of a name that its new owner gives back, before a block has that", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* own(world, names)
        yield* names.nameUpdate({ name: NAME, value: undefined, destination: bytes("another owner") })
        // With regtest's lifetime of 30 blocks, the other owner has to renew the name.
        for (let i = 0; i < 5; i++) {
          world.mine(21)
          const { txid, vout } = world.record(NAME) ?? assert.fail("no record")
          world.connect([world.foreign({ op: "name_update", name: NAME, value: VALUE }, [outpoint(txid, vout)])])
        }
        world.giveBack(NAME)
        yield* names.setRenewal(NAME, true)
        const kept = { all: false, names: [NAME], except: [] }
        world.mine(1, () => true)
        yield* names.step
        assert.deepStrictEqual(names.renewal(), kept)
        yield* mine(world, names, 27)
        assert.deepStrictEqual(names.renewal(), kept)
        assert.strictEqual(updates(world), 2)
        yield* mine(world, names, 1)
        assert.strictEqual(updates(world), 3)
      })
    ))

  const EXPIRED_FOR = 105

  it.effect("keeps the setting of an expired name that is registered again by hand", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* own(world, names)
        world.mine(30 + EXPIRED_FOR)
        yield* names.nameNew(NAME, {})
        yield* names.setRenewal(NAME, true)
        yield* names.step
        yield* mine(world, names, 12)
        assert.deepStrictEqual(names.renewal(), { all: false, names: [NAME], except: [] })
        yield* names.nameFirstUpdate(first)
        yield* mine(world, names, 28)
        assert.strictEqual(updates(world), 1)
      })
    ))

  it.effect("keeps the exception of an expired name that is registered again by hand", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* own(world, names)
        world.mine(30 + EXPIRED_FOR)
        yield* names.setRenewal(undefined, true)
        yield* names.nameNew(NAME, {})
        yield* names.setRenewal(NAME, false)
        yield* names.step
        yield* mine(world, names, 12)
        assert.deepStrictEqual(names.renewal(), { all: true, names: [], except: [NAME] })
        yield* names.nameFirstUpdate(first)
        yield* mine(world, names, 29)
        assert.strictEqual(updates(world), 0)
      })
    ))

  it("reads a setting once for all names", () => {
    let reads = 0
    const document: WalletDocument = {
      ...emptyDocument({ network: "regtest", createdAt: 0 }),
      renewals: {
        all: true,
        get names() {
          reads++
          return [NAME]
        },
        except: [bytes("d/left")]
      }
    }
    const asked = [NAME, bytes("d/left"), bytes("d/other")]
    assert.deepStrictEqual(asked.map((name) => isRenewed(document, name)), [true, false, true])
    assert.deepStrictEqual(asked.map((name) => ownSetting(document, name)), [true, false, undefined])
    assert.strictEqual(reads, 1)
  })

  it.effect("leaves pending operations alone", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        yield* own(world, names)
        yield* names.setRenewal(undefined, true)
        yield* mine(world, names, 26)
        yield* names.nameUpdate({ name: NAME, value: bytes("new") })
        world.mine(1, () => true)
        yield* names.step
        assert.strictEqual(updates(world), 1)
        assert.isTrue([...world.pool.values()].some((tx) => binaryString(tx.bytes).includes("new")))
      })
    ))

  it.effect("refuses a name that the wallet neither owns nor registers", () =>
    withNames((names, world) =>
      Effect.gen(function*() {
        const refused = yield* Effect.flip(names.setRenewal(bytes("d/exmaple"), true))
        assert.strictEqual(refused.message, "the wallet neither owns nor registers this name")
        assert.deepStrictEqual(names.renewal().names, [])
        // Switching off what is left from earlier is possible.
        yield* names.setRenewal(bytes("d/exmaple"), false)
        yield* own(world, names)
        yield* names.setRenewal(NAME, true)
        yield* names.setRenewal(NAME, false)
        yield* mine(world, names, 31)
        assert.strictEqual((yield* Effect.flip(names.setRenewal(NAME, true)))._tag, "InvalidWalletRequest")
      })
    ))

  it.effect("stores which names are renewed", () =>
    withNames((names) =>
      Effect.gen(function*() {
        const other = concat(NAME, Uint8Array.of(1))
        yield* names.nameNew(NAME, {})
        yield* names.nameNew(other, {})
        yield* names.setRenewal(NAME, true)
        yield* names.setRenewal(other, true)
        yield* names.setRenewal(NAME, false)
        assert.deepStrictEqual(names.renewal(), { all: false, names: [other], except: [] })
      })
    ))
})
