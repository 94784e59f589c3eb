import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { temporaryDirectory } from "../support/chain.ts"
import { freePort, type Node, startNode, until } from "../support/daemon.ts"

/** An address without a known key. */
const NO_OWNER = "mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r"

const NAME = "d/travels"

/** Blocks from a NAME_NEW to the first that may hold its NAME_FIRSTUPDATE, and from an operation to its end. */
const DEPTH = 12
const LIFETIME = 30

const Registrations = Schema.Array(
  Schema.Struct({ step: Schema.String, txid: Schema.String, firstupdate_txid: Schema.optional(Schema.String) })
)

const isTip = (hash: unknown) => (found: unknown) => found === hash

const has = (txid: unknown) => (pool: unknown) => Array.isArray(pool) && pool.includes(txid)

/** Two nodes with wallets, and a miner without one that both call. */
const network = Effect.gen(function*() {
  const port = yield* freePort
  const online = ["-maxpeers", "20"]
  const miner = yield* startNode(
    yield* temporaryDirectory,
    "-disablewallet",
    ...online,
    "-listen",
    `127.0.0.1:${port}`
  )
  yield* miner.ready
  const owner = Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    return yield* startNode(directory, ...online, "-listen", "", "-addpeer", `127.0.0.1:${port}`)
  })
  const first = yield* owner
  const second = yield* owner
  yield* until(miner, "getconnectioncount", (count) => count === 2)

  const isSynced = (tip: unknown) =>
    Effect.forEach(
      [first, second],
      (node) =>
        Effect.zipRight(until(node, "getbestblockhash", isTip(tip)), node.call("syncwithvalidationinterfacequeue")),
      {
        concurrency: "unbounded",
        discard: true
      }
    )
  /** Mines, and waits until both owners have the blocks. */
  const mine = (count: number, address: unknown = NO_OWNER) =>
    Effect.gen(function*() {
      yield* miner.call("generatetoaddress", count, address)
      yield* isSynced(yield* miner.call("getbestblockhash"))
    })
  /** Waits until a transaction has come to the miner by itself, and confirms it. */
  const confirmRelayed = (txid: unknown) => Effect.zipRight(until(miner, "getrawmempool", has(txid)), mine(1))
  /** Hands a transaction to the miner directly, as relay delays it by some random seconds, and confirms it. */
  const confirm = (node: Node, txid: unknown) =>
    node.call("gettransaction", txid).pipe(
      Effect.flatMap(Schema.decodeUnknown(Schema.Struct({ hex: Schema.String }))),
      Effect.flatMap(({ hex }) => miner.call("sendrawtransaction", hex)),
      Effect.zipRight(mine(1))
    )
  return { confirm, confirmRelayed, first, mine, miner, second }
})

/** The record of the name, on which all nodes agree except for its owner. */
const agreed = (nodes: ReadonlyArray<Node>) =>
  Effect.gen(function*() {
    const [told, ...others] = yield* Effect.forEach(nodes, (node) =>
      Effect.gen(function*() {
        const shown = yield* node.call("name_show", NAME, { allowExpired: true })
        const history = yield* node.call("name_history", NAME)
        const withoutOwner = (record: object) => ({ ...record, ismine: undefined })
        return {
          record: withoutOwner(yield* Schema.decodeUnknown(Schema.Object)(shown)),
          history: (yield* Schema.decodeUnknown(Schema.Array(Schema.Object))(history)).map(withoutOwner)
        }
      }))
    assert.isDefined(told)
    for (const other of others) assert.deepStrictEqual(other, told)
    return told
  })

const Record = Schema.Struct({ value: Schema.String, height: Schema.Number, expires_in: Schema.Number })
const Owned = Schema.Struct({ value: Schema.String, ismine: Schema.Boolean, expired: Schema.Boolean })

/** A wallet's view of the name. */
interface Share {
  /** Whether it is its own, by name_show. */
  readonly shown: boolean
  /** By name_list: the value of its last transaction that set the name, whether it is its own, whether it expired. */
  readonly listed: ReadonlyArray<readonly [string, boolean, boolean]>
}

const shareOf = (node: Node): Effect.Effect<Share, unknown> =>
  Effect.gen(function*() {
    const shown = yield* node.call("name_show", NAME, { allowExpired: true })
    const { ismine } = yield* Schema.decodeUnknown(Owned)(shown)
    const listed = yield* Schema.decodeUnknown(Schema.Array(Owned))(yield* node.call("name_list", NAME))
    return { shown: ismine, listed: listed.map(({ expired, ismine, value }) => [value, ismine, expired] as const) }
  })

