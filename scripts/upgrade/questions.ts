import { Struct } from "effect"
import { createHash } from "node:crypto"
import { type Answer, listOf, type Question, recordOf, type RpcClient, wholeText } from "../crash/rpc.ts"
import { NAMES, PASSPHRASE, SECOND } from "./fill.ts"

/** The clock of a fixture's node, seconds since 1970: its unconfirmed transactions are not too old then. */
export const FIXTURE_TIME = 1_750_000_000

/** The flags of a daemon of the fixture. */
export const FIXTURE_FLAGS: ReadonlyArray<string> = ["-maxpeers", "0", "-txindex", "-mocktime", String(FIXTURE_TIME)]

/** A call, the wallet that it goes to, and the answer: the text, or the SHA-256 of a long one. */
export interface Recorded {
  readonly wallet: string
  readonly question: Question
  readonly answer: string
}

/** Longest answer, in characters, that is kept as text: names, amounts and addresses fit; blocks are longer. */
const LONG = 1_000

/** The member that the rows of a method's answer have gained since 0.1.0, by method. */
const GAINED: Readonly<Record<string, string>> = { name_list: "outlook", name_registrations: "blocks_left" }

const withoutGained = (method: string, answer: Answer): Answer => {
  const gained = GAINED[method]
  if (gained === undefined || !("result" in answer) || !Array.isArray(answer.result)) return answer
  return { ...answer, result: answer.result.map((row) => Struct.omit(recordOf(row), gained)) }
}

/** An answer as it is recorded, without members that are new since 0.1.0. */
export const recordedAnswer = ([method]: Question, answer: Answer): string => {
  const text = wholeText(withoutGained(method, answer))
  return text.length <= LONG ? text : `${createHash("sha256").update(text).digest("hex")} of ${text.length} characters`
}

const walletQuestions = (wallet: string, addresses: ReadonlyArray<unknown>): ReadonlyArray<Question> => [
  ["getbalances"],
  ["listunspent", 0],
  ["listtransactions", "*", 1_000, 0, true],
  ["listlabels"],
  ["listlockunspent"],
  ["listreceivedbyaddress", 0, true],
  ["listaddressgroupings"],
  ["name_list"],
  ["name_registrations"],
  ["name_autorenew"],
  ...addresses.map((address): Question => ["getaddressinfo", address]),
  ...wallet === SECOND ? [["walletpassphrase", PASSPHRASE, 60] as const] : [],
  ...addresses.filter((address) => /^[mn]/.test(String(address))).map((address): Question => [
    "signmessage",
    address,
    "a message"
  ])
]

/** The questions to a node of the fixture: every block, name, transaction, address, and what is unconfirmed. */
const questionsOf = async (
  rpc: RpcClient,
  second: RpcClient
): Promise<ReadonlyArray<readonly [wallet: string, question: Question]>> => {
  const height = Number(await rpc.call("getblockcount"))
  const hashes = await Promise.all(Array.from({ length: height + 1 }, (_, at) => rpc.call("getblockhash", at)))
  const txids = (await Promise.all(hashes.map((hash) => rpc.call("getblock", hash)))).flatMap((block) =>
    listOf(recordOf(block)["tx"])
  )
  const node: ReadonlyArray<Question> = [
    ["getbestblockhash"],
    ["getchaintips"],
    ["gettxoutsetinfo", "muhash"],
    ...hashes.slice(-70).map((hash): Question => ["getblock", hash, 2]),
    ["name_scan", "", 100],
    ...Object.values(NAMES).flatMap((name): ReadonlyArray<Question> => [["name_show", name], ["name_history", name]]),
    ...txids.slice(0, 5).concat(txids.slice(-60)).map((txid): Question => ["getrawtransaction", txid, 1]),
    ["getrawmempool", true],
    ["listbanned"],
    ["listwallets"]
  ]
  const addressesOf = async (caller: RpcClient): Promise<ReadonlyArray<unknown>> =>
    listOf(await caller.call("listreceivedbyaddress", 0, true)).map((entry) => recordOf(entry)["address"])
  const [first, theirs] = [await addressesOf(rpc), await addressesOf(second)]
  return [
    ...node.map((question) => ["", question] as const),
    ...walletQuestions("", first).map((question) => ["", question] as const),
    ...walletQuestions(SECOND, theirs).map((question) => [SECOND, question] as const)
  ]
}

/** Asks a node all questions. */
export const record = async (rpc: RpcClient, second: RpcClient): Promise<ReadonlyArray<Recorded>> => {
  const recorded: Array<Recorded> = []
  for (const [wallet, question] of await questionsOf(rpc, second)) {
    const answer = await (wallet === "" ? rpc : second).ask(question)
    recorded.push({ wallet, question, answer: recordedAnswer(question, answer) })
  }
  return recorded
}
