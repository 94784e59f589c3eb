import { randomBytes } from "node:crypto"
import { regtestParams } from "../../src/consensus/params.ts"
import { encodeAddress } from "../../src/protocol/address.ts"
import { concat, toHex } from "../../src/protocol/bytes.ts"
import { type Psbt, psbtOf } from "../../src/protocol/psbt/Psbt.ts"
import { makeTransaction, NO_WITNESS, type Transaction } from "../../src/protocol/transaction.ts"
import { encodeWif } from "../../src/protocol/wif.ts"
import { psbtText } from "../../src/wallet/signing/psbtText.ts"
import { pause } from "../bench/nodeProcess.ts"
import type { Attack } from "./catalogue.ts"
import type { Field } from "./Field.ts"

const { network } = regtestParams

/** An output to a hash without a known key. */
const KEY_OUTPUT = concat(Uint8Array.of(0, 20), new Uint8Array(20))

/** Bytes of the largest body that is accepted, less room for the text around an argument. */
const BODY = 32 * 1024 * 1024
const ARGUMENT = BODY - 1_000

/** Seconds of each attack. */
const SECONDS = 6

/** A request with a body, as it travels. */
const request = (body: string | Buffer, authorization?: string): Buffer => {
  const bytes = Buffer.from(body)
  const credentials = authorization === undefined
    ? ""
    : `Authorization: Basic ${Buffer.from(authorization).toString("base64")}\r\n`
  return Buffer.concat([
    Buffer.from(`POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n${credentials}Content-Length: ${bytes.length}\r\n\r\n`),
    bytes
  ])
}

const call = (method: string, ...params: ReadonlyArray<unknown>): string => JSON.stringify({ id: 1, method, params })

const batch = (count: number, make: (i: number) => string): string =>
  `[${Array.from({ length: count }, (_, i) => make(i)).join(",")}]`

/** Milliseconds without a byte after which an answer counts as complete. */
const QUIET = 200

/** Callers that repeat a request, and discard the answers. */
const asking = (field: Field, callers: number, what: Buffer): Promise<void> =>
  field.each(callers, async () => {
    const socket = await field.caller()
    if (socket === undefined || !await field.write(socket, what)) return
    await new Promise<void>((resolve) => {
      let quiet: NodeJS.Timeout | undefined
      socket.once("close", () => resolve())
      socket.on("data", () => {
        clearTimeout(quiet)
        quiet = setTimeout(resolve, QUIET)
      })
    })
    socket.destroy()
  })

/** Callers that never read the answer. */
const neverReading = (field: Field, callers: number, what: Buffer): Promise<void> =>
  field.each(callers, async () => {
    const socket = await field.caller()
    if (socket === undefined) return
    socket.pause()
    if (await field.write(socket, what)) await field.closed(socket)
  })

interface Question {
  /** The name of the attack, after "rpc: ". */
  readonly name: string
  readonly callers: number
  readonly body: (field: Field) => string
  readonly short?: true
  readonly unread?: true
}

/** A transaction with so many inputs and outputs, all alike; the coins that it spends are unknown. */
const large = (count: number): Transaction =>
  makeTransaction({
    version: 2,
    inputs: Array.from({ length: count }, () => ({
      prevout: concat(randomBytes(32), new Uint8Array(4)),
      scriptSig: new Uint8Array(0),
      sequence: 0xfffffffd,
      witness: NO_WITNESS
    })),
    outputs: Array.from({ length: count }, () => ({ value: 1_000, script: KEY_OUTPUT })),
    lockTime: 0
  })

/** A PSBT that declares what its inputs spend. */
const withCoins = (psbt: Psbt): Psbt => ({
  ...psbt,
  inputs: psbt.inputs.map((input) => ({ ...input, witnessUtxo: { value: 5_000, script: KEY_OUTPUT } }))
})

const outpoints = (count: number) =>
  Array.from({ length: count }, () => ({ txid: randomBytes(32).toString("hex"), vout: 0 }))

const addresses = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, () => encodeAddress(network, { kind: "pubkeyhash", hash: randomBytes(20) }))

