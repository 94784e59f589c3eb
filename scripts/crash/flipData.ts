import { cpSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DaemonProcess } from "./DaemonProcess.ts"
import type { Topic } from "./flipKinds.ts"
import { InnerDaemon } from "./InnerDaemon.ts"
import { Ledger } from "./Ledger.ts"
import { Load } from "./Load.ts"
import { Random } from "./random.ts"
import { type Answer, answersIn, isSame, listOf, pause, type Question, recordOf, RpcClient, textOf } from "./rpc.ts"

/** The mocked time of the nodes, so that no answer depends on the time of the call. */
const TIME = 1_700_000_000

/** Flags of the node under test. Offline; with the transaction index, as its file is one to flip. */
export const FLIP_FLAGS: ReadonlyArray<string> = ["-maxpeers", "0", "-txindex", "-mocktime", String(TIME)]

const WITHOUT_WALLETS: ReadonlyArray<string> = [...FLIP_FLAGS, "-disablewallet"]

/** A second wallet of the data directory, loaded at each start. */
export const SECOND_WALLET = "second"

const CONFIG = `# The operator's own file: read, and never written.
dbcache = 50
maxmempool = 100
`

const NAMES = Array.from({ length: 8 }, (_, i) => `d/flipped-${i}`)

/** The names are registered within this many blocks. */
const MOST_BLOCKS = 25

/** Answers of the load that stands for an ordinary owner's day. */
const LOAD_ANSWERS = 90

/** A call, its topic, and the wallet that it goes to. */
export interface Asked {
  readonly topic: Topic
  readonly wallet: string
  readonly question: Question
}

/** The expected answers of a node on a data directory, with its wallets or, in half the cases, without. */
export interface Base {
  readonly directory: string
  readonly flags: ReadonlyArray<string>
  readonly asked: ReadonlyArray<Asked>
  readonly expected: ReadonlyArray<string>
  /** Lines that the node logs as warnings and errors on the undamaged directory. */
  readonly warnings: number
}

const busy = async (rpc: RpcClient, directory: string, tag: string, answers: number): Promise<void> => {
  await new Load({
    rpc,
    directory,
    tag,
    ledger: new Ledger(() => 0),
    random: new Random(answers),
    pace: (count) => count < answers
  }).run()
}

const startOf = async (directory: string): Promise<DaemonProcess> => {
  const daemon = await DaemonProcess.spawn({ directory, args: FLIP_FLAGS })
  const start = await daemon.start()
  if (start.ready) return daemon
  throw new Error(`a node for the test does not start: ${start.reason}`)
}

/** Makes the chain, the names and the wallets. */
const fill = async ({ rpc }: DaemonProcess, directory: string): Promise<void> => {
  const mine = await rpc.call("getnewaddress", "mined")
  // The interview asks about these names.
  const generate = async (blocks: number): Promise<void> => {
    await rpc.call("generatetoaddress", blocks, mine)
    await rpc.call("syncwithvalidationinterfacequeue")
  }
  await generate(112)
  for (const name of NAMES) await rpc.call("name_autoregister", name, `{"map":{"":{"ip":"192.0.2.1"}}}`)
  for (let i = 0; i < MOST_BLOCKS && listOf(await rpc.call("name_scan", "", 1000)).length < NAMES.length; i++) {
    await generate(1)
    await pause(20)
  }
  for (const name of NAMES.slice(0, 5)) await rpc.call("name_update", name, `{"ip":"192.0.2.2"}`)
  await generate(5)
  for (const name of NAMES.slice(0, 3)) await rpc.call("name_update", name, `{"ip":"192.0.2.3"}`)
  await generate(8)
  await rpc.call("createwallet", SECOND_WALLET, false, false, "", false, true, true)
  await busy(rpc, directory, "clean", LOAD_ANSWERS)
  await generate(3)
  await rpc.call("setban", "192.0.2.7", "add", 1_000_000)
  await rpc.call("setban", "198.51.100.0/24", "add", 1_000_000)
  await rpc.call("sendtoaddress", mine, 1.5, "waits")
  await rpc.call("name_new", "d/waits")
}

/** The most milliseconds until a step that a node takes by itself, as the next one of a registration, begins. */
const OWN_STEPS = 1500

