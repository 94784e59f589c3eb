import { join } from "node:path"
import { descriptorChecksum } from "../../src/protocol/descriptor/descriptor.ts"
import { networks } from "../../src/protocol/networks.ts"
import { encodeWif } from "../../src/protocol/wif.ts"
import { byCall, type Claim, inFile, type Ledger, lists, type Position, tells } from "./Ledger.ts"
import { type Random } from "./random.ts"
import { type Answer, listOf, type Question, recordOf, type RpcClient } from "./rpc.ts"

/** Blocks that every node under load has: enough for coins that can be spent. */
export const FIRST_BLOCKS = 130

/** No branch that a load leaves, and that could still become the best one, begins this far below the tip. */
const DEEPER_THAN_BRANCHES = 20

/** The code of a call about names while the name database is behind the chain. */
const NAMES_BEHIND = -10

const ADDRESS_TYPES = ["legacy", "p2sh-segwit", "bech32", "bech32m"]

/** An address without a known key: coins that go there are lost. */
const ELSEWHERE = "mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r"

/** Values that are not ASCII text, one byte a character, and the longest one that a wallet sends. */
const STRANGE_VALUES = ["", "\0", "a\0b", "\xff\xfe", "{\"a\":\"\\u0000\"}", "\u00c3".repeat(520)]

const listsExpired = (answer: Answer): boolean =>
  "result" in answer && listOf(answer.result).some((row) => recordOf(row)["expired"] === true)

/** Called after each answer; its result tells the load whether to go on. */
export type Pace = (answers: number) => boolean

export interface LoadOptions {
  readonly rpc: RpcClient
  readonly ledger: Ledger
  readonly random: Random
  /** Separates the names of this load from those of other loads on the same wallet. */
  readonly tag: string
  /** The data directory: backups go there too. */
  readonly directory: string
  readonly pace: Pace
}

interface Task {
  /** The weight of this action in the random choice. */
  readonly weight: number
  readonly run: () => Promise<void>
}

/**
 * Callers that keep a node busy: one mines and reorganises, two use the wallet and register names. The ledger records
 * the answers that they get.
 */
export class Load {
  private readonly rpc: RpcClient
  private readonly ledger: Ledger
  private readonly random: Random
  private readonly pace: Pace
  private readonly tag: string
  private readonly directory: string
  private going = true
  private answers = 0
  private serial = 0
  private readonly addresses: Array<string> = []
  private readonly names: Array<string> = []

  constructor({ directory, ledger, pace, random, rpc, tag }: LoadOptions) {
    this.rpc = rpc
    this.ledger = ledger
    this.random = random
    this.tag = tag
    this.directory = directory
    this.pace = pace
  }

  /** Runs until the pace or the node ends it. */
  async run(): Promise<void> {
    const mine = String(await this.rpc.call("getnewaddress"))
    this.addresses.push(mine)
    const actors = [this.actor(this.chainTasks(mine)), this.actor(this.walletTasks()), this.actor(this.walletTasks())]
    await Promise.allSettled(actors)
  }

  private async actor(tasks: ReadonlyArray<Task>): Promise<void> {
    const choice = tasks.flatMap(({ run, weight }) => new Array<() => Promise<void>>(weight).fill(run))
    while (this.going) await this.random.pick(choice)()
  }

  /** Answers so far. */
  get acknowledged(): number {
    return this.answers
  }

  private label(): string {
    return `${this.tag}-${++this.serial}`
  }

  private async ask(question: Question): Promise<Answer> {
    if (!this.going) throw new Error("the load is over")
    return this.rpc.ask(question)
  }

  /** Counts an answer once it is in the ledger. */
  private answered(): void {
    this.answers++
    if (this.going && !this.pace(this.answers)) this.going = false
  }

  /** A call whose success is acknowledged: `claims` derives from its result what must hold after a crash. */
  private async act(
    question: Question,
    claims: (result: unknown) => ReadonlyArray<Claim>,
    key?: string
  ): Promise<unknown> {
    const begun = key === undefined ? this.ledger.now() : this.ledger.begin(key)
    const answer = await this.ask(question)
    if ("result" in answer) this.ledger.acknowledge(begun, claims(answer.result))
    this.answered()
    return "result" in answer ? answer.result : undefined
  }

  private chainTasks(mine: string): ReadonlyArray<Task> {
    return [
      { weight: 6, run: () => this.mine(mine) },
      { weight: 2, run: () => this.reorganise(mine) }
    ]
  }