const keys = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, () => encodeWif(network, { privateKey: randomBytes(32), compressed: true }))

/** Public keys of a test network: the same key with other branches. */
const PARENT =
  "tpubD6NzVbkrYhZ4XgiXtGrdW5XDAPFCL9h7we1vwNCpn8tGbBcgfVYjXyhWo4E1xkh56hjod1RhGjxbaTLV3X4FyWuejifB9jusQ46QzG87VKp"

/** A descriptor of many keys. */
const rangedOf = (branch: number): string => `wpkh(${PARENT}/${branch}/*)`

const blocks = ({ target: { hashes } }: Field, count: number): string =>
  batch(count, (i) => call("getblock", hashes[1 + i % 600], 2))

const QUESTIONS: ReadonlyArray<Question> = [
  {
    name: "decodescript of 31 MB",
    callers: 2,
    short: true,
    body: () => call("decodescript", "51".repeat(ARGUMENT / 2))
  },
  {
    name: "decodescript of a push of 31 MB",
    callers: 2,
    body: () => call("decodescript", `4e0000f000${"00".repeat(ARGUMENT / 2)}`)
  },
  {
    name: "decoderawtransaction of 31 MB",
    callers: 2,
    body: () => call("decoderawtransaction", `0200000000${"00".repeat(ARGUMENT / 2)}`)
  },
  { name: "submitblock of 31 MB", callers: 2, body: () => call("submitblock", "01".repeat(ARGUMENT / 2)) },
  { name: "decodepsbt of 31 MB", callers: 2, body: () => call("decodepsbt", `cHNidP8B${"A".repeat(ARGUMENT)}`) },
  {
    name: "getdescriptorinfo of 31 MB",
    callers: 2,
    body: () => call("getdescriptorinfo", `${"sh(".repeat(ARGUMENT / 4)}${")".repeat(ARGUMENT / 4)}`)
  },
  { name: "verifymessage of 31 MB", callers: 2, body: () => call("verifymessage", "a", "b", "c".repeat(ARGUMENT)) },
  {
    name: "validateaddress of 31 MB",
    callers: 2,
    body: () => call("validateaddress", "1".repeat(ARGUMENT))
  },
  {
    name: "2,000 rpc.discover in a batch",
    callers: 2,
    short: true,
    body: () => batch(2_000, () => call("rpc.discover"))
  },
  { name: "20,000 getblock 2 in a batch", callers: 2, short: true, body: (field) => blocks(field, 20_000) },
  { name: "1,000 gettxoutsetinfo in a batch", callers: 4, body: () => batch(1_000, () => call("gettxoutsetinfo")) },
  {
    name: "2,000 name_scan of everything in a batch",
    callers: 4,
    body: () => batch(2_000, () => call("name_scan", "", 1_000_000))
  },
  {
    name: "10,000 name_history in a batch",
    callers: 4,
    body: ({ target }) => batch(10_000, () => call("name_history", target.name))
  },
  {
    name: "10,000 getrawmempool true in a batch",
    callers: 4,
    body: () => batch(10_000, () => call("getrawmempool", true))
  },
  {
    name: "2,000 getblocktemplate in a batch",
    callers: 4,
    body: () => batch(2_000, () => call("getblocktemplate", { rules: ["segwit"] }))
  },
  {
    name: "decodepsbt of 20,000 inputs and outputs",
    callers: 4,
    short: true,
    body: () => call("decodepsbt", psbtText(psbtOf(large(20_000))))
  },
  {
    name: "joinpsbts of 20,000 inputs and outputs",
    callers: 4,
    body: () => call("joinpsbts", [large(10_000), large(10_000)].map((each) => psbtText(psbtOf(each))))
  },
  {
    name: "finalizepsbt of 20,000 inputs and outputs",
    callers: 4,
    body: () => call("finalizepsbt", psbtText(withCoins(psbtOf(large(20_000)))))
  },
  {
    name: "createrawtransaction of 10,000 inputs and outputs",
    callers: 4,
    body: () => call("createrawtransaction", outpoints(10_000), addresses(10_000).map((each) => ({ [each]: 0.001 })))
  },
  {
    name: "gettxspendingprevout of 15,000 outputs",
    callers: 4,
    body: () => call("gettxspendingprevout", outpoints(15_000))
  },
  {
    name: "signrawtransactionwithkey of 5,000 keys",
    callers: 4,
    body: () => call("signrawtransactionwithkey", toHex(large(1).bytes), keys(5_000))
  },
  { name: "a string of millions of escapes", callers: 4, body: () => call("echo", "\n".repeat(ARGUMENT / 5)) },
  { name: "2,000 help in a batch", callers: 4, body: () => batch(2_000, () => call("help")) },
  { name: "a million empty calls in a batch", callers: 2, body: () => batch(1_000_000, () => "{}") },
  { name: "31 MB of brackets", callers: 2, body: () => "[".repeat(ARGUMENT) },
  {
    name: "an object with millions of keys",
    callers: 2,
    body: () => `{${Array.from({ length: 2_500_000 }, (_, i) => `"${i}":0`).join(",")}}`
  },
  {
    name: "200 descriptors of range 100,000",
    callers: 4,
    body: () =>
      call("scantxoutset", "start", Array.from({ length: 200 }, (_, i) => ({ desc: rangedOf(i), range: 100_000 })))
  },
  {
    name: "regular expressions that take long to compile",
    callers: 16,
    body: () => call("name_scan", "", 10, { regexp: "(x{1,1000}|y{1,1000})".repeat(24) })
  },
  {
    name: "600 calls that wait for a block",
    callers: 600,
    body: () => call("waitfornewblock", 0)
  },
  {
    name: "long answers that are never read",
    callers: 100,
    unread: true,
    short: true,
    body: (field) => blocks(field, 2_000)
  }
]

