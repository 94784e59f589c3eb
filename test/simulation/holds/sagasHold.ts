import { readFileSync } from "node:fs"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import { binaryString, displayHash, equal, toHex } from "../../../src/protocol/bytes.ts"
import { nameKey } from "../../../src/protocol/keys.ts"
import { nameCommitment, parseNameScript } from "../../../src/protocol/nameOperation.ts"
import { nameField } from "../../../src/protocol/nameText.ts"
import type { ListedRegistration } from "../../../src/wallet/names/WalletNames.ts"
import type { Wallet } from "../../../src/wallet/Wallet.ts"
import type { Property, WorldNode } from "../World.ts"
import { firstFault, firstWalletFault, serviceOf } from "./chains.ts"

const isSent = ({ newTxid }: ListedRegistration): boolean => newTxid.some((byte) => byte !== 0)

const isUnderWay = ({ step, value }: ListedRegistration): boolean =>
  value !== undefined && step !== "done" && step !== "failed"

/** One registration of a name at a time. */
const doubleFault = (all: ReadonlyArray<ListedRegistration>): string | undefined => {
  const names = new Set<string>()
  for (const { name } of all.filter(isUnderWay)) {
    if (names.has(nameKey(name))) return `the wallet registers ${nameField(name)} twice`
    names.add(nameKey(name))
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

/** What the wallet shows is in its file, which replaces the one before in one step. */
const storedFault = (
  text: string,
  all: ReadonlyArray<ListedRegistration>,
  sent: ReadonlyArray<string>
): string | undefined => {
  for (const { name, rand } of all) {
    if (!text.includes(toHex(rand))) return `the registration of ${nameField(name)} is not in the file of the wallet`
  }
  for (const txid of sent) {
    if (!text.includes(txid)) {
      return `the payment ${txid.slice(0, 12)} is in the mempool and not in the file of the wallet`
    }
  }
  return undefined
}

/** Own payments in the mempool, in display order of their txids. */
const sentOf = (node: WorldNode, wallet: Wallet): ReadonlyArray<string> => {
  const pool = serviceOf(node, Mempool)
  return wallet.ledger.transactions().flatMap(({ spent, state, transaction }) =>
    state.type !== "confirmed" && spent.some((output) => output !== undefined) &&
      pool?.get(transaction.txidKey) !== undefined
      ? [displayHash(transaction.txid)]
      : []
  )
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
}

class Sagas {
  private readonly memories = new Map<string, Memory>()

  check(node: WorldNode): string | undefined {
    return firstWalletFault(node, (wallet) => this.wallet(node, wallet))
  }

  private wallet(node: WorldNode, wallet: Wallet): string | undefined {
    const key = `${node.name} ${wallet.name}`
    const memory = this.memories.get(key) ?? { life: 0, list: undefined, all: "", acknowledged: new Map() }
    this.memories.set(key, memory)
    const all = wallet.names.registrations()
    const list = wallet.ledger.transactions()
    const told = all.map(({ newTxid, rand, step }) => `${toHex(rand)} ${toHex(newTxid)} ${step}`).join()
    if (memory.life === node.life && memory.list === list && memory.all === told) return undefined
    Object.assign(memory, { life: node.life, list, all: told })
    return this.lostFault(memory, all) ?? doubleFault(all) ?? saltFault(wallet, all) ??
      storedFault(fileOf(wallet), all, sentOf(node, wallet))
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
    const sagas = new Sagas()
    return { during: () => firstFault(world.whole, (node) => sagas.check(node)) }
  }
}
