import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Schedule, Schema } from "effect"
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { temporaryDirectory } from "../support/chain.ts"
import { type Node, startNode, until } from "../support/daemon.ts"

/** An address without a known key. */
const NO_OWNER = "mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r"

const NAME = "d/survivor"
const VALUE = "{\"ip\":\"192.0.2.1\"}"

/** Blocks from a NAME_NEW to the first that may hold its NAME_FIRSTUPDATE. */
const DEPTH = 12

const Registrations = Schema.Array(Schema.Struct({
  name: Schema.String,
  step: Schema.Literal("committed", "maturing", "revealed", "done", "failed"),
  note: Schema.optional(Schema.String),
  txid: Schema.String,
  rand: Schema.String,
  firstupdate_txid: Schema.optional(Schema.String)
}))

const Strings = Schema.Array(Schema.String)

const Listed = Schema.Array(Schema.Struct({ txid: Schema.String, name: Schema.optional(Schema.String) }))

const Output = Schema.Struct({
  scriptPubKey: Schema.Struct({
    nameOp: Schema.optional(Schema.Struct({ op: Schema.String, rand: Schema.optional(Schema.String) }))
  })
})

/** The part of wallet.json that shows the progress of a registration. */
const Stored = Schema.parseJson(Schema.Struct({
  registrations: Schema.Array(Schema.Struct({
    rand: Schema.String,
    step: Schema.String
  })),
  transactions: Schema.Array(Schema.Unknown)
}))

const registrations = (node: Node) =>
  Effect.flatMap(node.call("name_registrations"), Schema.decodeUnknown(Registrations))

/** The one registration of the wallet. */
const registration = (node: Node) =>
  Effect.map(registrations(node), (all) => {
    const [only] = all
    assert.isDefined(only)
    assert.lengthOf(all, 1)
    return only
  })

const isInPool = (node: Node, txid: string) =>
  Effect.map(Effect.flatMap(node.call("getrawmempool"), Schema.decodeUnknown(Strings)), (pool) => pool.includes(txid))

const mine = (node: Node, count = 1) => node.call("generatetoaddress", count, NO_OWNER)

/** The wallet as a program that starts now would find it. */
const stored = (directory: string) =>
  Effect.suspend(() => Schema.decode(Stored)(readFileSync(join(directory, "wallet.json"), "utf8")))

/** Waits until wallet.json has that. */
const untilStored = (directory: string, fits: (wallet: typeof Stored.Type) => boolean) =>
  stored(directory).pipe(
    Effect.filterOrFail(fits, () => "not yet"),
    Effect.retry(Schedule.spaced("1 millis")),
    Effect.timeout("60 seconds")
  )

const start = (directory: string) => Effect.tap(startNode(directory), ({ ready }) => ready)

/** Whether a registration has got as far as it can without another block. */
const isSettled = (node: Node) =>
  Effect.gen(function*() {
    const { firstupdate_txid, note, step, txid } = yield* registration(node)
    assert.notStrictEqual(step, "failed", note)
    switch (step) {
      case "committed":
        return yield* isInPool(node, txid)
      case "maturing": {
        const waitsFor = Number(/until block (\d+)/.exec(note ?? "")?.[1])
        return Number(yield* node.call("getblockcount")) + 1 < waitsFor
      }
      case "revealed":
        return firstupdate_txid !== undefined && (yield* isInPool(node, firstupdate_txid))
      default:
        return true
    }
  })

const untilSettled = (node: Node) =>
  isSettled(node).pipe(
    Effect.filterOrFail((settled) => settled, () => "not yet"),
    Effect.retry(Schedule.spaced("10 millis")),
    Effect.timeout("60 seconds")
  )

/** Mines until the registration is complete. */
const complete = (node: Node) =>
  Effect.gen(function*() {
    for (let blocks = 0; blocks <= DEPTH + 1; blocks++) {
      yield* untilSettled(node)
      if ((yield* registration(node)).step === "done") return
      yield* mine(node)
    }
    assert.fail("the registration is not complete after all the blocks that it needs")
  })

/** Checks that the name was registered by one NAME_NEW and one NAME_FIRSTUPDATE, with the salt that was kept. */
const assertRegistered = (node: Node, salt?: string) =>
  Effect.gen(function*() {
    const { rand, ...done } = yield* registration(node)
    if (salt !== undefined) assert.strictEqual(rand, salt)
    assert.deepInclude(yield* node.call("name_show", NAME), {
      value: VALUE,
      ismine: true,
      txid: done.firstupdate_txid
    })
    // A second one would be sent now at the latest.
    yield* mine(node)
    yield* node.call("syncwithvalidationinterfacequeue")
    assert.deepStrictEqual(yield* node.call("getrawmempool"), [])
    const history = yield* node.call("name_history", NAME)
    assert.lengthOf(yield* Schema.decodeUnknown(Schema.Array(Schema.Unknown))(history), 1)
    const listed = yield* Schema.decodeUnknown(Listed)(yield* node.call("listtransactions", "*", 1_000))
    const sent = (prefix: string) => [
      ...new Set(
        listed.filter(({ name }) => name?.startsWith(prefix)).map(({ txid }) => txid)
      )
    ]
    assert.deepStrictEqual([sent("new: "), sent("update: ")], [[done.txid], [done.firstupdate_txid]])
    const transaction = yield* Schema.decodeUnknown(Schema.Struct({ vout: Schema.Array(Output) }))(
      yield* Effect.flatMap(
        Effect.flatMap(
          node.call("gettransaction", done.firstupdate_txid),
          Schema.decodeUnknown(Schema.Struct({ hex: Schema.String }))
        ),
        ({ hex }) => node.call("decoderawtransaction", hex)
      )
    )
    const operations = transaction.vout.flatMap(({ scriptPubKey: { nameOp } }) => nameOp === undefined ? [] : [nameOp])
    assert.deepStrictEqual(operations, [{ op: "name_firstupdate", rand }])
  })

