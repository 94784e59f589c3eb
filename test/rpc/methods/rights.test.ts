import { assert } from "@effect/vitest"
import { Effect, Either } from "effect"
import type { UserRight } from "../../../src/config/accessKinds.ts"
import { encodeAddress } from "../../../src/protocol/address.ts"
import { toHex } from "../../../src/protocol/bytes.ts"
import { parseNameScript } from "../../../src/protocol/nameOperation.ts"
import { networks } from "../../../src/protocol/networks.ts"
import type { Method } from "../../../src/rpc/method/methodTable.ts"
import type { Param } from "../../../src/rpc/method/params.ts"
import { RPC_CODE } from "../../../src/rpc/method/RpcError.ts"
import { layer } from "../../support/layer.ts"
import { type Calls, callsOf, MethodNode, methodNode } from "../../support/methodNode.ts"
import { filled, type Leaves } from "./filledParams.ts"

/** Calls every method as users with some of the rights, and looks for what they must not do and see. */

/** An address that no wallet here has. */
const STRANGER = encodeAddress(networks.regtest, { kind: "pubkeyhash", hash: new Uint8Array(20).fill(7) })

const NAME = "d/walked"

const LABEL = "the label of a shop"

/** The texts of parameters that lead furthest, by their names. */
const TEXTS: ReadonlyMap<string, string> = new Map([
  ["name", NAME],
  ["value", "{}"],
  ["nameEncoding", "ascii"],
  ["valueEncoding", "ascii"],
  ["type", "bech32"],
  ["address_type", "bech32"],
  ["label", LABEL],
  ["dummy", "*"]
])

/** Values that pay or give to the stranger wherever they can. */
const LEAVES: Leaves = {
  number: 1,
  text: (name) => TEXTS.get(name) ?? STRANGER,
  hex: "00".repeat(32),
  items: 1,
  key: STRANGER
}

/** The members of an object one at a time as well: one that is wrong would hide the others. */
const variants = (name: string, param: Param<unknown>): ReadonlyArray<unknown> => {
  const whole = filled(name, param, LEAVES)
  if (param.kind !== "object" || param.members === undefined) return [whole]
  return [
    whole,
    ...Object.entries(param.members).map(([member, each]) => ({ [member]: filled(member, each, LEAVES) }))
  ]
}

/** Calls of a method: its examples, and its parameters filled up to each position. */
const callsTo = ({ examples, params }: Method): ReadonlyArray<ReadonlyArray<unknown>> => {
  const entries = Object.entries(params)
  const plain = entries.map(([name, param]) => filled(name, param, LEAVES))
  const filledUp = entries.flatMap(([name, param], at) =>
    variants(name, param).map((last) => [...plain.slice(0, at), last])
  )
  return [[], ...examples, ...filledUp]
}

/** Methods that wait for blocks or words, or change which methods can be called afterwards. */
const LEFT_OUT = new Set([
  "checkrecoverywords",
  "encryptwallet",
  "mockscheduler",
  "setmocktime",
  "stop",
  "waitforblock",
  "waitforblockheight",
  "waitfornewblock"
])

const USERS: ReadonlyArray<ReadonlyArray<UserRight>> = [["read"], ["names"], ["read", "names"]]

/** Members that say what the wallet has, as a call answers with them: help has them with words. */
const OF_WALLET = /"(ismine|iswatchonly|balance|keypoolsize)":(true|false|\d)/

/**
 * What pays, signs with a key, or sends what is signed. A signature is as good as a payment, and no answer shows that it was not
 * to be made: so the list is here, and a method leaves it on purpose alone.
 */
const SPENDING = new Set([
  "abandontransaction",
  "bumpfee",
  "dequeuetransaction",
  "descriptorprocesspsbt",
  "fundrawtransaction",
  "lockunspent",
  "psbtbumpfee",
  "queuerawtransaction",
  "send",
  "sendall",
  "sendmany",
  "sendpsbt",
  "sendrawtransaction",
  "sendtoaddress",
  "sendtoname",
  "signmessage",
  "signmessagewithprivkey",
  "signrawtransactionwithkey",
  "signrawtransactionwithwallet",
  "submitpackage",
  "walletcreatefundedpsbt",
  "walletprocesspsbt"
])

/** The answers of all methods that a user may call, as texts. Errors count too: they may say as much. */
const walked = (methods: Iterable<Method>, { callText }: Calls) =>
  Effect.gen(function*() {
    const told: Array<readonly [method: string, text: string]> = []
    for (const method of methods) {
      if (LEFT_OUT.has(method.name)) continue
      for (const params of callsTo(method)) {
        const answer = yield* Effect.either(callText(method.name, JSON.stringify(params)))
        told.push([
          method.name,
          Either.match(answer, { onLeft: ({ message }) => message, onRight: ({ text }) => text })
        ])
      }
    }
    return told
  })