/** Waits until the node does nothing more by itself: work that waits for its next start is unrelated to damage. */
const settled = async ({ rpc }: { readonly rpc: RpcClient }): Promise<void> => {
  const questions: ReadonlyArray<Question> = [["getwalletinfo"], ["name_registrations"], ["getrawmempool"]]
  let before = ""
  for (let since = performance.now(); performance.now() < since + OWN_STEPS; await pause(100)) {
    await rpc.call("syncwithvalidationinterfacequeue")
    const now = JSON.stringify(await rpc.askAll(questions))
    if (now !== before) since = performance.now()
    before = now
  }
}

/** The two data directories: of a node that stopped in good order, and of one that was killed with unmerged logs. */
export const makeDirectories = async (place: string): Promise<ReadonlyArray<string>> => {
  const clean = join(place, "clean")
  const killed = join(place, "killed")
  const first = await startOf(clean)
  writeFileSync(join(clean, "svcd.conf"), CONFIG, { mode: 0o600 })
  await fill(first, clean)
  await settled(first)
  if (!await first.stop()) throw new Error("the node for the test does not stop")
  cpSync(clean, killed, { recursive: true })
  const second = await startOf(killed)
  await busy(second.rpc, killed, "killed", LOAD_ANSWERS / 3)
  // Of branches with equal work the first one counts, and only the log that a flip may end records which one it was.
  await second.rpc.call("generatetoaddress", 3, await second.rpc.call("getnewaddress"))
  await settled(second)
  await second.kill()
  return [clean, killed]
}

/** The answers that people and programs rely on, over all files. Asked of a node with its wallets. */
const questionsOf = async (rpc: RpcClient): Promise<ReadonlyArray<Asked>> => {
  const height = Number(await rpc.call("getblockcount"))
  const hashes = (await rpc.askAll(Array.from({ length: height + 1 }, (_, i): Question => ["getblockhash", i])))
    .map((answer) => "result" in answer ? String(answer.result) : "")
  const names = listOf(await rpc.call("name_scan", "", 1000)).map((record) => String(recordOf(record)["name"]))
  const transactions = listOf(await rpc.call("listtransactions", "*", 1000)).map(recordOf)
  const txids = [...new Set(transactions.map(({ txid }) => String(txid)))]
  const addresses = [...new Set(transactions.flatMap(({ address }) => address === undefined ? [] : [String(address)]))]
  const coins = listOf(await rpc.call("listunspent", 0)).map(recordOf)
  const own: ReadonlyArray<Question> = [
    ["getwalletinfo"],
    ["listunspent", 0],
    ["listtransactions", "*", 1000],
    ["listsinceblock"],
    ["getbalances"],
    ["listlabels"],
    ["listreceivedbyaddress", 0, true],
    ["listaddressgroupings"],
    ["listdescriptors", true],
    ["gethdkeys", { private: true }],
    ["listlockunspent"],
    ["listqueuedtransactions"],
    ["name_list"],
    ["name_pending"],
    ["name_registrations"],
    ["name_autorenew"]
  ]
  const about = (topic: Topic, questions: ReadonlyArray<Question>, wallet = ""): ReadonlyArray<Asked> =>
    questions.map((question) => ({ topic, question, wallet }))
  return [
    ...about("node", [
      ["getblockcount"],
      ["getbestblockhash"],
      ["gettxoutsetinfo"],
      ["getchaintips"],
      ["name_scan", "", 1000],
      ["getrawmempool", true],
      ["listbanned"],
      ["getnodeaddresses", 0],
      ["estimatesmartfee", 2],
      ["getindexinfo"]
    ]),
    ...about("names", [
      ["name_scan", "", 1000, { maxConf: 20 }],
      ...names.flatMap((name): ReadonlyArray<Question> => [
        ["name_show", name, { allowExpired: true }],
        ["name_history", name]
      ])
    ]),
    ...about("blocks", [
      ...hashes.map((hash): Question => ["getblock", hash, 3]),
      ...hashes.filter((_, i) => i % 10 === 0).map((hash): Question => ["getblockheader", hash]),
      ...txids.map((txid): Question => ["getrawtransaction", txid, 1]),
      ...coins.map(({ txid, vout }): Question => ["gettxout", txid, vout])
    ]),
    ...about("wallets", [
      ["listwallets"],
      ...own,
      ...txids.map((txid): Question => ["gettransaction", txid]),
      ...addresses.slice(0, 30).map((address): Question => ["getaddressinfo", address]),
      ...addresses.slice(0, 5).map((address): Question => ["signmessage", address, "the same key"])
    ]),
    ...about("wallets", own, SECOND_WALLET)
  ]
}

