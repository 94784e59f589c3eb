import { MIN_FIRSTUPDATE_DEPTH } from "../../consensus/names.ts"
import { binaryString, type Bytes, equal } from "../../protocol/bytes.ts"
import { NAME_TX_VERSION, parseNameScript } from "../../protocol/nameOperation.ts"
import { outpointKey, type Transaction } from "../../protocol/transaction.ts"
import type { RegistrationEntry } from "../keys/WalletDocument.ts"
import type { RegistrationStep, WalletTx } from "../Wallet.ts"
import { entryKey, isUnsent, newOutpoint } from "./entries.ts"

/**
 * Where a registration stands, as the wallet's transactions tell it:
 *
 * ```
 *             block              12 deep, NAME_FIRSTUPDATE sent       block
 *  committed ───────▶ maturing ─────────────────────────────▶ revealed ─────▶ done
 *      ▲                 │  ▲                                    │  ▲           │
 *      └── reorganised ──┘  └────── reorganised or dropped ──────┘  └───────────┘
 * ```
 *
 * From each but `done`, somebody else's registration of the name leads to `failed`. Nothing is remembered that the
 * transactions tell: after a crash the same question gets the same answer. So at most one NAME_FIRSTUPDATE is made for a
 * NAME_NEW, whatever was noted of it.
 *
 * The mempool would take the NAME_FIRSTUPDATE from the first confirmation on (reference/protocol.md 5.6, M4). It is
 * sent when the next block may hold it: until then it would tell everybody the name while there is still time to be
 * faster.
 */

/** The transactions of a wallet that matter to registrations. */
export interface Movements {
  /** The transaction that spends an outpoint, by `outpointKey`: of several the one that is nearest to a block. */
  readonly spender: (outpoint: string) => WalletTx | undefined
  /** The transaction that made a NAME_NEW, by its commitment (`binaryString`), with the output's index. */
  readonly maker: (commitment: string) => { readonly tx: WalletTx; readonly vout: number } | undefined
}

/** How near a transaction is to a block; below zero where it will never be in one. */
const nearness = ({ state }: WalletTx): number => {
  switch (state.type) {
    case "confirmed":
      return 2
    case "pending":
      return 1
    case "inactive":
      return state.abandoned ? -1 : 0
    case "conflicted":
      return -1
  }
}

/** Looks through the transactions of a wallet once. */
export const movementsOf = (transactions: ReadonlyArray<WalletTx>): Movements => {
  const spenders = new Map<string, WalletTx>()
  const makers = new Map<string, { readonly tx: WalletTx; readonly vout: number }>()
  for (const tx of transactions) {
    if (tx.transaction.version !== NAME_TX_VERSION || nearness(tx) < 0) continue
    for (const { prevout } of tx.transaction.inputs) {
      const key = outpointKey(prevout)
      const other = spenders.get(key)
      if (other === undefined || nearness(tx) > nearness(other)) spenders.set(key, tx)
    }
    for (const [vout, { script }] of tx.transaction.outputs.entries()) {
      const operation = parseNameScript(script)?.operation
      if (operation?.op !== "name_new") continue
      const key = binaryString(operation.commitment)
      const other = makers.get(key)
      if (other === undefined || nearness(tx) > nearness(other.tx)) makers.set(key, { tx, vout })
    }
  }
  return { spender: (key) => spenders.get(key), maker: (key) => makers.get(key) }
}

/** Whether a transaction registers a name. */
const registers = ({ outputs }: Transaction, name: Bytes): boolean =>
  outputs.some(({ script }) => {
    const operation = parseNameScript(script)?.operation
    return operation?.op === "name_firstupdate" && equal(operation.name, name)
  })

/** What a registration is judged by. */
export interface Evidence {
  /** Height of the last block that the wallet has seen. */
  readonly height: number
  /** The wallet's transaction with the NAME_NEW, if it knows it. */
  readonly made: WalletTx | undefined
  /** The wallet's transaction that spends it. */
  readonly spender: WalletTx | undefined
  /** The operation that somebody holds the name by, as of the next block: its txid in wire order. */
  readonly holder: Bytes | undefined
}

/** Where a registration stands, and what is to be done. */
export interface Verdict {
  readonly step: RegistrationStep
  readonly note: string
  readonly firstUpdateTxid: Bytes | undefined
  /** Nothing; make a NAME_NEW; send the NAME_FIRSTUPDATE. */
  readonly action: "wait" | "commit" | "reveal"
}

