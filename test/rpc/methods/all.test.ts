import { assert } from "@effect/vitest"
import { Effect, FastCheck, TestClock } from "effect"
import { displayHash } from "../../../src/protocol/bytes.ts"
import { CONTRACTS } from "../../../src/rpc/contract/all.ts"
import { type Described, describedBy } from "../../../src/rpc/method/results.ts"
import { RPC_CODE } from "../../../src/rpc/method/RpcError.ts"
import { fixtureBlocks } from "../../support/chainFixture.ts"
import { layer } from "../../support/layer.ts"
import { type Calls, MethodNode, methodNode } from "../../support/methodNode.ts"

/** All methods but `logging`, which a node has that writes a log. */
const METHODS = CONTRACTS.map(({ name }) => name).filter((name) => name !== "logging")

const POOR = [RPC_CODE.insufficientFunds]
const NO_SUCH_NAME = [RPC_CODE.verifyError]

/**
 * The refusals of the examples of some methods: their data are cut short or spend missing coins, and the wallet has
 * neither coins nor names.
 */
const REFUSED: ReadonlyMap<string, ReadonlyArray<number>> = new Map([
  ["submitblock", [RPC_CODE.deserialization]],
  // The desk is off here.
  ["createdesklink", [RPC_CODE.misc]],
  ["listdnskeys", [RPC_CODE.misc]],
  ["rolldnskey", [RPC_CODE.misc]],
  // No address gets mail here.
  ["testalertmail", [RPC_CODE.misc]],
  ["getblockfilter", [RPC_CODE.misc]],
  ["pruneblockchain", [RPC_CODE.misc]],
  ["getblockfrompeer", [RPC_CODE.misc]],
  ["sendrawtransaction", [RPC_CODE.verifyError]],
  ["sendpsbt", [RPC_CODE.verifyRejected]],
  ["combinerawtransaction", [RPC_CODE.verifyError]],
  ["submitauxblock", [RPC_CODE.invalidParameter]],
  ["submitheader", [RPC_CODE.deserialization]],
  ["getblocktemplate", [0, RPC_CODE.deserialization]],
  ["getnetworkhashps", [0, RPC_CODE.invalidParameter]],
  ["getaddressesbylabel", [RPC_CODE.walletInvalidLabel]],
  ["lockunspent", [0, RPC_CODE.invalidParameter]],
  ["rescanblockchain", [0, RPC_CODE.invalidParameter]],
  ["sendtoaddress", POOR],
  ["sendmany", POOR],
  ["sendall", POOR],
  ["name_new", POOR],
  ["name_autoregister", POOR],
  ["name_firstupdate", NO_SUCH_NAME],
  ["name_update", NO_SUCH_NAME],
  ["loadwallet", [RPC_CODE.walletNotFound]],
  ["importmempool", [RPC_CODE.misc]],
  ["enumeratesigners", [RPC_CODE.misc]],
  ["dumptxoutset", [0, RPC_CODE.invalidParameter]],
  ["loadtxoutset", [RPC_CODE.internalError]]
])

/** Results that can be anything: a caller's values, and a document with a schema of its own. */
const OPEN = new Set(["echo", "echojson", "help", "rpc.discover"])

/** Parts of results with values of several types, as in the reference node. */
const MIXED: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["getwalletinfo", ["result.scanning"]],
  ["listaddressgroupings", ["result[][][]"]]
])

/** Examples that run after all others, in this order, because they change the wallets and their locks. */
const LAST = [
  "encryptwallet",
  "walletpassphrase",
  "walletpassphrasechange",
  "walletlock",
  "loadwallet",
  "createwallet",
  "unloadwallet"
]

/** Examples with files outside the directory of the test. */
const ELSEWHERE = new Set(["backupwallet", "restorewallet"])

/**
 * Methods that wait: for a block, which no miner makes here, after words that are not those of the wallet, and for
 * tasks of the node, which are due on the clock of the test alone.
 */
const WAITING = new Set([
  "checkrecoverywords",
  "mockscheduler",
  "waitforblock",
  "waitforblockheight",
  "waitfornewblock"
])

const whileTimePasses = <A, E>(work: Effect.Effect<A, E>) =>
  Effect.raceFirst(work, Effect.forever(TestClock.adjust("1 second")))

const vagueParts = (shape: Described, path = "result"): ReadonlyArray<string> => {
  switch (shape.kind) {
    case "any":
      return [path]
    case "array":
      return vagueParts(shape.items, `${path}[]`)
    case "map":
      return vagueParts(shape.values, `${path}.*`)
    case "object":
      return Object.entries(shape.members).flatMap(([name, member]) => vagueParts(member, `${path}.${name}`))
    default:
      return []
  }
}