  /** An operation on the chain, and the position of the chain after it. */
  private async chainCall(
    question: Question,
    during: Position,
    after: (result: unknown) => Position
  ): Promise<unknown> {
    const done = this.ledger.chainStep(during)
    const answer = await this.ask(question)
    if ("result" in answer) done(after(answer.result))
    else done(during)
    this.answered()
    return "result" in answer ? answer.result : undefined
  }

  private async generate(mine: string, count: number, during: Position): Promise<void> {
    const begun = this.ledger.now()
    const hashes = listOf(
      await this.chainCall(["generatetoaddress", count, mine], during, (result) => {
        const last = listOf(result).at(-1)
        return last === undefined ? during : { ...during, holds: String(last) }
      })
    ).map(String)
    this.ledger.acknowledge(begun, hashes.map(blockClaim))
  }

  private async tip(): Promise<string> {
    return String(await this.rpc.call("getbestblockhash"))
  }

  private async mine(mine: string): Promise<void> {
    await this.generate(mine, 1 + this.random.below(3), { holds: await this.tip() })
    if (this.random.chance(0.5)) await this.look()
  }

  /** Records answers that depend on the chain alone. */
  private async look(): Promise<void> {
    const questions: ReadonlyArray<Question> = [
      ["gettxoutsetinfo"],
      ["name_scan", "", 1000],
      ...this.names.slice(-5).map((name): Question => ["name_history", name])
    ]
    const tip = await this.tip()
    await this.rpc.call("syncwithvalidationinterfacequeue")
    const answers = await this.rpc.askAll(questions)
    // While the name database is behind the chain there is no answer to compare.
    if (answers.some((answer) => "error" in answer && answer.error.code === NAMES_BEHIND)) return
    if (await this.tip() === tip) this.ledger.snapshot(tip, questions, answers)
  }

  /** Invalidates the last blocks, mines others in their place, and sometimes reconsiders the first ones. */
  private async reorganise(mine: string): Promise<void> {
    const height = Number(await this.rpc.call("getblockcount"))
    const depth = 1 + this.random.below(4)
    const gone = String(await this.rpc.call("getblockhash", height - depth + 1))
    const trunk = String(await this.rpc.call("getblockhash", Math.max(0, height - DEEPER_THAN_BRANCHES)))
    await this.chainCall(["invalidateblock", gone], { holds: trunk }, () => ({ holds: trunk, lacks: gone }))
    // The parent of the invalidated blocks, or the tip of an older branch that has more work now.
    await this.generate(mine, depth + this.random.below(2), { holds: await this.tip(), lacks: gone })
    if (this.random.chance(0.5)) {
      await this.chainCall(["reconsiderblock", gone], { holds: trunk }, () => ({ holds: trunk }))
    }
  }

  private walletTasks(): ReadonlyArray<Task> {
    return [
      { weight: 8, run: () => this.newAddress() },
      { weight: 3, run: () => this.relabel() },
      { weight: 10, run: () => this.send() },
      { weight: 5, run: () => this.register() },
      { weight: 3, run: () => this.commit() },
      { weight: 3, run: () => this.update() },
      { weight: 2, run: () => this.renew() },
      { weight: 2, run: () => this.importKey() },
      { weight: 2, run: () => this.lock() },
      { weight: 1, run: () => this.backup() },
      { weight: 1, run: () => this.createWallet() }
    ]
  }

  private async newAddress(): Promise<void> {
    const label = this.label()
    const address = await this.act(
      ["getnewaddress", label, this.random.pick(ADDRESS_TYPES)],
      (result) => [addressClaim(String(result), label)]
    )
    if (address !== undefined) this.addresses.push(String(address))
  }

  private async relabel(): Promise<void> {
    // Removed meanwhile, so that only one caller changes it.
    const [address] = this.addresses.splice(this.random.below(this.addresses.length), 1)
    if (address === undefined) return
    const label = this.label()
    await this.act(["setlabel", address, label], () => [addressClaim(address, label)], `address ${address}`)
    this.addresses.push(address)
  }

  private async send(): Promise<void> {
    const to = this.random.chance(0.5) || this.addresses.length === 0 ? ELSEWHERE : this.random.pick(this.addresses)
    const amount = (1 + this.random.below(100)) / 100
    const comment = this.label()
    await this.act(
      ["sendtoaddress", to, amount, comment],
      (txid) => [transactionClaim(String(txid), comment)]
    )
  }

  private async register(): Promise<void> {
    const name = `d/${this.label()}`
    await this.act(["name_autoregister", name, `{"of":"${this.tag}"}`], (result) => {
      const { rand, txid } = recordOf(result)
      return [transactionClaim(String(txid)), registrationClaim(name, String(txid), String(rand))]
    })
    this.names.push(name)
  }

