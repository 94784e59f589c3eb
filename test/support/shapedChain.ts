import { secp256k1 } from "@noble/curves/secp256k1.js"
import { Random } from "../../scripts/crash/random.ts"
import { expectedIndex } from "../../src/consensus/auxpow.ts"
import { heightScript } from "../../src/consensus/block.ts"
import { nextBits } from "../../src/consensus/difficulty.ts"
import { expirationDepth, isExpired } from "../../src/consensus/expiry.ts"
import type { ConsensusParams } from "../../src/consensus/params.ts"
import { SighashContext } from "../../src/consensus/sighash.ts"
import { blockSubsidy } from "../../src/consensus/subsidy.ts"
import { type Auxpow, makeAuxpow } from "../../src/protocol/auxpow.ts"
import { type Block, decodeBlock, makeBlock } from "../../src/protocol/block.ts"
import { type Bytes, concat, reversed } from "../../src/protocol/bytes.ts"
import { hash160, hash256, sha256 } from "../../src/protocol/hash.ts"
import { AUXPOW_FLAG, type Header, makeHeader } from "../../src/protocol/header.ts"
import { merkleBranchRoot, merkleRoot } from "../../src/protocol/merkle.ts"
import { NAME_TX_VERSION, type NameOperation, nameScript, type NameSetting } from "../../src/protocol/nameOperation.ts"
import { pushData } from "../../src/protocol/script.ts"
import { makeTransaction, type Transaction } from "../../src/protocol/transaction.ts"
import { quickEcdsa } from "./quickEcdsa.ts"
import { ANYONE, BLOCK_VERSION, coinbaseInput, currency, input, nameNew, type Outpoint } from "./regtest.ts"
import { ground } from "./shapedNetwork.ts"

/** How a generated chain looks. Rates are averages a block. */
export interface ChainShape {
  readonly seed: number
  /** Height of the last block. */
  readonly height: number
  /** The heights at which names are registered that live when the window begins. */
  readonly before: { readonly from: number; readonly to: number; readonly registrations: number }
  /** The window follows at once. */
  readonly window: { readonly registrations: number; readonly updates: number }
}

/** Mainnet in November 2026: 63,500 headers above the anchor, and 36,000 blocks with 7 transactions each. */
export const MAINNET_SHAPE: ChainShape = {
  seed: 14,
  height: 63_600,
  before: { from: 15_600, to: 27_600, registrations: 8 },
  window: { registrations: 0.5, updates: 5.06 }
}

/** The height of the anchor of such a chain. */
export const ANCHOR_HEIGHT = 100

const NAME_AMOUNT = 1_000_000
const FEE = 10_000
const OWNERS = 200
/** Coins that pay in turn; no divisor of the transactions of a block, so that each pays as much as the others. */
const FUNDERS = 31
/** Blocks between NAME_NEW and NAME_FIRSTUPDATE. */
const REGISTRATION_BLOCKS = 12

/** Part of the names that no owner renews. */
const ABANDONED = 0.05

interface Owner {
  readonly secret: Bytes
  readonly key: Bytes
  /** The script that is signed: that of the key's hash. */
  readonly keyScript: Bytes
  readonly address: Bytes
  readonly isWitness: boolean
}

/** A name of the chain as it is now. */
export interface ShapedName {
  readonly name: Bytes
  readonly abandoned: boolean
  readonly height: number
  readonly value: Bytes
  readonly coin: Outpoint
  readonly owner: Owner
}

interface Pending {
  readonly name: Bytes
  /** The number of the name, new or expired. */
  readonly index: number
  readonly rand: Bytes
  readonly coin: Outpoint
  readonly due: number
}

const ascii = (value: string): Uint8Array => new TextEncoder().encode(value)

const ownerOf = (seed: number, index: number): Owner => {
  const secret = sha256(ascii(`owner ${seed}/${index}`))
  const key = secp256k1.getPublicKey(secret)
  const hash = hash160(key)
  const keyScript = concat(Uint8Array.of(0x76, 0xa9, 20), hash, Uint8Array.of(0x88, 0xac))
  const isWitness = index % 2 === 0
  const address = isWitness ? concat(Uint8Array.of(0, 20), hash) : keyScript
  return { secret, key, keyScript, address, isWitness }
}