export const NOTES = {
  taken: "somebody else has registered the name",
  abandoned: "its name_new was abandoned",
  conflicted: "its name_new can never be confirmed: another transaction spends its coins",
  unknown: "the wallet does not know its name_new yet",
  waitsForNew: "waits for the block of its name_new",
  waitsForBlock: "waits for the block of its name_firstupdate",
  notInPool: "its name_firstupdate waits to be offered again"
} as const

const verdict = (
  step: RegistrationStep,
  note = "",
  more: Partial<Pick<Verdict, "firstUpdateTxid" | "action">> = {}
): Verdict => ({ step, note, firstUpdateTxid: more.firstUpdateTxid, action: more.action ?? "wait" })

/** The verdict on a registration whose NAME_FIRSTUPDATE was made. */
const judgeRevealed = (entry: RegistrationEntry, spender: WalletTx, { holder }: Evidence): Verdict => {
  const { state, transaction } = spender
  const firstUpdateTxid = transaction.txid
  if (state.type === "confirmed") return verdict("done", "", { firstUpdateTxid })
  // A block that the wallet is about to see may already be in the names: then the holder is this very transaction.
  if (holder !== undefined && !equal(holder, firstUpdateTxid) && entry.value !== undefined) {
    return verdict("failed", NOTES.taken, { firstUpdateTxid })
  }
  const note = state.type === "pending" ? NOTES.waitsForBlock : NOTES.notInPool
  return verdict("revealed", note, { firstUpdateTxid })
}

/** The verdict on a registration that has a NAME_NEW at most. */
const judgeCommitted = (entry: RegistrationEntry, { height, made }: Evidence): Verdict => {
  const alone = entry.value === undefined
  if (made === undefined) {
    return isUnsent(entry) ? verdict("committed", "", { action: "commit" }) : verdict(entry.step, NOTES.unknown)
  }
  switch (made.state.type) {
    case "confirmed": {
      const ready = made.state.height + MIN_FIRSTUPDATE_DEPTH
      if (alone) return verdict("maturing")
      return height + 1 < ready
        ? verdict("maturing", `waits until block ${ready} may hold its name_firstupdate`)
        : verdict("maturing", "", { action: "reveal" })
    }
    case "conflicted":
      return alone ? verdict("failed", NOTES.conflicted) : verdict("committed", "", { action: "commit" })
    case "inactive":
      if (made.state.abandoned) return verdict("failed", NOTES.abandoned)
      return verdict("committed", NOTES.waitsForNew)
    case "pending":
      return verdict("committed", NOTES.waitsForNew)
  }
}

/** Says where a registration stands that has not failed, and what is to be done about it. */
export const registrationVerdict = (entry: RegistrationEntry, evidence: Evidence): Verdict => {
  const { holder, spender } = evidence
  if (spender !== undefined && registers(spender.transaction, entry.name)) {
    return judgeRevealed(entry, spender, evidence)
  }
  if (entry.step === "done" && evidence.made === undefined) {
    return { ...verdict("done"), firstUpdateTxid: entry.firstUpdateTxid }
  }
  if (holder !== undefined && entry.value !== undefined) return verdict("failed", NOTES.taken)
  return judgeCommitted(entry, evidence)
}

/** An entry with the NAME_NEW that carries its commitment now, as the wallet's transactions tell it. */
export const withMaker = (entry: RegistrationEntry, movements: Movements): RegistrationEntry => {
  const found = movements.maker(entryKey(entry))
  if (found === undefined) return entry
  const { tx: { transaction: { txid } }, vout } = found
  return equal(entry.newTxid, txid) && entry.newVout === vout ? entry : { ...entry, newTxid: txid, newVout: vout }
}

/** Gathers what an entry (`withMaker`) is judged by. */
export const evidenceOf = (
  entry: RegistrationEntry,
  movements: Movements,
  known: {
    readonly height: number
    readonly transaction: (txid: string) => WalletTx | undefined
    readonly holder: Bytes | undefined
  }
): Evidence => ({
  height: known.height,
  made: isUnsent(entry) ? undefined : known.transaction(binaryString(entry.newTxid)),
  spender: isUnsent(entry) ? undefined : movements.spender(newOutpoint(entry)),
  holder: known.holder
})