const questions: ReadonlyArray<Attack> = QUESTIONS.map(({ body, callers, name, short = false, unread }) => ({
  name: `rpc: ${name}`,
  seconds: SECONDS,
  short,
  prepare: (field) => {
    const bytes = request(body(field))
    return () => unread === true ? neverReading(field, callers, bytes) : asking(field, callers, bytes)
  }
}))

/** Connections that hold as much as they can, with room for honest callers: 512 may be open. */
const HOLDING = 400

/** The credentials, which only the honest caller knows. */
const AUTHORIZATION = "honest:caller"

/** Milliseconds between two bytes of a slow body. */
const SLOWLY = 100

const page = (path: string): Buffer =>
  Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/html\r\n\r\n`)

/** Readers of a page. */
const READERS = 30

const pages: ReadonlyArray<Attack> = ["/mempool", "/blocks", "/activity", "/names", "/?q=aaaaa"].map((path) => ({
  name: `pages: ${READERS} readers of ${path}`,
  seconds: SECONDS,
  prepare: (field) => () => asking(field, READERS, page(path))
}))

const others: ReadonlyArray<Attack> = [
  {
    name: "rpc: bodies that never end",
    seconds: SECONDS,
    prepare: (field) => {
      const begun = request(Buffer.alloc(BODY, 0x20)).subarray(0, -1)
      return () =>
        field.each(HOLDING, async () => {
          const socket = await field.caller()
          if (socket === undefined) return
          socket.resume()
          if (await field.write(socket, begun)) await field.closed(socket)
        })
    }
  },
  {
    name: "rpc: slow bodies",
    seconds: SECONDS,
    prepare: (field) => {
      const whole = request(call("uptime").padEnd(60_000))
      return () =>
        field.each(HOLDING, async () => {
          const socket = await field.caller()
          if (socket === undefined) return
          socket.resume()
          for (const byte of whole) {
            if (!await field.write(socket, Uint8Array.of(byte))) return
            await pause(SLOWLY)
          }
        })
    }
  },
  {
    name: "rpc: wrong passwords",
    seconds: SECONDS,
    authorization: AUTHORIZATION,
    prepare: (field) => {
      const wrong = request(call("uptime"), "honest:guess")
      return () => asking(field, 200, wrong)
    }
  }
]

export const rpcAttacks: ReadonlyArray<Attack> = [...questions, ...pages, ...others]