/** Signs the first input: the coin of a name. */
const signed = (unsigned: Transaction, { coin: { transaction, vout }, owner }: ShapedName): Transaction => {
  const spent = transaction.outputs[vout]
  const [first, ...rest] = unsigned.inputs
  if (spent === undefined || first === undefined) throw new Error("the transaction spends no name")
  const coin = { ...spent, height: 1, coinbase: false }
  const context = new SighashContext(unsigned, unsigned.inputs.map(() => coin))
  const hash = owner.isWitness ? context.witnessV0(0, owner.keyScript, 1) : context.legacy(0, spent.script, 1)
  const signature = quickEcdsa(hash, owner.secret)
  const proof = owner.isWitness
    ? { ...first, witness: [signature, owner.key] }
    : { ...first, scriptSig: concat(pushData(signature), pushData(owner.key)) }
  return makeTransaction({
    version: unsigned.version,
    lockTime: unsigned.lockTime,
    inputs: [proof, ...rest],
    outputs: unsigned.outputs
  })
}

const ZERO_HASH = new Uint8Array(32)

/** Before the commitment to the witnesses (BIP 141). */
const COMMITMENT_HEAD = Uint8Array.of(0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed)

const MERGED_MINING = Uint8Array.of(0xfa, 0xbe, 0x6d, 0x6d)
const CHAIN_BRANCH = 5
const COINBASE_BRANCH = 13

/** A merged-mining proof of mainnet's size: with the header some 1.1 kB. */
const auxpowOf = (header: Header, random: Random, powLimit: bigint): Auxpow => {
  const chainBranch = Array.from({ length: CHAIN_BRANCH }, () => random.bytes(32))
  const chainIndex = expectedIndex({ nonce: 0, chain: 1, height: CHAIN_BRANCH })
  const root = reversed(merkleBranchRoot(header.hash, chainBranch, chainIndex))
  const slot = Uint8Array.of(2 ** CHAIN_BRANCH, 0, 0, 0, 0, 0, 0, 0)
  const scriptSig = concat(pushData(random.bytes(8)), MERGED_MINING, root, slot, random.bytes(20))
  const payee = concat(Uint8Array.of(0x76, 0xa9, 20), random.bytes(20), Uint8Array.of(0x88, 0xac))
  const note = (length: number): Bytes => concat(Uint8Array.of(0x6a), pushData(random.bytes(length)))
  const coinbase = makeTransaction({
    version: 1,
    lockTime: 0,
    inputs: [coinbaseInput(scriptSig)],
    outputs: [
      { value: 312_500_000, script: payee },
      { value: 0, script: note(36) },
      { value: 0, script: note(41) }
    ]
  })
  const coinbaseBranch = Array.from({ length: COINBASE_BRANCH }, () => random.bytes(32))
  const parent = ground({
    version: 0x20000000,
    prevHash: random.bytes(32),
    merkleRoot: merkleBranchRoot(coinbase.txid, coinbaseBranch, 0),
    time: header.time,
    bits: header.bits
  }, powLimit)
  return makeAuxpow({ coinbase, coinbaseBranch, chainBranch, chainIndex, parent })
}

/** Makes the blocks of a chain from the first on. What `step` returns follows from the shape alone. */
export class ShapedChain {
  readonly params: ConsensusParams
  readonly shape: ChainShape
  height = 0
  /** All names that were ever registered: the newest operation on each. */
  readonly names: Array<ShapedName> = []
  nameOperations = 0
  private readonly random: Random
  private readonly owners: ReadonlyArray<Owner>
  private readonly headers: Array<Header>
  private readonly funders: Array<Outpoint> = []
  private readonly pending: Array<Pending> = []
  /** Names in the order of their operations; an entry of an older operation is skipped. */
  private readonly queue: Array<{ readonly index: number; readonly height: number }> = []
  private queueHead = 0
  /** Names that no owner renews, in the order in which they expire. */
  private readonly abandoned: Array<number> = []
  private registered = 0
  private transactions = 0
  private due = { registrations: 0, updates: 0 }

