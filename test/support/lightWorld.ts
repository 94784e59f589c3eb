import { Random } from "../../scripts/crash/random.ts"
import { type HeaderPoint, meetsTarget, nextBits } from "../../src/consensus/difficulty.ts"
import { isExpired } from "../../src/consensus/expiry.ts"
import { nameEffects } from "../../src/consensus/names.ts"
import { type ConsensusParams, regtestParams } from "../../src/consensus/params.ts"
import { firstOfWindow } from "../../src/light/windowStart.ts"
import { type Block, decodeBlock, makeBlock } from "../../src/protocol/block.ts"
import { type Bytes, concat, toHex } from "../../src/protocol/bytes.ts"
import { type Header, makeHeader } from "../../src/protocol/header.ts"
import { merkleRoot } from "../../src/protocol/merkle.ts"
import { NAME_TX_VERSION, type NameOperation, nameScript, type NameSetting } from "../../src/protocol/nameOperation.ts"
import { outpoint, type Transaction } from "../../src/protocol/transaction.ts"
import {
  ANYONE,
  BLOCK_VERSION,
  currency,
  input,
  makeCoinbase,
  nameNew,
  type Outpoint,
  saltOf,
  text
} from "./regtest.ts"

/** Small chains with forks, and what is true of their names: the worlds of the random hostile runs. */

/** The address of names whose next operation needs a signature that no owner can give. */
const LOCKED = concat(Uint8Array.of(0x76, 0xa9, 20), saltOf(7), Uint8Array.of(0x88, 0xac))

/** A coin from outside of the chain: a light client has no coins and does not miss it. */
const FOREIGN: Outpoint = { transaction: currency([], [{ value: 1, script: ANYONE }]), vout: 0 }

interface Held {
  readonly coin: Outpoint
  readonly height: number
  /** Whether its owner can sign. */
  readonly open: boolean
}

/** What is true of a name at a tip. */
export interface Truth {
  readonly name: Bytes
  readonly value: string
  readonly height: number
  /** Whether each owner within the window signed for the next one. */
  readonly signed: boolean
}

/** A chain of blocks from genesis on. */
export interface Branch {
  readonly blocks: ReadonlyArray<Block>
  readonly held: ReadonlyMap<string, Held>
}

export interface World {
  readonly params: ConsensusParams
  readonly main: Branch
  /** Branches with less work than the main one. */
  readonly forks: ReadonlyArray<Branch>
  /** Whether each fork has more work than the one before, and fewer blocks. */
  readonly shrinks: boolean
  readonly names: ReadonlyArray<Bytes>
  readonly truth: (tip: Bytes) => ReadonlyMap<string, Truth>
}

/** The anchor of most worlds. */
const ANCHOR = 30
const NAMES = 10

/** Bits of a block with 64 times the least work. */
const HEAVY = 0x2001ffff

/** Seconds between two blocks, and before one that comes so late that it has the least work. */
const [SPACING, LATE] = [600, 1_300]

/** Blocks of the last part of a window whose operations are never on trust. */
const SPARE = 100

const nameOf = (index: number): Bytes => text(`d/${index}`)

/** One operation on a name: mostly as the rules want it, sometimes as only miners could put it in. */
const operate = (held: Map<string, Held>, random: Random, height: number): Transaction => {
  const name = nameOf(random.below(NAMES))
  const key = toHex(name)
  const known = held.get(key)
  const value = text(`${height}/${random.below(1_000)}`)
  const open = random.chance(0.85)
  const lives = known !== undefined && !isExpired(known, height, regtestParams)
  const wrong = random.chance(0.08)
  const isUpdate = lives !== wrong && known !== undefined
  const operation: NameSetting = isUpdate
    ? { op: "name_update", name, value }
    : { op: "name_firstupdate", name, rand: saltOf(3), value }
  // Some spend another coin than that of the name.
  const spent = isUpdate && !random.chance(0.05) ? known.coin : FOREIGN
  const transaction = currency(
    [input(spent, { sequence: random.below(1 << 30) })],
    [{ value: 1_000_000, script: nameScript(operation, open ? ANYONE : LOCKED) }],
    { version: NAME_TX_VERSION }
  )
  held.set(key, { coin: { transaction, vout: 0 }, height, open })
  return transaction
}

