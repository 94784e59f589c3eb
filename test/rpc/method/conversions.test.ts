import { assert, describe, it } from "@effect/vitest"
import { looksSecret } from "../../../src/programs/tool/secrets.ts"
import { CONTRACTS } from "../../../src/rpc/contract/all.ts"
import { encodeJson, type JsonValue } from "../../../src/rpc/json/encodeJson.ts"
import { JsonObject } from "../../../src/rpc/json/json.ts"
import { byName, byPosition } from "../../../src/rpc/method/conversions.ts"
import { conversions } from "../../../src/rpc/method/help.ts"

const text = (params: ReturnType<typeof byPosition> | ReturnType<typeof byName>): string =>
  "_tag" in params ? `bad: ${params.argument}` : encodeJson(params instanceof JsonObject ? params : [...params])

describe("byPosition", () => {
  it.each<readonly [string, ReadonlyArray<string>, JsonValue]>([
    ["getblockhash", ["7"], "[7]"],
    ["getblockhash", ["zero"], "bad: zero"],
    ["name_show", ["123"], "[\"123\"]"],
    ["name_show", ["d/x", "{\"nameEncoding\":\"hex\"}"], "[\"d/x\",{\"nameEncoding\":\"hex\"}]"],
    ["name_show", ["true", "{}"], "[\"true\",{}]"],
    ["name_scan", ["d/", "5", "{\"prefix\": \"d/\"}"], "[\"d/\",5,{\"prefix\":\"d/\"}]"],
    ["name_update", ["d/x", "{\"ip\":\"1.2.3.4\"}"], "[\"d/x\",\"{\\\"ip\\\":\\\"1.2.3.4\\\"}\"]"],
    ["name_firstupdate", ["d/x", "00", "11", "5", "{}", "true"], "[\"d/x\",\"00\",\"11\",\"5\",{},true]"],
    ["sendtoaddress", ["addr", "0.10", "12", "null"], "[\"addr\",0.10,\"12\",\"null\"]"],
    ["getblock", ["00", "2"], "[\"00\",2]"],
    ["getblock", ["00", "true"], "[\"00\",true]"],
    ["getblockstats", ["7"], "[7]"],
    ["getblockstats", ["00ab"], "[\"00ab\"]"],
    ["createrawtransaction", ["[]", "{\"a\":0.1}"], "[[],{\"a\":0.1}]"],
    ["echo", ["1"], "[\"1\"]"],
    ["name_autorenew", ["null", "true"], "[null,true]"],
    ["name_autorenew", ["7", "true"], "[\"7\",true]"],
    ["name_show", ["null"], "[\"null\"]"],
    ["echojson", ["1"], "[1]"],
    ["getblockcount", ["1", "x"], "[1,\"x\"]"],
    ["unknown", ["1", "x", "{\"a\":1}", "{a}"], "[1,\"x\",{\"a\":1},\"{a}\"]"],
    ["__proto__", ["1"], "[1]"],
    ["help", [], "[]"]
  ])("%s %j → %s", (method, args, expected) => {
    assert.strictEqual(text(byPosition(method, args)), expected)
  })
})