  constructor(params: ConsensusParams, shape: ChainShape) {
    this.params = params
    this.shape = shape
    this.random = new Random(shape.seed)
    this.owners = Array.from({ length: OWNERS }, (_, index) => ownerOf(shape.seed, index))
    this.headers = [decodeBlock(params.network.genesisBlock).header]
  }

  private get rates(): { readonly registrations: number; readonly updates: number } {
    const { before, window } = this.shape
    if (this.height > before.to) return window
    return { registrations: this.height > before.from ? before.registrations : 0, updates: 0 }
  }

  /** Whether a name can be changed in the next block to make. */
  private lives({ height }: ShapedName): boolean {
    return !isExpired({ height }, this.height, this.params)
  }

  /** The next block. */
  step(): Block {
    this.height++
    const { rates } = this
    this.due = {
      registrations: this.due.registrations + rates.registrations,
      updates: this.due.updates + rates.updates
    }
    const transactions: Array<Transaction> = []
    for (; this.pending[0] !== undefined && this.pending[0].due <= this.height;) {
      const next = this.pending.shift()
      if (next !== undefined) transactions.push(this.register(next))
    }
    for (; this.due.registrations >= 1; this.due.registrations--) transactions.push(this.commit())
    for (; this.due.updates >= 1; this.due.updates--) {
      const index = this.chooseUpdate()
      if (index !== undefined) transactions.push(this.update(index))
    }
    return this.seal(transactions)
  }

  private funded(version: number, first: ReadonlyArray<Outpoint>, script: Bytes): Transaction {
    const at = this.transactions++ % FUNDERS
    const funder = this.funders[at]
    if (funder === undefined) throw new Error("there is no coin for a fee yet")
    const spent = [...first, funder]
    const total = spent.reduce((sum, { transaction, vout }) => sum + (transaction.outputs[vout]?.value ?? 0), 0)
    const change = total - NAME_AMOUNT - FEE
    if (change < 0) throw new Error("the coins for fees are used up")
    return currency(
      spent.map((coin) => input(coin)),
      [{ value: NAME_AMOUNT, script }, { value: change, script: ANYONE }],
      { version }
    )
  }

  /** Keeps the change of a finished transaction for the next one. */
  private keep(transaction: Transaction): void {
    this.funders[(this.transactions - 1) % FUNDERS] = { transaction, vout: 1 }
  }

  private commit(): Transaction {
    const { index, name } = this.random.chance(0.2) ? this.expiredName() ?? this.newName() : this.newName()
    const rand = this.random.bytes(20)
    const script = nameScript(nameNew(name, rand), ANYONE)
    const transaction = this.funded(NAME_TX_VERSION, [], script)
    this.keep(transaction)
    this.pending.push({ name, index, rand, coin: { transaction, vout: 0 }, due: this.height + REGISTRATION_BLOCKS })
    return transaction
  }

  private newName(): { readonly index: number; readonly name: Bytes } {
    const index = this.registered++
    const prefix = this.random.chance(0.8) ? "d/" : "id/"
    return { index, name: ascii(`${prefix}${index.toString(36)}-${"x".repeat(this.random.below(12))}`) }
  }

  /** A name that has expired, to register it again. */
  private expiredName(): { readonly index: number; readonly name: Bytes } | undefined {
    const index = this.abandoned[0]
    const known = index === undefined ? undefined : this.names[index]
    if (index === undefined || known === undefined || this.lives(known)) return undefined
    this.abandoned.shift()
    return { index, name: known.name }
  }

  private valueOf(): Bytes {
    const hex = (length: number): string => Buffer.from(this.random.bytes(length)).toString("hex")
    return ascii(`{"ip":"192.0.2.${this.random.below(256)}","tls":"${hex(20 + this.random.below(70))}"}`)
  }

  private register({ coin, index, name, rand }: Pending): Transaction {
    const owner = this.random.pick(this.owners)
    const operation: NameSetting = { op: "name_firstupdate", name, rand, value: this.valueOf() }
    const transaction = this.funded(NAME_TX_VERSION, [coin], nameScript(operation, owner.address))
    this.keep(transaction)
    const abandoned = this.random.chance(ABANDONED)
    if (abandoned) this.abandoned.push(index)
    this.set(index, {
      name,
      abandoned,
      height: this.height,
      value: operation.value,
      coin: { transaction, vout: 0 },
      owner
    })
    return transaction
  }