const commitment = (random: Random): Transaction => {
  const operation: NameOperation = nameNew(nameOf(random.below(NAMES)), saltOf(random.below(200)))
  const output = { value: 1_000_000, script: nameScript(operation, ANYONE) }
  return currency([input(FOREIGN, { sequence: random.below(1 << 30) })], [output], { version: NAME_TX_VERSION })
}

interface Growth {
  readonly random: Random
  readonly count: number
  /** Whether the blocks come late, and have the least work of an uneven network. */
  readonly late?: boolean
  readonly params?: ConsensusParams
}

/** The bits of a block after others. An uneven network has its difficulty from the second block above the anchor on. */
const bitsAfter = (blocks: ReadonlyArray<Block>, newTime: number, params: ConsensusParams): number => {
  const pointAt = (height: number): HeaderPoint => {
    const { bits = 0, time = 0 } = blocks[height]?.header ?? {}
    return { height, time, bits }
  }
  const prev = pointAt(blocks.length - 1)
  if (params !== UNEVEN || blocks.length <= ANCHOR + 1) return prev.bits
  return blocks.length === ANCHOR + 2 ? HEAVY : nextBits(params, { prev, newTime, ancestor: pointAt })
}

/** Tries nonces until a header has its work. */
export const worked = (parts: Omit<Parameters<typeof makeHeader>[0], "nonce">): Header => {
  for (let nonce = 0;; nonce++) {
    const header = makeHeader({ ...parts, nonce })
    if (meetsTarget(header.hash, header.bits, regtestParams.powLimit)) return header
  }
}

/** Adds blocks to a branch. */
const grow = (
  { blocks, held }: Branch,
  { count, late = false, params = regtestParams, random }: Growth
): Branch => {
  const all = [...blocks]
  const owners = new Map(held)
  for (let i = 0; i < count; i++) {
    const last = all.at(-1)
    if (last === undefined) throw new Error("a branch has a genesis block")
    const height = all.length
    const coinbase = makeCoinbase(height, [{ value: 1, script: ANYONE }], { extra: random.bytes(4) })
    const changes = height > 3 ? random.below(3) : 0
    const transactions = [coinbase]
    for (let j = 0; j < changes; j++) {
      transactions.push(random.chance(0.8) ? operate(owners, random, height) : commitment(random))
    }
    const time = last.header.time + (late ? LATE : SPACING)
    const header = worked({
      version: BLOCK_VERSION,
      prevHash: last.hash,
      merkleRoot: merkleRoot(transactions.map(({ txid }) => txid)).root,
      time,
      bits: bitsAfter(all, time, params)
    })
    all.push(makeBlock({ header, auxpow: undefined }, transactions))
  }
  return { blocks: all, held: owners }
}

/** The branch up to a height, with what its names are there. */
const cut = ({ blocks }: Branch, height: number): Branch => {
  const held = new Map<string, Held>()
  for (const [at, block] of blocks.slice(0, height + 1).entries()) {
    for (const { name, transaction, vout } of nameEffects(block, at, regtestParams)) {
      const script = transaction.outputs[vout]?.script
      held.set(toHex(name), { coin: { transaction, vout }, height: at, open: script?.at(-1) === ANYONE[0] })
    }
  }
  return { blocks: blocks.slice(0, height + 1), held }
}

/** The names that live at the end of some blocks. */
const truthOf = (blocks: ReadonlyArray<Block>, params: ConsensusParams): ReadonlyMap<string, Truth> => {
  const tip = blocks.length - 1
  const [anchor] = params.anchors
  const first = firstOfWindow(tip, 30)
  const floor = Math.max(first, (anchor?.height ?? 0) + 1)
  const isWhole = floor === first
  const found = new Map<string, Truth & Held>()
  for (const [height, block] of blocks.entries()) {
    for (const { name, operation, transaction, vout } of nameEffects(block, height, params)) {
      const key = toHex(name)
      const before = found.get(key)
      const lived = before !== undefined && !isExpired(before, height, params)
      const isInWindow = before !== undefined && before.height >= floor
      const spends = before !== undefined &&
        transaction.inputs.some(({ prevout }) =>
          toHex(prevout) === toHex(outpoint(before.coin.transaction.txid, before.coin.vout))
        )
      // What was below the window is on trust, under enough blocks. A registration begins again.
      const isTrusted = !isInWindow && height < tip - SPARE
      const signed = isTrusted || (operation.op === "name_firstupdate"
        ? !lived
        : lived && isInWindow && spends && before.open && before.signed)
      const script = transaction.outputs[vout]?.script
      const open = script?.at(-1) === ANYONE[0]
      found.set(key, { name, value: toHex(operation.value), height, signed, open, coin: { transaction, vout } })
    }
  }
  for (const [key, entry] of found) if (isExpired(entry, tip, params)) found.delete(key)
  return isWhole ? found : new Map([...found].map(([key, entry]) => [key, { ...entry, signed: false }]))
}