describe("byName", () => {
  it.each<readonly [string, ReadonlyArray<string>, JsonValue]>([
    ["getblockhash", ["height=7"], "{\"height\":7}"],
    ["getblockhash", ["height=x"], "bad: x"],
    ["getblock", ["blockhash=12", "verbose=false"], "{\"blockhash\":\"12\",\"verbose\":false}"],
    ["getblock", ["12", "verbosity=2"], "{\"verbosity\":2,\"args\":[\"12\"]}"],
    ["name_update", ["d/x", "value=a=b"], "{\"value\":\"a=b\",\"args\":[\"d/x\"]}"],
    ["name_show", ["name=123", "options={}"], "{\"name\":\"123\",\"options\":{}}"],
    ["name_update", ["name=d/x", "vlaue={}"], "{\"name\":\"d/x\",\"vlaue\":{}}"],
    ["name_update", ["d/x", "vlaue=v"], "{\"vlaue\":\"v\",\"args\":[\"d/x\"]}"],
    ["name_autorenew", ["name=null", "on=true"], "{\"name\":null,\"on\":true}"],
    ["getnewaddress", ["label=a", "b=c"], "{\"label\":\"a\",\"args\":[\"b=c\"]}"],
    ["createwallet", ["my=wallet"], "{\"args\":[\"my=wallet\"]}"],
    ["listunspent", ["minconf=0", "minimumAmount=0.10"], "{\"minconf\":0,\"minimumAmount\":0.10}"],
    ["gettxoutproof", ["[\"a=b\"]"], "{\"args\":[[\"a=b\"]]}"],
    ["dumptxoutset", ["path=x", "rollback=00ab"], "{\"path\":\"x\",\"rollback\":\"00ab\"}"],
    ["unknown", ["a=1", "b=x", "c"], "{\"a\":1,\"b\":\"x\",\"args\":[\"c\"]}"],
    ["getblockhash", ["depth=1"], "{\"depth\":1}"],
    ["getblockcount", [], "{}"]
  ])("%s %j → %s", (method, args, expected) => {
    assert.strictEqual(text(byName(method, args)), expected)
  })
})

describe("the arguments of the command line", () => {
  it("agree with the conversions that the node tells, by position and by name", () => {
    const contracts = new Map(CONTRACTS.map((contract) => [contract.name, contract]))
    for (const [method, position, name, isText] of conversions(contracts)) {
      const options = Object.values(contracts.get(method)?.params ?? {})[position]
      const expected = isText ? "\"1\"" : "1"
      const args = Array.from({ length: position + 1 }, () => "1")
      const values = byPosition(method, args)
      const value = "_tag" in values ? undefined : values[position]
      const named = byName(method, [`${name}=1`])
      const whole = `${method} ${position} ${name}`
      // A member of an options object has no position of its own.
      if (!(options?.membersByName === true && name in (options.members ?? {}))) {
        assert.strictEqual(encodeJson(value ?? null), expected, whole)
      }
      assert.strictEqual(text(named), `{"${name}":${expected}}`, whole)
    }
  })
})

describe("looksSecret", () => {
  const WIF = "L1aW4aubDFB7yfras2S1mN3bqg9nwySY8nkoLmJebSLD5BWv3ENZ"
  const XPRV =
    `xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi`
  const changed = (key: string, at: number, to: string): string => key.slice(0, at) + to + key.slice(at + 1)

  it("knows a private key with one wrong character, also one that Base58 does not have, and with one too few or too many", () => {
    for (const key of [WIF, XPRV]) {
      const slips = [...key].flatMap((_, at) =>
        ["0", "O", "I", "l", "7"].map((to) => changed(key, at, to)).concat(changed(key, at, ""), changed(key, at, "aa"))
      )
      for (const slip of [key, ...slips]) {
        for (const text of [slip, `["${slip}"]`, `keys=${slip}`]) assert.isTrue(looksSecret(text), text)
      }
    }
  })

  it("knows twelve recovery words, even in JSON, in capitals or with one misspelt", () => {
    const words = `${"abandon ".repeat(11)}about`
    for (
      const text of [
        words,
        words.toUpperCase(),
        `["${words}"]`,
        words.replace("abandon", "abando"),
        words.replaceAll(" ", ", ")
      ]
    ) {
      assert.isTrue(looksSecret(text), text)
    }
  })

  it("lets txids, addresses, names and sentences pass", () => {
    const txid = "ab".repeat(32)
    const plain = [
      txid,
      `["${txid}"]`,
      "N1KHAL5C1CRzy58NdJwp1tbLze3XrkFxx9",
      `nc1${"q".repeat(39)}`,
      "d/example",
      "{\"ip\":\"192.0.2.1\"}",
      "{\"info\":{\"about\":\"the pages of a small shop that has been in this street for more than ten years\"}}"
    ]
    for (const text of plain) assert.isFalse(looksSecret(text), text)
  })
})