describe("a name", () => {
  it.scopedLive("lives its whole life between two wallets and a miner", () =>
    Effect.gen(function*() {
      const { confirm, confirmRelayed, first, mine, miner, second } = yield* network
      const nodes = [first, second]
      for (const node of nodes) yield* mine(3, yield* node.call("getnewaddress"))
      yield* mine(100)

      /** Waits until the last registration of a wallet is at a step. */
      const registration = (node: Node, step: string) =>
        Effect.map(
          until(
            node,
            "name_registrations",
            (all) => Schema.decodeUnknownSync(Registrations)(all).at(-1)?.step === step
          ),
          (all) => Schema.decodeUnknownSync(Registrations)(all).at(-1)
        )

      /** Registers by one call, and waits for the end of it. */
      const register = (node: Node, value: string) =>
        Effect.gen(function*() {
          yield* node.call("name_autoregister", NAME, value)
          yield* confirm(node, (yield* registration(node, "committed"))?.txid)
          yield* mine(DEPTH - 1)
          yield* confirm(node, (yield* registration(node, "revealed"))?.firstupdate_txid)
          yield* registration(node, "done")
        })

      /** Checks the answers of both nodes about the name. */
      const check = (expected: {
        readonly values: ReadonlyArray<string>
        readonly left: number
        readonly first: Share
        readonly second: Share
      }) =>
        Effect.gen(function*() {
          const told = yield* agreed(nodes)
          const history = yield* Schema.decodeUnknown(Schema.Array(Record))(told.history)
          assert.deepStrictEqual(
            history.map(({ value }) => value),
            expected.values
          )
          assert.deepStrictEqual(told.history.at(-1), told.record)
          const { expires_in, height, value } = yield* Schema.decodeUnknown(Record)(told.record)
          assert.deepStrictEqual([value, expires_in], [expected.values.at(-1), expected.left])
          assert.strictEqual(height + LIFETIME - expires_in, yield* miner.call("getblockcount"))
          assert.deepStrictEqual([yield* shareOf(first), yield* shareOf(second)], [expected.first, expected.second])
        })

      const none: Share = { shown: false, listed: [] }
      const owns = (value: string): Share => ({ shown: true, listed: [[value, true, false]] })

      yield* register(first, "one")
      yield* check({ values: ["one"], left: LIFETIME, first: owns("one"), second: none })

      yield* confirm(first, yield* first.call("name_update", NAME, "two"))
      yield* check({ values: ["one", "two"], left: LIFETIME, first: owns("two"), second: none })

      const destAddress = yield* second.call("getnewaddress")
      yield* confirm(first, yield* first.call("name_update", NAME, "three", { destAddress }))
      const gave = (expired: boolean): Share => ({ shown: false, listed: [["three", false, expired]] })
      yield* check({ values: ["one", "two", "three"], left: LIFETIME, first: gave(false), second: owns("three") })
      assert.deepInclude(yield* Effect.flip(first.call("name_update", NAME, "stolen")), { code: -6 })

      // The wallet that gave the name away does not know of later operations on it.
      yield* confirmRelayed(yield* second.call("name_update", NAME, "four"))
      const values = ["one", "two", "three", "four"]
      yield* check({ values, left: LIFETIME, first: gave(false), second: owns("four") })

      yield* mine(LIFETIME - 1)
      yield* check({ values, left: 1, first: gave(true), second: owns("four") })
      const early = yield* Effect.flip(first.call("name_autoregister", NAME, "too early"))
      assert.deepInclude(early, { code: -25, message: "this name exists already" })

      yield* mine(1)
      const lost: Share = { shown: true, listed: [["four", true, true]] }
      yield* check({ values, left: 0, first: gave(true), second: lost })
      for (const node of nodes) {
        const expired = yield* Effect.flip(node.call("name_show", NAME))
        assert.deepInclude(expired, { code: -4, message: `name expired: '${NAME}'` })
        assert.deepInclude(yield* Effect.flip(node.call("name_update", NAME, "late")), { code: -25 })
      }

      yield* register(first, "five")
      yield* check({
        values: [...values, "five"],
        left: LIFETIME,
        first: owns("five"),
        second: { ...lost, shown: false }
      })
      for (const node of [miner, ...nodes]) assert.isTrue(yield* node.call("name_checkdb"))
    }))
})