/** Methods that depend on the mempool, which wallets fill once the node is ready. */
const SETTLING: ReadonlySet<string> = new Set([
  "getbalances",
  "getrawmempool",
  "gettransaction",
  "getwalletinfo",
  "gettxout",
  "listaddressgroupings",
  "listreceivedbyaddress",
  "listsinceblock",
  "listtransactions",
  "listunspent",
  "name_list",
  "name_pending",
  "name_registrations"
])

/** Whole blocks are long answers: where the flipped file holds none, one block of this many is asked for. */
export const BLOCK_SHARES = 3

/** Repeats a question until the expected answer comes, where it may come late. */
const patiently = async (
  rpc: RpcClient,
  question: Question,
  answer: Answer,
  expected: string,
  until: number
): Promise<Answer> => {
  if (!SETTLING.has(question[0])) return answer
  let latest = answer
  for (let late = false; !isSame(question[0], textOf(latest), expected) && !late;) {
    // At least once more: the calls before this one used up the time by waiting for their own answers.
    late = performance.now() >= until
    if (!late) await pause(100)
    latest = await rpc.ask(question)
  }
  return latest
}

/** Questions of one request: between requests, /ready is checked. */
const BATCH = 120

/** An answer that is not the expected one. */
export interface Difference {
  readonly question: Question
  readonly expected: string
  readonly got: string
  /** Whether the node answered that it cannot answer, which no caller takes for an answer. */
  readonly refused: boolean
  /** Whether /ready was 200 before the question and after it. */
  readonly readyBefore: boolean
  readonly readyAfter: boolean
}

/** Questions of one request, and the response text in which each of them had the expected answer. */
interface Batch {
  readonly wallet: string
  readonly questions: ReadonlyArray<Question>
  readonly expected: ReadonlyArray<string | undefined>
  sound?: string
}

/**
 * The questions to a node on a base about some topics; kept, so that sound responses are recognised by their text.
 * `share` selects which of the blocks are asked for, where it is not all.
 */
export class Interview {
  private readonly batches: ReadonlyArray<Batch>

  constructor({ asked, expected }: Pick<Base, "asked" | "expected">, topics: ReadonlySet<Topic>, share?: number) {
    const batches: Array<Batch> = []
    const isWanted = ({ question: [method], topic }: Asked, i: number): boolean =>
      topics.has(topic) && (share === undefined || method !== "getblock" || i % BLOCK_SHARES === share)
    for (const wallet of ["", SECOND_WALLET]) {
      const mine = asked.flatMap((one, i) =>
        one.wallet === wallet && isWanted(one, i) ? [{ question: one.question, known: expected[i] }] : []
      )
      for (let at = 0; at < mine.length; at += BATCH) {
        const part = mine.slice(at, at + BATCH)
        batches.push({
          wallet,
          questions: part.map(({ question }) => question),
          expected: part.map(({ known }) => known)
        })
      }
    }
    this.batches = batches
  }