layer(methodNode({ wallets: true }))("the methods", (it) => {
  it.effect("are those with a contract, each with a handler", () =>
    Effect.gen(function*() {
      const { methods } = yield* MethodNode
      assert.deepStrictEqual([...methods.keys()].sort(), METHODS)
      // So that none goes unnoticed.
      assert.lengthOf(METHODS, 218)
    }))

  it.effect("describe their answers, down to the last member", () =>
    Effect.gen(function*() {
      const { methods } = yield* MethodNode
      for (const { name, results, summary } of methods.values()) {
        assert.isNotEmpty(results, name)
        assert.match(summary, /^[A-Z].*\.$/s, name)
        if (results.length > 1 && name !== "help") assert.isTrue(results.every(({ when }) => when !== undefined), name)
        if (OPEN.has(name)) continue
        assert.deepStrictEqual(
          results.flatMap(({ schema }) => vagueParts(describedBy(schema))),
          MIXED.get(name) ?? [],
          name
        )
      }
    }))

  it.effect("have working examples", () =>
    Effect.gen(function*() {
      const { call, lifecycle, methods } = yield* MethodNode
      const inOrder = [...methods.values()].sort((a, b) => LAST.indexOf(a.name) - LAST.indexOf(b.name))
      for (const { examples, group, name } of inOrder) {
        if (group !== "Hidden") assert.isNotEmpty(examples, name)
        for (const params of ELSEWHERE.has(name) ? [] : examples) {
          const code = yield* Effect.match(
            WAITING.has(name) ? whileTimePasses(call(name, ...params)) : call(name, ...params),
            {
              onSuccess: () => 0,
              onFailure: (error) => error.code
            }
          )
          // Examples are for the main network: here their blocks and names do not exist.
          const allowed = REFUSED.get(name) ?? [0, RPC_CODE.invalidAddressOrKey, RPC_CODE.wallet]
          assert.include(allowed, code, `${name} ${JSON.stringify(params)}`)
        }
      }
      assert.strictEqual(lifecycle.phase()._tag, "Stopping", "after the example of stop")
    }), 60_000)

  it.effect("have a help text that begins with the synopsis", () =>
    Effect.gen(function*() {
      const { call, methods } = yield* MethodNode
      for (const name of methods.keys()) {
        const { value, when } = yield* call("help", name)
        assert.isUndefined(when)
        assert.isTrue(String(value).startsWith(name), name)
      }
      assert.strictEqual(
        (yield* call("help", "dump_all_command_conversions")).when,
        "command is dump_all_command_conversions"
      )
      const index = String((yield* call("help")).value)
      for (const line of index.split("\n")) assert.match(line, /^(== [A-Z][A-Za-z ]+ ==|[a-z_.]+( .*)?|)$/)
      assert.match(index, /^== Names ==$/m)
      assert.notMatch(index, /^(echo|invalidateblock)/m)
    }))
})

const blocks = fixtureBlocks("regtest-names/blocks.dat")
const known = blocks.slice(-3).flatMap(({ hash, transactions }) => [hash, ...transactions.map(({ txid }) => txid)])

/** JSON values, some of which are meaningful to one method or another. */
const value: FastCheck.Arbitrary<unknown> = FastCheck.oneof(
  FastCheck.constantFrom(...known.map(displayHash)),
  FastCheck.constantFrom<unknown>(
    "d/x",
    "hex",
    "none",
    "muhash",
    "",
    "00",
    "51",
    "6a8c",
    null,
    true,
    false,
    0,
    1,
    2,
    -1,
    {},
    []
  ),
  FastCheck.constantFrom(2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 63), 1e300, 0.1),
  FastCheck.record({
    nameEncoding: FastCheck.constantFrom("hex", "utf8", "ascii", 5),
    allowExpired: FastCheck.boolean(),
    byHash: FastCheck.constantFrom("sha256d", "direct"),
    minConf: FastCheck.integer(),
    maxConf: FastCheck.integer(),
    prefix: FastCheck.string(),
    regexp: FastCheck.string()
  }, { requiredKeys: [] }),
  FastCheck.jsonValue()
)

/** Methods with no effect on the others; `stop` waits as long as its argument sets. */
const HARMLESS = METHODS.filter((name) =>
  !["stop", "invalidateblock", "reconsiderblock", ...LAST, ...ELSEWHERE, ...WAITING].includes(name)
)

/** Milliseconds for one call of the random ones, so that one that never ends is named. */
const CALL_LIMIT = 30_000

/** No call ends in a defect or an internal error. */
const neverBreaks = (callText: Calls["callText"]) => {
  const given = FastCheck.oneof(
    FastCheck.array(value, { maxLength: 4 }),
    FastCheck.dictionary(
      FastCheck.constantFrom("name", "options", "txid", "blockhash", "verbosity", "height", "x"),
      value
    )
  )
  return FastCheck.asyncProperty(FastCheck.constantFrom(...HARMLESS), given, async (name, params) => {
    const text = JSON.stringify(params)
    // Half a surrogate pair is not JSON for our reader: the dispatcher refuses it before a method is called.
    FastCheck.pre(!/\\ud[89a-f]/i.test(text))
    const answered = Effect.match(callText(name, text), { onSuccess: () => undefined, onFailure: (error) => error })
    const refused = await Effect.runPromise(answered, { signal: AbortSignal.timeout(CALL_LIMIT) })
    // As Core: an earlier call may have left a transaction in the mempool.
    if (refused?.message.startsWith("Unable to load UTXO snapshot") === true) return
    assert.notStrictEqual(refused?.code, RPC_CODE.internalError, refused?.message)
  })
}

layer(methodNode({ txIndex: true, wallets: true }))("whatever they are given", (it) => {
  it.effect(
    "the methods answer as documented, or refuse the call with a caller's error code",
    () =>
      Effect.gen(function*() {
        const { callText } = yield* MethodNode
        yield* Effect.promise(() => FastCheck.assert(neverBreaks(callText), { numRuns: 2_000, endOnFailure: true }))
      }),
    120_000
  )
})
