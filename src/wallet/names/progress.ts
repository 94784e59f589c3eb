import { MIN_FIRSTUPDATE_DEPTH } from "../../consensus/names.ts"
import { binaryString, type Bytes, equal } from "../../protocol/bytes.ts"
import { type OutpointKey, type TxidKey, txidKey } from "../../protocol/keys.ts"
import { NAME_TX_VERSION, parseNameScript } from "../../protocol/nameOperation.ts"
import { outpointKey } from "../../protocol/transaction.ts"
import { registers } from "../keys/documentCheck.ts"
import type { RegistrationEntry } from "../keys/registrationEntry.ts"
import type { WalletTx } from "../ledger/WalletLedger.ts"
import { entryKey, isUnsent, newOutpoint } from "./entries.ts"
import type { RegistrationStep } from "./WalletNames.ts"

/**
 * The state of a registration, derived from the wallet's transactions:
 *
 * ```
 *             block              12 deep, NAME_FIRSTUPDATE sent       block
 *  committed ───────▶ maturing ─────────────────────────────▶ revealed ─────▶ done
 *      ▲                 │  ▲                                    │  ▲           │
 *      └── reorganised ──┘  └────── reorganised or dropped ──────┘  └───────────┘
 * ```
 *
 * From each step except `done`, another owner's registration of the name leads to `failed`. State that follows from the
 * transactions is not stored, so that a crash changes nothing and a NAME_NEW gets at most one NAME_FIRSTUPDATE.
 *
 * A manual NAME_NEW does not end while its coin may be unspent: a NAME_FIRSTUPDATE can open a NAME_NEW of any age
 * (reference/protocol.md 4.5, N17), even after the expiry of another owner's name.
 *
 * The mempool accepts a NAME_FIRSTUPDATE from the first confirmation on (reference/protocol.md 5.6, M4). The wallet
 * sends it only when the next block may contain it, because it reveals the name to competitors.
 */

export interface Movements {
  /** If several transactions spend it, the one closest to confirmation. */
  readonly spender: (outpoint: OutpointKey) => WalletTx | undefined
  /** By commitment (`binaryString`), with the output's index. */
  readonly maker: (commitment: string) => { readonly tx: WalletTx; readonly vout: number } | undefined
}

/** Negative if it will never be confirmed. */
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

export const movementsOf = (transactions: ReadonlyArray<WalletTx>): Movements => {
  const spenders = new Map<OutpointKey, WalletTx>()
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

export interface Evidence {
  /** The last block that the wallet has processed. */
  readonly height: number
  /** The wallet transaction with the NAME_NEW. */
  readonly made: WalletTx | undefined
  readonly spender: WalletTx | undefined
  /** Txid (wire order) of the operation that holds the name, as of the next block. */
  readonly holder: Bytes | undefined
}

export interface Verdict {
  readonly step: RegistrationStep
  readonly note: string
  readonly failure: RegistrationEntry["failure"]
  readonly firstUpdateTxid: Bytes | undefined
  /** `commit`: make a NAME_NEW; `reveal`: send the NAME_FIRSTUPDATE. */
  readonly action: "wait" | "commit" | "reveal"
}

export const NOTES = {
  unsigned: "waits for its signed name_new",
  full: "waits for a block: too many payments of the wallet wait for one",
  unknown: "the wallet does not know its name_new yet",
  waitsForNew: "waits for the block of its name_new",
  waitsForBlock: "waits for the block of its name_firstupdate",
  notInPool: "its name_firstupdate waits to be offered again"
} as const

const verdict = (
  step: RegistrationStep,
  note = "",
  more: Partial<Pick<Verdict, "firstUpdateTxid" | "action">> = {}
): Verdict => ({
  step,
  note,
  failure: undefined,
  firstUpdateTxid: more.firstUpdateTxid,
  action: more.action ?? "wait"
})

const failed = (failure: NonNullable<Verdict["failure"]>): Verdict => ({ ...verdict("failed"), failure })

/** For a registration with a NAME_FIRSTUPDATE. */
const judgeRevealed = (entry: RegistrationEntry, spender: WalletTx, { holder }: Evidence): Verdict => {
  const { state, transaction } = spender
  const firstUpdateTxid = transaction.txid
  if (state.type === "confirmed") return verdict("done", "", { firstUpdateTxid })
  // names.db may include a block that the wallet has not processed yet. Then the holder is this transaction itself.
  if (holder !== undefined && !equal(holder, firstUpdateTxid) && entry.value !== undefined) {
    return { ...failed({ reason: "taken", coinsIn: "name_firstupdate" }), firstUpdateTxid }
  }
  const note = state.type === "pending" ? NOTES.waitsForBlock : NOTES.notInPool
  return verdict("revealed", note, { firstUpdateTxid })
}

/** For a registration without a NAME_FIRSTUPDATE. */
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
      return alone ? failed({ reason: "conflicted" }) : verdict("committed", "", { action: "commit" })
    case "inactive":
      if (made.state.abandoned) return failed({ reason: "abandoned" })
      return verdict("committed", NOTES.waitsForNew)
    case "pending":
      return verdict("committed", NOTES.waitsForNew)
  }
}

export const registrationVerdict = (entry: RegistrationEntry, evidence: Evidence): Verdict => {
  const { holder, spender } = evidence
  if (spender !== undefined && registers(spender.transaction, entry.name)) {
    return judgeRevealed(entry, spender, evidence)
  }
  if (entry.step === "done" && evidence.made === undefined) {
    return { ...verdict("done"), firstUpdateTxid: entry.firstUpdateTxid }
  }
  if (holder !== undefined && entry.value !== undefined) {
    const isHeld = evidence.made?.state.type === "confirmed"
    return failed({ reason: "taken", ...isHeld ? { coinsIn: "name_new" } : {} })
  }
  return judgeCommitted(entry, evidence)
}

/** Minimum blocks; 0: now, or when the owner opens a manual NAME_NEW. `undefined` if ended or unknown. */
export const blocksToNextStep = (
  { step }: Pick<RegistrationEntry, "step">,
  made: WalletTx | undefined,
  height: number
): number | undefined => {
  if (step === "committed" || step === "revealed") return 1
  return step === "maturing" && made?.state.type === "confirmed"
    ? Math.max(0, made.state.height + MIN_FIRSTUPDATE_DEPTH - 1 - height)
    : undefined
}

/** Sets the NAME_NEW that currently has its commitment, from the wallet's transactions. */
export const withMaker = (entry: RegistrationEntry, movements: Movements): RegistrationEntry => {
  const found = movements.maker(entryKey(entry))
  if (found === undefined) return entry
  const { tx: { transaction: { txid } }, vout } = found
  return equal(entry.newTxid, txid) && entry.newVout === vout ? entry : { ...entry, newTxid: txid, newVout: vout }
}

/** For an entry after `withMaker`. */
export const evidenceOf = (
  entry: RegistrationEntry,
  movements: Movements,
  known: {
    readonly height: number
    readonly transaction: (txid: TxidKey) => WalletTx | undefined
    readonly holder: Bytes | undefined
  }
): Evidence => ({
  height: known.height,
  made: isUnsent(entry) ? undefined : known.transaction(txidKey(entry.newTxid)),
  spender: isUnsent(entry) ? undefined : movements.spender(newOutpoint(entry)),
  holder: known.holder
})