layer(methodNode({ blocks: false, txIndex: true, wallets: true }))("users with some of the rights", (it) => {
  it.effect(
    "pay no stranger without spend, and learn nothing of the wallet without names",
    () =>
      Effect.gen(function*() {
        const { call, methods, pool } = yield* MethodNode
        const own = String((yield* call("getnewaddress")).value)
        yield* call("generatetoaddress", 120, own)
        // A name of the wallet, about which others may ask.
        const [txid, rand] = Array.from(Object((yield* call("name_new", NAME)).value), String)
        yield* call("generatetoaddress", 12, own)
        yield* call("name_firstupdate", NAME, rand, txid, "{}")
        yield* call("generatetoaddress", 1, own)
        assert.propertyVal((yield* call("name_show", NAME)).value, "ismine", true)
        const hidden = String((yield* call("getnewaddress", LABEL)).value)
        const about: Record<string, unknown> = { ...Object((yield* call("getaddressinfo", hidden)).value) }
        const secrets = [hidden, String(about["scriptPubKey"]), LABEL]
        for (const user of USERS) {
          const told = yield* walked(methods.values(), callsOf(methods, new Set(user)))
          const paid = pool.chunks().flatMap(({ entries }) => entries).flatMap(({ transaction }) =>
            transaction.outputs.filter(({ script }) => toHex(script).includes("07".repeat(20)))
          )
          // The coin that is locked in a name goes with the name.
          const plain = paid.filter(({ script }) => parseNameScript(script) === undefined)
          assert.deepStrictEqual(plain, [], `paid by a user with ${user.join(" and ")}`)
          if (user.includes("names")) {
            assert.isAbove(pool.chunks().length, 0, "an update of a name was sent")
            continue
          }
          const owned: Array<string> = []
          for (const [method, text] of told) {
            for (const secret of secrets) {
              assert.notInclude(text, secret, `${method} to a user with ${user.join(" and ")}`)
            }
            if (OF_WALLET.test(text)) owned.push(method)
          }
          assert.deepStrictEqual(owned, [], `what is of the wallet, to a user with ${user.join(" and ")}`)
        }
        const payer = callsOf(methods, new Set<UserRight>(["names", "spend"]))
        assert.isDefined((yield* payer.call("name_new", "d/payer", { sendCoins: { [STRANGER]: 1 } })).value)
      }),
    120_000
  )

  it.effect("are refused a parameter that needs more than its method, in every form", () =>
    Effect.gen(function*() {
      const { methods } = yield* MethodNode
      const namer = callsOf(methods, new Set<UserRight>(["names"]))
      const pay = { sendCoins: { [STRANGER]: 1 } }
      const forms: ReadonlyArray<readonly [string, unknown]> = [
        ["name_new", ["d/form", pay]],
        ["name_new", { name: "d/form", options: pay }],
        ["name_new", { args: ["d/form", pay] }],
        ["name_firstupdate", ["d/form", null, null, "{}", pay]],
        ["name_update", ["d/form", "{}", { sendCoins: {} }]],
        ["name_autoregister", ["d/form", "{}", pay]]
      ]
      for (const [method, params] of forms) {
        const { code } = yield* namer.refusalOfText(method, JSON.stringify(params))
        assert.strictEqual(code, RPC_CODE.methodNotFound, `${method} ${JSON.stringify(params)}`)
      }
    }))

  it.effect("see the members of getinfo about the wallet with names alone", () =>
    Effect.gen(function*() {
      const { methods } = yield* MethodNode
      const seenBy = (...rights: ReadonlyArray<UserRight>) =>
        Effect.map(
          callsOf(methods, new Set(rights)).call("getinfo"),
          ({ value }) => ["balance", "keypoolsize", "walletversion"].filter((member) => member in Object(value))
        )
      assert.deepStrictEqual(yield* seenBy("read"), [])
      assert.deepStrictEqual(yield* seenBy("read", "spend", "admin"), [])
      assert.deepStrictEqual(yield* seenBy("read", "names"), ["balance", "keypoolsize", "walletversion"])
    }))

  it.effect("spend with no other right than spend", () =>
    Effect.gen(function*() {
      const { methods } = yield* MethodNode
      for (const { name, right } of methods.values()) {
        // What only the operator may do can pay too.
        if (SPENDING.has(name)) assert.strictEqual(right, "spend", name)
        else assert.notStrictEqual(right, "spend", name)
      }
      for (const name of SPENDING) assert.isTrue(methods.has(name), name)
    }))

  it.effect("have no wallet behind read: what a method says of one needs names", () =>
    Effect.gen(function*() {
      const { methods } = yield* MethodNode
      const right = (name: string) => methods.get(name)?.right
      for (const name of ["listqueuedtransactions", "getprivatebroadcastinfo", "getwalletinfo", "name_pending"]) {
        assert.strictEqual(right(name), "names", name)
      }
      for (const { group, name, right } of methods.values()) {
        if (group === "Wallet") assert.notStrictEqual(right, "read", name)
        if (group === "Hidden") continue
        // A method without a decision is closed to users with other rights.
        assert.include(["read", "names", "spend", "admin"], right, name)
      }
    }))
})