  private async commit(): Promise<void> {
    const name = `d/${this.label()}`
    await this.act(["name_new", name], (result) => {
      const [txid, rand] = listOf(result).map(String)
      return [transactionClaim(String(txid)), registrationClaim(name, String(txid), String(rand))]
    })
  }

  private async update(): Promise<void> {
    // Refused while the name database is behind the chain.
    const answer = await this.ask(["name_list"])
    const owned = "result" in answer
      ? listOf(answer.result).map(recordOf).filter(({ ismine }) => ismine === true)
      : []
    if (owned.length === 0) return
    const name = String(this.random.pick(owned)["name"])
    const value = this.random.pick([this.label(), ...STRANGE_VALUES])
    await this.act(
      ["name_update", name, Buffer.from(value, "latin1").toString("hex"), { valueEncoding: "hex" }],
      (txid) => [transactionClaim(String(txid))]
    )
  }

  private async renew(): Promise<void> {
    const name = this.names.at(-1)
    if (name === undefined) return
    await this.act(["name_autorenew", name, true], () => [{
      what: `renewal of ${name}`,
      key: `renewal ${name}`,
      // The wallet shows no setting of a name that expired, and later forgets it.
      look: { ...byCall(["name_autorenew"], tells(name)), unless: byCall(["name_list", name], listsExpired) }
    }])
  }

  private async importKey(): Promise<void> {
    const network = networks.regtest
    const privateKey = this.random.bytes(32)
    const descriptor = `pkh(${encodeWif(network, { compressed: true, privateKey })})`
    const desc = `${descriptor}#${descriptorChecksum(descriptor) ?? ""}`
    const derived = recordOf(await this.rpc.call("getdescriptorinfo", desc))["descriptor"]
    const address = String(listOf(await this.rpc.call("deriveaddresses", derived))[0])
    const label = this.label()
    await this.act(
      ["importdescriptors", [{ desc, timestamp: "now", label }]],
      (result) => recordOf(listOf(result)[0])["success"] === true ? [addressClaim(address, label)] : []
    )
  }

  private async lock(): Promise<void> {
    const coins = listOf(await this.rpc.call("listunspent")).map(recordOf)
    if (coins.length < 20) return
    const { txid, vout } = this.random.pick(coins)
    // A payment that was under way may spend the coin all the same: then it cannot be spent again either.
    const isFree = (answer: Answer): boolean =>
      "result" in answer &&
      listOf(answer.result).map(recordOf).some((coin) => coin["txid"] === txid && coin["vout"] === vout)
    await this.act(["lockunspent", false, [{ txid, vout }], true], () => [{
      what: `lock of ${String(txid)}:${String(vout)}`,
      key: `lock ${String(txid)}:${String(vout)}`,
      look: byCall(["listunspent", 0], (answer) => "result" in answer && !isFree(answer))
    }])
  }

  private async backup(): Promise<void> {
    const file = `backup-${this.label()}.json`
    await this.act(["backupwallet", join(this.directory, file)], () => [{
      what: `backup ${file}`,
      key: file,
      look: inFile(file, (text) => text.trimStart().startsWith("{") && text.trimEnd().endsWith("}"))
    }])
  }

  private async createWallet(): Promise<void> {
    if (!this.random.chance(0.3)) return
    const name = this.label()
    await this.act(["createwallet", name, false, false, "", false, true, true], () => [{
      what: `wallet ${name}`,
      key: `wallet ${name}`,
      look: byCall(["listwallets"], tells(name))
    }])
  }
}

const blockClaim = (hash: string): Claim => ({
  what: `block ${hash}`,
  key: hash,
  look: byCall(["getblock", hash, 0], (answer) => "result" in answer)
})

const transactionClaim = (txid: string, ...details: ReadonlyArray<string>): Claim => ({
  what: `transaction ${txid}`,
  key: txid,
  look: byCall(["gettransaction", txid], tells(txid, ...details))
})

const addressClaim = (address: string, label: string): Claim => ({
  what: `address ${address} with its label ${label}`,
  key: `address ${address}`,
  look: byCall(
    ["getaddressinfo", address],
    (answer) => tells(label)(answer) && "result" in answer && recordOf(answer.result)["ismine"] === true
  )
})

const registrationClaim = (name: string, txid: string, rand: string): Claim => ({
  what: `registration of ${name}`,
  key: `registration ${name}`,
  look: byCall(["name_registrations"], lists(name, txid, rand))
})
