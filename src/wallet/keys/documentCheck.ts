import * as Either from "effect/Either"
import { decodeAddress } from "../../protocol/address.ts"
import { type Bytes, displayHash, equal } from "../../protocol/bytes.ts"
import { nameCommitment, parseNameScript } from "../../protocol/nameOperation.ts"
import { networks } from "../../protocol/networks.ts"
import { scriptTemplate } from "../../protocol/scriptType.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import { faultless } from "./descriptors.ts"
import { documentChains } from "./documentChains.ts"
import { storedTransaction } from "./documentParts.ts"
import type { RegistrationEntry } from "./registrationEntry.ts"
import type { WalletDocument } from "./WalletDocument.ts"

/**
 * Checks the members of a well-formed document against each other, without secrets: errors that a checksum does not
 * detect. Each function returns the problem, never content.
 */

const keysProblem = (document: WalletDocument): string | undefined => {
  const chains = faultless(() => documentChains(document, { keypool: 0, seed: 0, reach: 0 }))
  return Either.isLeft(chains) ? chains.left.reason : undefined
}

/** Whether a transaction has a NAME_FIRSTUPDATE of the name. */
export const registers = ({ outputs }: Transaction, name: Bytes): boolean =>
  outputs.some(({ script }) => {
    const operation = parseNameScript(script)?.operation
    return operation?.op === "name_firstupdate" && equal(operation.name, name)
  })

const registrationProblem = (
  { firstUpdateTxid, name, newTxid, newVout, rand }: RegistrationEntry,
  known: (txid: Bytes) => Transaction | undefined
): string | undefined => {
  const made = known(newTxid)
  if (made !== undefined) {
    const operation = parseNameScript(made.outputs[newVout]?.script ?? new Uint8Array(0))?.operation
    const matches = operation?.op === "name_new" && equal(operation.commitment, nameCommitment(rand, name))
    if (!matches) return "name or salt do not open its NAME_NEW"
  }
  const revealed = firstUpdateTxid === undefined ? undefined : known(firstUpdateTxid)
  return revealed === undefined || registers(revealed, name) ? undefined : "its NAME_FIRSTUPDATE is of another name"
}

export const registrationsProblem = (
  { registrations }: WalletDocument,
  known: (txid: Bytes) => Transaction | undefined
): string | undefined => {
  for (const [at, entry] of registrations.entries()) {
    const problem = registrationProblem(entry, known)
    if (problem !== undefined) return `registrations.${at}: ${problem}`
  }
  return undefined
}

const ownersProblem = ({ labels, network, registrations }: WalletDocument): string | undefined => {
  const label = labels.findIndex(({ address }) => "error" in decodeAddress(networks[network], address))
  if (label !== -1) return `labels.${label}: its address is not of ${network}`
  const registration = registrations.findIndex(({ destination }) =>
    destination !== undefined && scriptTemplate(destination).type === "nonstandard"
  )
  return registration === -1 ? undefined : `registrations.${registration}: its owner is not an address`
}

export const documentProblem = (document: WalletDocument): string | undefined => {
  const keys = keysProblem(document)
  if (keys !== undefined) return keys
  if (document.birthday > document.createdAt) return "birthday is later than createdAt"
  const known = new Map<string, Transaction>()
  for (const [at, { hex, txid }] of document.transactions.entries()) {
    const transaction = storedTransaction(hex)
    if (transaction === undefined || displayHash(transaction.txid) !== txid) {
      return `transactions.${at}: its bytes are not those of its txid`
    }
    known.set(txid, transaction)
  }
  const queued = document.queue.findIndex((hex) => storedTransaction(hex) === undefined)
  if (queued !== -1) return `queue.${queued} is not a transaction`
  return registrationsProblem(document, (txid) => known.get(displayHash(txid))) ?? ownersProblem(document)
}
