import { readFileSync } from "node:fs"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import { binaryString, displayHash, equal, toHex } from "../../../src/protocol/bytes.ts"
import { nameCommitment, parseNameScript } from "../../../src/protocol/nameOperation.ts"
import { nameField } from "../../../src/protocol/nameText.ts"
import type { ListedRegistration } from "../../../src/wallet/names/WalletNames.ts"
import type { Wallet } from "../../../src/wallet/Wallet.ts"
import { toldIn } from "../actors/Told.ts"
import type { Property, World, WorldNode } from "../World.ts"
import { firstFault, firstWalletFault, serviceOf } from "./chains.ts"

const isSent = ({ newTxid }: ListedRegistration): boolean => newTxid.some((byte) => byte !== 0)

const isUnderWay = ({ step, value }: ListedRegistration): boolean =>
  value !== undefined && step !== "done" && step !== "failed"

/**
 * One registration of a name at a time. One that had ended may go on beside a later one, since its block left the chain:
 * `ended` has the salts of those, until they are the only one of their name.
 */
const doubleFault = (all: ReadonlyArray<ListedRegistration>, ended: Set<string>): string | undefined => {
  for (const { rand, step } of all) if (step === "done") ended.add(toHex(rand))
  const underWay = all.filter(isUnderWay)
  for (const { name, rand } of underWay) {
    const together = underWay.filter((each) => equal(each.name, name))
    if (together.length === 1) ended.delete(toHex(rand))
    const counted = together.filter((each) => !ended.has(toHex(each.rand)))
    if (counted.length > 1) return `the wallet registers ${nameField(name)} twice`
  }
  return undefined
}

/** The wallet has the salt of each of its commitments. */
const saltFault = (wallet: Wallet, all: ReadonlyArray<ListedRegistration>): string | undefined => {
  const known = new Set(all.map(({ name, rand }) => binaryString(nameCommitment(rand, name))))
  for (const { spent, state, transaction } of wallet.ledger.transactions()) {
    if (state.type === "conflicted" || spent.every((output) => output === undefined)) continue
    for (const { script } of transaction.outputs) {
      const operation = parseNameScript(script)?.operation
      if (operation?.op === "name_new" && !known.has(binaryString(operation.commitment))) {
        return `the salt of the name_new ${displayHash(transaction.txid).slice(0, 12)} is not stored`
      }
    }
  }
  return undefined
}

const fileOf = ({ path }: Wallet): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

/**
 * What a wallet shows is in its file. A write is in the file before the wallet shows it: the file may already lack what
 * it had, until the registrations that the wallet shows change. A node that starts shows what its file has.
 */
export class ShownSalts {
  private readonly stored = new Set<string>()
  /** Stored once, shown at the last look, and not in the file any more. */
  private leaving: ReadonlySet<string> = new Set()

  /** `isChange`: whether the wallet shows other registrations than at the last look, in the same life of its node. */
  fault(
    all: ReadonlyArray<Pick<ListedRegistration, "name" | "rand">>,
    { isChange, text }: { readonly text: string; readonly isChange: boolean }
  ): string | undefined {
    const missing = new Set<string>()
    for (const { name, rand } of all) {
      const salt = toHex(rand)
      if (text.includes(salt)) {
        this.stored.add(salt)
        continue
      }
      if (!this.stored.has(salt) || isChange && this.leaving.has(salt)) {
        return `the registration of ${nameField(name)} is not in the file of the wallet`
      }
      missing.add(salt)
    }
    this.leaving = missing
    return undefined
  }
}

const sentFault = (text: string, sent: ReadonlyArray<string>): string | undefined => {
  const missing = sent.find((txid) => !text.includes(txid))
  return missing === undefined
    ? undefined
    : `the payment ${missing.slice(0, 12)} is in the mempool and not in the file of the wallet`
}

/**
 * Payments that the wallet itself sent, if they are in the mempool, in display order of their txids. What an older copy
 * of its file lacks comes from the mempool and is stored afterwards, as the payments of rivals are: of a restored wallet,
 * only what callers were told since counts.
 */
const sentOf = (world: World, node: WorldNode, wallet: Wallet): ReadonlyArray<string> => {
  const pool = serviceOf(node, Mempool)
  const { restored, rivals, transactions } = toldIn(world)
  const since = restored.get(node.name)
  const told = since === undefined
    ? undefined
    : new Set(transactions.filter((each) => each.node === node.name && each.at > since).map(({ txid }) => txid))
  return wallet.ledger.transactions().flatMap(({ spent, state, transaction }) =>
    state.type !== "confirmed" && spent.some((output) => output !== undefined) &&
      pool?.get(transaction.txidKey) !== undefined
      ? [displayHash(transaction.txid)]
      : []
  ).filter((txid) => !rivals.has(txid) && (told === undefined || told.has(txid)))
}

/** A second NAME_NEW of a registration, whose first a block made impossible, has another salt. */
const isSuccessor = (now: ListedRegistration, before: ListedRegistration): boolean =>
  equal(now.name, before.name) && now.createdAt === before.createdAt

interface Memory {
  life: number
  list: unknown
  all: string
  /** Registrations with a transaction, by salt. */
  readonly acknowledged: Map<string, ListedRegistration>
  /** The salts of registrations that were done, and may go on beside others. */
  readonly ended: Set<string>
  readonly shown: ShownSalts
}

const newMemory = (): Memory => ({
  life: 0,
  list: undefined,
  all: "",
  acknowledged: new Map(),
  ended: new Set(),
  shown: new ShownSalts()
})

class Sagas {
  private readonly world: World
  private readonly memories = new Map<string, Memory>()

  constructor(world: World) {
    this.world = world
  }

  check(node: WorldNode): string | undefined {
    return firstWalletFault(node, (wallet) => this.wallet(node, wallet))
  }

  private wallet(node: WorldNode, wallet: Wallet): string | undefined {
    const key = `${node.name} ${wallet.name}`
    const memory = this.memories.get(key) ?? newMemory()
    this.memories.set(key, memory)
    const all = wallet.names.registrations()
    const list = wallet.ledger.transactions()
    const told = all.map(({ newTxid, rand, step }) => `${toHex(rand)} ${toHex(newTxid)} ${step}`).join()
    const [isSameLife, isSame] = [memory.life === node.life, memory.all === told]
    if (isSameLife && isSame && memory.list === list) return undefined
    Object.assign(memory, { life: node.life, list, all: told })
    const text = fileOf(wallet)
    return this.lostFault(memory, all) ?? doubleFault(all, memory.ended) ?? saltFault(wallet, all) ??
      memory.shown.fault(all, { text, isChange: isSameLife && !isSame }) ??
      sentFault(text, sentOf(this.world, node, wallet))
  }

  private lostFault({ acknowledged }: Memory, all: ReadonlyArray<ListedRegistration>): string | undefined {
    for (const [salt, known] of acknowledged) {
      if (all.some((each) => equal(each.rand, known.rand))) continue
      if (!all.some((each) => isSuccessor(each, known))) return `the registration of ${nameField(known.name)} is lost`
      acknowledged.delete(salt)
    }
    for (const each of all) if (isSent(each)) acknowledged.set(toHex(each.rand), each)
    return undefined
  }
}

export const sagasHold: Property = {
  name: "registrations and payments are stored before they are sent",
  check: (world) => {
    const sagas = new Sagas(world)
    return { during: () => firstFault(world.whole, (node) => sagas.check(node)) }
  }
}
