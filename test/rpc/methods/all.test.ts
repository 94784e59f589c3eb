import { assert, layer } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import { displayHash } from "../../../src/protocol/bytes.ts"
import { RPC_CODE } from "../../../src/rpc/RpcError.ts"
import type { Shape } from "../../../src/rpc/shape.ts"
import { fixtureBlocks } from "../../support/chainFixture.ts"
import { type Calls, MethodNode, methodNode } from "../../support/methodNode.ts"

/** What there is so far. */
const METHODS = [
  "addconnection",
  "addnode",
  "analyzepsbt",
  "clearbanned",
  "combinepsbt",
  "combinerawtransaction",
  "converttopsbt",
  "createauxblock",
  "createmultisig",
  "createpsbt",
  "createrawtransaction",
  "decodepsbt",
  "decoderawtransaction",
  "decodescript",
  "deriveaddresses",
  "disconnectnode",
  "echo",
  "echoipc",
  "echojson",
  "estimaterawfee",
  "estimatesmartfee",
  "finalizepsbt",
  "generate",
  "generateblock",
  "generatetoaddress",
  "generatetodescriptor",
  "getaddednodeinfo",
  "getaddrmaninfo",
  "getbestblockhash",
  "getblock",
  "getblockchaininfo",
  "getblockcount",
  "getblockhash",
  "getblockheader",
  "getblocktemplate",
  "getchaintips",
  "getconnectioncount",
  "getdeploymentinfo",
  "getdescriptorinfo",
  "getdifficulty",
  "getindexinfo",
  "getinfo",
  "getmemoryinfo",
  "getmempoolancestors",
  "getmempoolcluster",
  "getmempooldescendants",
  "getmempoolentry",
  "getmempoolfeeratediagram",
  "getmempoolinfo",
  "getmininginfo",
  "getnettotals",
  "getnetworkhashps",
  "getnetworkinfo",
  "getnodeaddresses",
  "getpeerinfo",
  "getprioritisedtransactions",
  "getrawmempool",
  "getrawtransaction",
  "getrpcinfo",
  "gettxout",
  "gettxoutsetinfo",
  "gettxspendingprevout",
  "help",
  "invalidateblock",
  "joinpsbts",
  "listbanned",
  "mockscheduler",
  "name_checkdb",
  "name_history",
  "name_pending",
  "name_scan",
  "name_show",
  "namepsbt",
  "namerawtransaction",
  "ping",
  "prioritisetransaction",
  "reconsiderblock",
  "rpc.discover",
  "savemempool",
  "sendrawtransaction",
  "setban",
  "setmocktime",
  "setnetworkactive",
  "signmessagewithprivkey",
  "signrawtransactionwithkey",
  "stop",
  "submitauxblock",
  "submitblock",
  "submitheader",
  "syncwithvalidationinterfacequeue",
  "testmempoolaccept",
  "uptime",
  "utxoupdatepsbt",
  "validateaddress",
  "verifymessage"
]

/** What the examples of some methods are refused with: what they send is cut short, or spends what is not there. */
const REFUSED: ReadonlyMap<string, ReadonlyArray<number>> = new Map([
  ["submitblock", [RPC_CODE.deserialization]],
  ["sendrawtransaction", [RPC_CODE.verifyError]],
  ["submitauxblock", [RPC_CODE.invalidParameter]],
  ["submitheader", [RPC_CODE.deserialization]],
  ["getblocktemplate", [0, RPC_CODE.deserialization]],
  ["getnetworkhashps", [0, RPC_CODE.invalidParameter]]
])

/** Results that can be anything: what a caller sent, and a document with a schema of its own. */
const OPEN = new Set(["echo", "echojson", "help", "rpc.discover"])

const vagueParts = (shape: Shape, path = "result"): ReadonlyArray<string> => {
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
  it.effect("are these", () =>
    Effect.gen(function*() {
      const { methods } = yield* MethodNode
      assert.deepStrictEqual([...methods.keys()].sort(), METHODS)
    }))

  it.effect("say what they answer, down to the last member", () =>
    Effect.gen(function*() {
      const { methods } = yield* MethodNode
      for (const { name, results, summary } of methods.values()) {
        assert.isNotEmpty(results, name)
        assert.match(summary, /^[A-Z].*\.$/s, name)
        if (results.length > 1 && name !== "help") assert.isTrue(results.every(({ when }) => when !== undefined), name)
        if (!OPEN.has(name)) assert.isEmpty(results.flatMap(({ shape }) => vagueParts(shape)), name)
      }
    }))

  it.effect("give examples that work", () =>
    Effect.gen(function*() {
      const { call, lifecycle, methods } = yield* MethodNode
      for (const { examples, group, name } of methods.values()) {
        if (group !== "Hidden") assert.isNotEmpty(examples, name)
        for (const params of examples) {
          const code = yield* Effect.match(call(name, ...params), {
            onSuccess: () => 0,
            onFailure: (error) => error.code
          })
          // Examples are of the main network: here their blocks and names do not exist.
          const allowed = REFUSED.get(name) ?? [0, RPC_CODE.invalidAddressOrKey, RPC_CODE.wallet]
          if (!allowed.includes(code)) console.log(`BAD ${code} ${name} ${JSON.stringify(params)}`)
        }
      }
      assert.strictEqual(lifecycle.phase()._tag, "Stopping", "after the example of stop")
    }))

  it.effect("explain themselves, beginning with the synopsis", () =>
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

/** JSON values, with those among them that mean something to one method or another. */
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

/** Those that change nothing; `stop` waits as long as it is told. */
const HARMLESS = METHODS.filter((name) => !["stop", "invalidateblock", "reconsiderblock"].includes(name))

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
    // Half a surrogate pair is no JSON to our reader; the dispatcher says so before a method is asked.
    FastCheck.pre(!/\\ud[89a-f]/i.test(text))
    const code = await Effect.runPromise(Effect.match(callText(name, text), {
      onSuccess: () => 0,
      onFailure: (error) => error.code
    }))
    assert.notStrictEqual(code, RPC_CODE.internalError)
  })
}

layer(methodNode({ txIndex: true, wallets: true }))("whatever they are given", (it) => {
  it.effect(
    "the methods answer as documented, or refuse it with a code that blames the caller",
    () =>
      Effect.gen(function*() {
        const { callText } = yield* MethodNode
        yield* Effect.promise(() => FastCheck.assert(neverBreaks(callText), { numRuns: 2_000 }))
      }),
    120_000
  )
})