interface Branches {
  readonly main: Branch
  readonly forks: ReadonlyArray<Branch>
}

const ROOT: Branch = { blocks: [decodeBlock(regtestParams.network.genesisBlock)], held: new Map() }

/** Branches of blocks with the same work. `anchor`: the forks begin above it. */
const evenBranches = (random: Random, anchor: (tip: number) => number): Branches & { readonly anchor: number } => {
  const first = grow(ROOT, { random, count: 150 + random.below(60) })
  const tip = first.blocks.length - 1
  const height = anchor(tip)
  const forks = Array.from({ length: 3 }, () => {
    const most = tip - height - 1
    const depth = random.chance(0.2) ? 1 + random.below(most) : 1 + random.below(Math.min(most, 25))
    return grow(cut(first, tip - depth), { random, count: depth + random.below(3) })
  })
  // A branch that was ahead for a while loses against the next one.
  const longest = Math.max(...forks.map(({ blocks }) => blocks.length), first.blocks.length)
  const main = grow(first, { random, count: longest - first.blocks.length + 1 + random.below(4) })
  return { main, forks, anchor: height }
}

/** A network whose late blocks have little work: a branch with more work may have fewer blocks. */
const UNEVEN: ConsensusParams = { ...regtestParams, retargetInterval: 1_000_000, minDifficultySince: 0 }

/** Branches each of which has more work than the one before, and fewer blocks. The main one has the most. */
const unevenBranches = (random: Random): Branches => {
  const params = UNEVEN
  const heavy = (branch: Branch, count: number): Branch => grow(branch, { random, count, params })
  const start = heavy(ROOT, 100)
  const first = grow(start, { random, count: 380 + random.below(150), late: true, params })
  const tip = first.blocks.length - 1
  // What a window that followed the chain has removed by then.
  const removed = tip - 30 - 288
  const one = heavy(cut(first, tip - 200 - random.below(88)), 5)
  const two = heavy(cut(first, removed + random.below(30)), 10)
  return { main: heavy(first, 16 + random.below(4)), forks: [first, one, two] }
}

/** What is special about a world. */
export type WorldKind = "plain" | "near" | "uneven"

/** The kind of the world of a seed: `near`: its anchor is near the tip. */
export const kindOf = (seed: number): WorldKind => (["plain", "near", "plain", "uneven"] as const)[seed % 4] ?? "plain"

const branchesOf = (random: Random, kind: WorldKind): Branches & { readonly anchor: number } =>
  kind === "uneven"
    ? { ...unevenBranches(random), anchor: ANCHOR }
    : evenBranches(random, (tip) => kind === "near" ? tip - 5 - random.below(60) : ANCHOR)

/** The world of a seed. */
export const makeWorld = (seed: number, kind: WorldKind = "plain"): World => {
  const random = Random.of(seed, 1)
  const { anchor: height, forks, main } = branchesOf(random, kind)
  const anchor = main.blocks[height]
  if (anchor === undefined) throw new Error("the chain ends below its anchor")
  const params = {
    ...(kind === "uneven" ? UNEVEN : regtestParams),
    anchors: [{ height, hash: anchor.hash, chainwork: 2n * BigInt(height + 1) }]
  }
  const tips = new Map<string, ReadonlyArray<Block>>()
  for (const { blocks } of [main, ...forks]) {
    for (let end = height + 1; end < blocks.length; end++) {
      const key = toHex(blocks[end]?.hash ?? anchor.hash)
      if (!tips.has(key)) tips.set(key, blocks.slice(0, end + 1))
    }
  }
  const known = new Map<string, ReadonlyMap<string, Truth>>()
  return {
    params,
    main,
    forks,
    shrinks: kind === "uneven",
    names: [...Array(NAMES + 1).keys()].map(nameOf),
    truth: (tip) => {
      const key = toHex(tip)
      const truth = known.get(key) ?? truthOf(tips.get(key) ?? [], params)
      known.set(key, truth)
      return truth
    }
  }
}