  /** Asks all questions, in an order irrelevant to the node; answers may come `patience` milliseconds late. */
  async hold(port: number, patience: number): Promise<ReadonlyArray<Difference>> {
    const differences: Array<Difference> = []
    const main = new RpcClient(port)
    const settledBy = performance.now() + patience
    let readyBefore = (await main.get("/ready")).status === 200
    for (const batch of this.batches) {
      const rpc = new RpcClient(port, batch.wallet)
      const text = await rpc.textOfAll(batch.questions)
      if (text === batch.sound) continue
      const answers = answersIn(text, batch.questions.length)
      const wrong: Array<Omit<Difference, "readyBefore" | "readyAfter">> = []
      let waited = false
      for (const [k, question] of batch.questions.entries()) {
        const known = batch.expected[k]
        let answer = answers[k] ?? { result: undefined }
        if (known !== undefined && !isSame(question[0], textOf(answer), known)) {
          waited = true
          answer = await patiently(rpc, question, answer, known, settledBy)
        }
        const got = textOf(answer)
        if (known === undefined || !isSame(question[0], got, known)) {
          wrong.push({ question, expected: known ?? "", got, refused: "error" in answer })
        }
      }
      if (!waited && wrong.length === 0) batch.sound = text
      const readyAfter = (await main.get("/ready")).status === 200
      for (const one of wrong) differences.push({ ...one, readyBefore, readyAfter })
      readyBefore = readyAfter
    }
    return differences
  }
}

export const warningsIn = (log: string): ReadonlyArray<string> =>
  log.split("\n").filter((line) => /\b(WARN|ERROR|FATAL|warn|error|fatal)/.test(line))

/** The answers to these questions, as texts, in their order. */
const answersOf = async (port: number, asked: ReadonlyArray<Asked>): Promise<ReadonlyArray<string>> => {
  const texts = new Array<string>(asked.length).fill("")
  for (const wallet of ["", SECOND_WALLET]) {
    const mine = asked.flatMap((one, i) => one.wallet === wallet ? [{ question: one.question, i }] : [])
    const answers = await new RpcClient(port, wallet).askAll(mine.map(({ question }) => question))
    answers.forEach((answer, k) => (texts[mine[k]?.i ?? 0] = textOf(answer)))
  }
  return texts
}

/** The answers of one run, and the lines that the node logged as warnings and errors. */
interface Run {
  readonly asked: ReadonlyArray<Asked>
  readonly answers: ReadonlyArray<string>
  readonly warnings: number
}

/** Starts a node on a copy of a directory and records its answers to these questions, or to those that it leads to. */
const ask = async (
  directory: string,
  copy: string,
  flags: ReadonlyArray<string>,
  known?: ReadonlyArray<Asked>
): Promise<Run> => {
  cpSync(directory, copy, { recursive: true })
  const daemon = await InnerDaemon.open(copy, flags)
  const start = await daemon.start(30_000, 60_000)
  if (start._tag !== "Ready") throw new Error(`the undamaged directory does not start: ${JSON.stringify(start)}`)
  await settled(daemon)
  const asked = known ?? await questionsOf(daemon.rpc)
  const answers = await answersOf(daemon.port, asked)
  const warnings = warningsIn(daemon.log()).length
  if (!await daemon.stop()) throw new Error("the node on the undamaged directory does not stop")
  rmSync(copy, { recursive: true, force: true })
  return { asked, answers, warnings }
}

/** The answers that two runs have in common: those that do not change from start to start. */
const baseOf = (directory: string, flags: ReadonlyArray<string>, first: Run, second: Run): Base => {
  const stable = first.asked.flatMap((one, i) => {
    const answer = first.answers[i]
    return answer !== undefined && answer === second.answers[i] ? [{ one, answer }] : []
  })
  return {
    directory,
    flags,
    asked: stable.map(({ one }) => one),
    expected: stable.map(({ answer }) => answer),
    warnings: Math.max(first.warnings, second.warnings)
  }
}

/** The expected answers on a directory, of a node with its wallets and of one without. */
export const basesOf = async (directory: string): Promise<{ readonly full: Base; readonly bare: Base }> => {
  const first = await ask(directory, `${directory}-asked`, FLIP_FLAGS)
  const withoutWallets = first.asked.filter(({ topic }) => topic !== "wallets")
  // At once: a run mostly waits until its node has settled.
  const [second, bareFirst, bareSecond] = await Promise.all([
    ask(directory, `${directory}-again`, FLIP_FLAGS, first.asked),
    ask(directory, `${directory}-bare`, WITHOUT_WALLETS, withoutWallets),
    ask(directory, `${directory}-bare-again`, WITHOUT_WALLETS, withoutWallets)
  ])
  return {
    full: baseOf(directory, FLIP_FLAGS, first, second),
    bare: baseOf(directory, WITHOUT_WALLETS, bareFirst, bareSecond)
  }
}
