// The examples of docs/rpc.md: calls on the chain of test/fixtures/regtest-names, with their answers.

import * as Effect from "effect/Effect"
import { encodeJson, encodeString } from "../../build/src/rpc/json/encodeJson.js"
import { JsonNumber, JsonObject } from "../../build/src/rpc/json/json.js"
import { parseJson } from "../../build/src/rpc/json/readJson.js"
import { block } from "./shapes.mjs"

const NAME = "d/kelp38c6"
const TXID = "83595cf06cdb702d224d7091b59742f5e9eec7dab2b41e8030d99a2a0bb5b295"
const NAME_SCRIPT = "5303642f6201316d7576a914333333333333333333333333333333333333333388ac"
const FIRST_BLOCK = "getblockhash 1"
const PAYMENT = "01000000000140420f00000000001976a914d5e3d1e149ac4ed83061077faa6d8d92152938c088ac00000000"

const EXAMPLES = {
  decoderawtransaction: [[PAYMENT]],
  decodescript: [[NAME_SCRIPT]],
  getbestblockhash: [[]],
  getblock: [[FIRST_BLOCK], [FIRST_BLOCK, 0], ["ab".repeat(32)]],
  getblockchaininfo: [[]],
  getblockcount: [[]],
  getblockhash: [[0], [601]],
  getblockheader: [[FIRST_BLOCK, false]],
  getchaintips: [[]],
  getcheckinfo: [[]],
  getconnectioncount: [[]],
  getdeploymentinfo: [[]],
  getdifficulty: [[]],
  getsyncstatus: [[]],
  getinfo: [[]],
  getmemoryinfo: [[]],
  getindexinfo: [[]],
  getmempoolinfo: [[]],
  getpeerinfo: [[]],
  getrawmempool: [[]],
  getrawtransaction: [[TXID], [TXID, 1], ["ab".repeat(32)]],
  gettxout: [[TXID, 0], [TXID, 9]],
  gettxoutsetinfo: [[]],
  help: [["getblockcount"]],
  name_checkdb: [[]],
  name_history: [[NAME]],
  name_scan: [["d/", 2, { prefix: "d/" }], ["", 1, { regexp: "(" }]],
  name_show: [[NAME], [NAME, { valueEncoding: "hex" }], ["d/absent"]],
  name_pending: [[]],
  submitblock: [["c0ffee"]],
  validateaddress: [["n11u97aH3ncjKCvJ6dQ1VuEBjgW1ighwvV"], ["nowhere"]]
}

/** Replaces figures of the disk and the clock, which differ in every run. */
const steady = (text) => text.replace(/"(size_on_disk|disk_size|duration)":\d+/g, "\"$1\":466944")

const cut = (text, most) => text.length > most ? `${text.slice(0, most - 12)}…${text.slice(-8)}` : text

const printed = (json, indent = "") => {
  const whole = encodeJson(json)
  if (json === null || typeof json === "boolean" || json instanceof JsonNumber) return whole
  if (typeof json === "string") return encodeString(cut(json, 96))
  if (whole.length + indent.length < 100 && !/"[^"]{97}/.test(whole)) return whole
  const inner = `${indent}  `
  const lines = json instanceof JsonObject
    ? json.keys.map((key, at) => `${encodeString(key)}: ${printed(json.values[at] ?? null, inner)}`)
    : [...json.slice(0, 3).map((item) => printed(item, inner)), ...(json.length > 3 ? ["…"] : [])]
  const [open, close] = json instanceof JsonObject ? "{}" : "[]"
  return `${open}\n${lines.map((line) => inner + line).join(",\n")}\n${indent}${close}`
}

const shellWord = (value) => {
  const text = typeof value === "string" ? cut(value, 96) : JSON.stringify(value)
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text}'`
}

/** The calls of a method with the answers that they get; without answers where the table above has none. */
export const example = (call, firstBlock, method) =>
  Effect.gen(function*() {
    const lines = []
    for (const given of EXAMPLES[method.name] ?? []) {
      const params = given.map((param) => param === FIRST_BLOCK ? firstBlock : param)
      lines.push(`> svcd-cli ${[method.name, ...params.map(shellWord)].join(" ")}`)
      const answer = yield* Effect.either(call(method, params))
      if (answer._tag === "Left") lines.push(`error ${answer.left.code}: ${answer.left.message}`)
      else if (typeof answer.right === "string") {
        lines.push(answer.right.includes("\n") ? answer.right : cut(answer.right, 120))
      } else lines.push(...printed(parseJson(steady(encodeJson(answer.right)))).split("\n"))
    }
    if (lines.length > 0) return block("", lines)
    const calls = method.examples.map((params) => `> svcd-cli ${[method.name, ...params.map(shellWord)].join(" ")}`)
    return calls.length === 0 ? [] : block("", calls)
  })