const begin = (node: Node) => node.call("name_autoregister", NAME, VALUE)

/** Waits until as much is done as can be, and mines. */
const advance = (node: Node, blocks: number) => Effect.zipRight(untilSettled(node), mine(node, blocks))

/** Runs a registration from its beginning to the block after which its NAME_FIRSTUPDATE is due. */
const mature = (node: Node) =>
  begin(node).pipe(
    Effect.zipRight(advance(node, 1)),
    Effect.zipRight(advance(node, DEPTH - 1))
  )

/** Moments at which a transaction is being sent: each runs from the beginning to the kill of the node. */
const MOMENTS: Readonly<Record<string, (node: Node, directory: string) => Effect.Effect<unknown, unknown>>> = {
  "before its name_new is sent": (node, directory) =>
    Effect.zipRight(
      Effect.forkDaemon(Effect.ignore(begin(node))),
      untilStored(directory, ({ registrations }) => registrations.length > 0)
    ),
  "as soon as its name_firstupdate is sent": (node, directory) =>
    Effect.zipRight(mature(node), untilStored(directory, ({ registrations: [entry] }) => entry?.step === "revealed"))
}

describe("a registration", () => {
  let funded = ""

  /** The directory of a wallet with money, from which all tests start. */
  beforeAll(async () => {
    funded = mkdtempSync(join(tmpdir(), "svcd-test-"))
    const fund = Effect.gen(function*() {
      const node = yield* start(funded)
      yield* node.call("generatetoaddress", 3, yield* node.call("getnewaddress"))
      yield* mine(node, 100)
      assert.strictEqual((yield* node.running.end()).code, 0)
    })
    await Effect.runPromise(Effect.scoped(fund))
  })

  afterAll(() => rmSync(funded, { recursive: true, force: true }))

  const withMoney = Effect.tap(
    temporaryDirectory,
    (directory) => Effect.sync(() => cpSync(funded, directory, { recursive: true }))
  )

  for (const [moment, reach] of Object.entries(MOMENTS)) {
    it.scopedLive(`completes where the node is killed ${moment}`, () =>
      Effect.gen(function*() {
        const directory = yield* withMoney
        const node = yield* start(directory)
        yield* reach(node, directory)
        assert.strictEqual((yield* node.running.end("SIGKILL")).signal, "SIGKILL")
        const { registrations: [entry], transactions } = yield* stored(directory)
        assert.isDefined(entry)
        const again = yield* start(directory)
        yield* complete(again)
        // Nothing was sent before a transaction is on disk: another salt is valid then.
        yield* assertRegistered(again, transactions.length > 0 ? entry.rand : undefined)
      }))
  }

  it.scopedLive("completes where the node is killed after each of its steps", () =>
    Effect.gen(function*() {
      const directory = yield* withMoney
      const killed = (work: (node: Node) => Effect.Effect<unknown, unknown>) =>
        Effect.gen(function*() {
          const node = yield* start(directory)
          yield* work(node)
          yield* node.running.end("SIGKILL")
        })
      yield* killed(begin)
      const { registrations: [entry] } = yield* stored(directory)
      assert.isDefined(entry)
      yield* killed((node) => advance(node, 1))
      yield* killed((node) => advance(node, DEPTH - 2))
      // The block after which its NAME_FIRSTUPDATE is due.
      yield* killed((node) => advance(node, 1))
      yield* killed(untilSettled)
      yield* killed((node) => advance(node, 1))
      const node = yield* start(directory)
      yield* complete(node)
      yield* assertRegistered(node, entry.rand)
    }))

  it.scopedLive("in two steps goes on after a kill without salt and transaction", () =>
    Effect.gen(function*() {
      const directory = yield* withMoney
      const first = yield* start(directory)
      const [txid, salt] = yield* Schema.decodeUnknown(Schema.Tuple(Schema.String, Schema.String))(
        yield* first.call("name_new", NAME)
      )
      yield* first.running.end("SIGKILL")
      const second = yield* start(directory)
      yield* until(second, "getrawmempool", (pool) => Array.isArray(pool) && pool.includes(txid))
      yield* mine(second, DEPTH)
      const revealed = yield* second.call("name_firstupdate", NAME, null, null, VALUE)
      yield* second.running.end("SIGKILL")
      const third = yield* start(directory)
      yield* until(third, "getrawmempool", (pool) => Array.isArray(pool) && pool.includes(revealed))
      yield* mine(third)
      yield* until(third, "name_registrations", (all) => JSON.stringify(all).includes("\"step\":\"done\""))
      yield* assertRegistered(third, salt)
    }))
})
