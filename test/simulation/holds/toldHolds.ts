import * as Effect from "effect/Effect"
import { type Bytes, displayHash, parseDisplayHash, toHex } from "../../../src/protocol/bytes.ts"
import { nameKey, txidKey } from "../../../src/protocol/keys.ts"
import type { Wallet } from "../../../src/wallet/Wallet.ts"
import { Wallets } from "../../../src/wallet/Wallets.ts"
import { catchUp } from "../actors/replicas.ts"
import { type NameTold, type Replica, type Source, type Tip, toldIn } from "../actors/Told.ts"
import { MINUTE } from "../plan.ts"
import type { Property, World, WorldNode } from "../World.ts"
import { comparedAt, firstFault, serviceOf, settledTip } from "./chains.ts"
import { isExpiredAt, type ModelState, type ReplayModel } from "./ReplayModel.ts"

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Whether the wallet of a node was replaced by an older copy since. */
const isForgotten = (world: World, { at, node }: Source): boolean => (toldIn(world).restored.get(node) ?? -1) >= at

const walletFault = (world: World, node: WorldNode, wallet: Wallet): string | undefined => {
  const { registrations, transactions } = toldIn(world)
  for (const sent of transactions) {
    if (sent.node !== node.name || isForgotten(world, sent)) continue
    const txid = parseDisplayHash(sent.txid)
    if (txid === undefined || wallet.ledger.transaction(txidKey(txid)) === undefined) {
      return `the wallet has lost ${sent.txid.slice(0, 12)} (${sent.what}), which it had acknowledged`
    }
  }
  const listed = wallet.names.registrations()
  for (const begun of registrations) {
    if (begun.node !== node.name || begun.cancelled || begun.newTxid === undefined || isForgotten(world, begun)) {
      continue
    }
    const key = nameKey(utf8(begun.name))
    // A registration that a block made impossible begins again with another salt.
    if (!listed.some(({ name, rand }) => toHex(rand) === begun.salt || nameKey(name) === key)) {
      return `the wallet has lost the registration of ${begun.name}, which it had acknowledged`
    }
  }
  return undefined
}

/** What the wallets acknowledged is there after each start. */
export const acknowledgedHolds: Property = {
  name: "what was acknowledged is not lost",
  check: (world) => ({
    every: 2_000,
    during: () =>
      firstFault(world.whole, (node) => {
        const wallet = serviceOf(node, Wallets)?.get("")
        return wallet === undefined ? undefined : walletFault(world, node, wallet)
      })
  })
}

/** Whether an answer is true at a block of the model. */
const isTrue = ({ name, record }: NameTold, { height, names }: ModelState): boolean => {
  const said = names.get(nameKey(utf8(name)))
  const lives = said !== undefined && !isExpiredAt(said.height, height)
  if (record === undefined) return !lives
  return said !== undefined && displayHash(said.txid) === record.txid && said.height === record.height &&
    toHex(said.value) === toHex(utf8(record.value)) && record.expired !== lives
}

/** The blocks at which an answer may be true: those of the chain since its own block, and the tip before the question. */
const blocksOf = ({ after, asOf, before }: NameTold, model: ReplayModel): ReadonlyArray<Bytes> => {
  const hashes: Array<Bytes> = [hashOf(after), hashOf(before)]
  for (let { height } = after; height >= Math.min(asOf.height, before.height); height--) {
    const block = model.at(height)
    if (block !== undefined) hashes.push(block.hash)
  }
  return hashes
}

/**
 * The last block whose names were still there while it left the chain. Stored names go back in one step, and an answer
 * has the height from after the record.
 */
const leavingBlock = ({ asOf, names }: NameTold): ReadonlyArray<Bytes> =>
  names !== undefined && names.height >= asOf.height ? [hashOf(names)] : []

const hashOf = ({ hash }: Tip): Bytes => parseDisplayHash(hash) ?? new Uint8Array(32)

/** A light node must not say that the owner signed what no owner signed. */
const theftFault = (world: World, { asOf, name, record }: NameTold): string | undefined =>
  record !== undefined && toldIn(world).thefts.has(record.txid) && asOf.proof !== "work"
    ? `${name} was told as of ${asOf.proof}, and its owner did not sign ${record.txid.slice(0, 12)}`
    : undefined

const answerFault = (told: NameTold, model: ReplayModel): string | undefined => {
  const blocks = [...blocksOf(told, model), ...leavingBlock(told)]
  if (blocks.some((hash) => isTrue(told, model.moveTo(hash)))) return undefined
  const { after, asOf, before, name, record } = told
  const said = record === undefined
    ? "denied"
    : `told as of height ${record.height}${record.expired ? ", expired" : ""}`
  return `${name} was ${said} (asOf ${asOf.height}, tip from ${before.height} to ${after.height}), which no block says`
}

/** Each answer of a client was true at some block of the node's chain. */
export const clientsHold: Property = {
  name: "clients were told the truth",
  check: (world) => {
    let looked = 0
    return {
      every: 1_000,
      during: () => {
        const { names } = toldIn(world)
        for (; looked < names.length; looked++) {
          const told = names[looked]
          if (told === undefined) continue
          const fault = theftFault(world, told) ??
            comparedAt(world, hashOf(told.after), (model) => answerFault(told, model))
          if (fault !== undefined) return `${told.node}: ${fault}`
        }
        return undefined
      }
    }
  }
}

/** The difference between a copy of the names and the model. */
const copyFault = ({ names }: Replica, model: ModelState): string | undefined => {
  for (const [name, record] of names) {
    const said = model.names.get(nameKey(utf8(name)))
    if (said === undefined) return `the copy has ${name}, which is in no block`
    if (displayHash(said.txid) !== record.txid || said.height !== record.height) {
      return `the copy has ${name} of height ${record.height}, the chain of height ${said.height}`
    }
  }
  return names.size === model.names.size ? undefined : `the copy has ${names.size} names of ${model.names.size}`
}

/** Virtual milliseconds in which a copy must have read the rest. */
const REST = 10 * MINUTE

/** Copies by `changes` equal the names of their node at the end. */
export const replicasHold: Property = {
  name: "copies by changes equal the names",
  check: (world) => ({
    atEnd: () =>
      Effect.gen(function*() {
        const { replicas } = toldIn(world)
        yield* Effect.forEach(replicas, (replica) => catchUp(world, replica, REST), { concurrency: "unbounded" })
        for (const replica of replicas) {
          const node = world.node(replica.node)
          const tip = settledTip(node)
          if (tip === undefined) return `${node.name} (${node.state}) has no tip to compare its copy with`
          let isCompared = false
          const fault = comparedAt(world, tip.hash, ({ state }) => {
            isCompared = true
            return copyFault(replica, state)
          })
          if (fault !== undefined) return `${node.name}: ${fault}`
          if (!isCompared) return `no node has the tip of ${node.name}, of height ${tip.height}`
        }
        return undefined
      })
  })
}