  private set(index: number, name: ShapedName): void {
    this.names[index] = name
    this.queue.push({ index, height: name.height })
    this.nameOperations++
  }

  /** The name to change: one that ends soon, else the one that was not changed for longest, or any. */
  private chooseUpdate(): number | undefined {
    const lifetime = expirationDepth(this.height, this.params)
    let oldest = this.queue[this.queueHead]
    for (; oldest !== undefined; oldest = this.queue[++this.queueHead]) {
      const name = this.names[oldest.index]
      if (name !== undefined && name.height === oldest.height && !name.abandoned && this.lives(name)) break
    }
    if (oldest === undefined) return undefined
    if (this.height - oldest.height > 0.8 * lifetime || this.random.chance(0.5)) return oldest.index
    const index = this.random.below(this.names.length)
    const name = this.names[index]
    return name === undefined || name.abandoned || !this.lives(name) ? oldest.index : index
  }

  private update(index: number): Transaction {
    const name = this.names[index]
    if (name === undefined) throw new Error(`there is no name number ${index}`)
    const owner = this.random.chance(0.1) ? this.random.pick(this.owners) : name.owner
    const operation: NameOperation = { op: "name_update", name: name.name, value: this.valueOf() }
    const unsigned = this.funded(NAME_TX_VERSION, [name.coin], nameScript(operation, owner.address))
    const transaction = signed(unsigned, name)
    this.keep(transaction)
    const { value } = operation
    this.set(index, { ...name, height: this.height, value, coin: { transaction, vout: 0 }, owner })
    return transaction
  }

  private seal(transactions: ReadonlyArray<Transaction>): Block {
    const { headers, height, params, random } = this
    const reward = { value: blockSubsidy(height, params), script: ANYONE }
    const wtxids = [ZERO_HASH, ...transactions.map(({ wtxid }) => wtxid)]
    const commitment = hash256(concat(merkleRoot(wtxids).root, ZERO_HASH))
    const coinbase = makeTransaction({
      version: 1,
      lockTime: 0,
      inputs: [coinbaseInput(concat(heightScript(height), pushData(random.bytes(8))), [ZERO_HASH])],
      outputs: [reward, { value: 0, script: concat(COMMITMENT_HEAD, commitment) }]
    })
    const all = [coinbase, ...transactions]
    if (this.funders.length < FUNDERS) this.funders.push({ transaction: coinbase, vout: 0 })
    const header = makeHeader({
      version: BLOCK_VERSION | AUXPOW_FLAG,
      prevHash: this.header(height - 1).hash,
      merkleRoot: merkleRoot(all.map(({ txid }) => txid)).root,
      time: this.nextTime(),
      bits: this.nextBits(),
      nonce: 0
    })
    headers.push(header)
    return makeBlock({ header, auxpow: auxpowOf(header, random, params.powLimit) }, all)
  }

  private header(height: number): Header {
    const header = this.headers[height]
    if (header === undefined) throw new RangeError(`there is no block ${height}`)
    return header
  }

  /** Periods are fast and slow in turn, so that each retarget changes something. */
  private nextTime(): number {
    const { height, params: { retargetInterval } } = this
    const period = Math.floor(height / retargetInterval)
    const isFast = period % 2 === 0
    const step = isFast ? (height % 12 === 0 ? 0 : 1) : (height % 9 === 0 ? 2 : 1)
    return this.header(height - 1).time + step
  }

  private nextBits(): number {
    const ancestor = (height: number) => {
      const { bits, time } = this.header(height)
      return { height, bits, time }
    }
    const prev = ancestor(this.height - 1)
    return nextBits(this.params, { prev, newTime: prev.time + 1, ancestor })
  }

  /** The names that live at the tip, by their bytes. */
  get living(): ReadonlyArray<ShapedName> {
    return this.names.filter((name) => this.lives(name)).sort((a, b) => Buffer.compare(a.name, b.name))
  }
}
