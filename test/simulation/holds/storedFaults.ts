import { firstOperationAt, heightOfOperation } from "../../../src/names/NameEntry.ts"
import { binaryString, type Bytes, displayHash, equal } from "../../../src/protocol/bytes.ts"
import { fromBinaryString } from "../../../src/protocol/bytes.ts"
import { type NameKey, nameKey, type OutpointKey } from "../../../src/protocol/keys.ts"
import { nameField } from "../../../src/protocol/nameText.ts"
import { outpointText } from "../../../src/protocol/transaction.ts"
import type { NamesContent, StateContent, StoredOperation } from "./nodeFiles.ts"
import { isExpiredAt, type ModelOperation, type ModelState, outpointOf } from "./ReplayModel.ts"

// The difference between what a node stores and what the blocks say. Each function returns the first one as a sentence.

const idOf = ({ height, position }: ModelOperation): number => firstOperationAt(height) + position

const isSame = (stored: StoredOperation, said: ModelOperation): boolean =>
  stored.id === idOf(said) && stored.vout === said.vout && stored.amount === said.amount &&
  equal(stored.txid, said.txid) && equal(stored.value, said.value) && equal(stored.address, said.address) &&
  (stored.rand === null ? said.rand === undefined : said.rand !== undefined && equal(stored.rand, said.rand))

/** The operations that names.db must have: all, or the last of each name where it began with a snapshot. */
const expectedOperations = ({ beginning }: NamesContent, { names, operations }: ModelState) =>
  beginning === undefined
    ? operations
    : operations.filter((each) => each.height > beginning || names.get(nameKey(each.name)) === each)

/** What is wrong with names.db, if its cursor is at the block of the model. */
export const namesFault = (stored: NamesContent, model: ModelState): string | undefined => {
  const { cursor } = stored
  if (cursor.height !== model.height) return `the cursor has height ${cursor.height}, its block has ${model.height}`
  if (!stored.blocks.some((each) => each.height === cursor.height && equal(each.hash, cursor.hash))) {
    return `the last blocks do not have block ${cursor.height} of the cursor`
  }
  if (stored.beginning !== undefined) return currentFault(stored, model)
  const expected = expectedOperations(stored, model)
  for (const [i, said] of expected.entries()) {
    const found = stored.operations[i]
    const what = `operation ${i} of the chain, on ${nameField(said.name)} at height ${said.height}`
    if (found === undefined) return `${what}, is missing`
    if (found.name === null || !equal(found.name, said.name) || !isSame(found, said)) {
      return `${what}, is stored as one of height ${heightOfOperation(found.id)}`
    }
  }
  const more = stored.operations[expected.length]
  if (more !== undefined) return `an operation of height ${heightOfOperation(more.id)} is in no block of the chain`
  return currentFault(stored, model)
}

/** What is wrong with the last operation of each name. */
const currentFault = ({ beginning, names, operations }: NamesContent, model: ModelState): string | undefined => {
  const byId = new Map(operations.map((each) => [each.id, each]))
  const seen = new Set<NameKey>()
  for (const { address, name, operation } of names) {
    const said = model.names.get(nameKey(name))
    seen.add(nameKey(name))
    if (said === undefined) return `the name ${nameField(name)} is in no block of the chain`
    const found = byId.get(operation)
    const isLast = found !== undefined && heightOfOperation(operation) === said.height &&
      equal(found.txid, said.txid) && equal(found.value, said.value) && equal(address, said.address)
    if (!isLast) return `the name ${nameField(name)} is not as its last operation at height ${said.height} set it`
  }
  for (const { height, name } of model.names.values()) {
    // The coins of a snapshot have no name that had expired.
    const isForgotten = beginning !== undefined && isExpiredAt(height, beginning + 1)
    if (!isForgotten && !seen.has(nameKey(name))) return `the name ${nameField(name)} is missing`
  }
  return undefined
}

/**
 * What is wrong with the claims of chainstate.db, if its best block is that of the model. `onlyLiving`: it may have begun
 * with a snapshot, which has no claims of names that had expired.
 */
export const claimsFault = (
  { claims }: StateContent,
  { height: tip, names }: ModelState,
  { onlyLiving = false }: { readonly onlyLiving?: boolean } = {}
): string | undefined => {
  for (const { height, name, outpoint } of claims) {
    const said = names.get(nameKey(name))
    if (said === undefined) return `the claim of ${nameField(name)} belongs to no block of the chain`
    if (said.height !== height || outpointOf(said) !== binaryString(outpoint)) {
      return `the claim of ${nameField(name)} has height ${height} and ${outpointText(outpoint)}, ` +
        `its last operation is of height ${said.height}`
    }
  }
  if (claims.length === names.size) return undefined
  const claimed = new Set(claims.map(({ name }) => nameKey(name)))
  for (const [key, { height, name }] of names) {
    if (claimed.has(key) || onlyLiving && isExpiredAt(height, tip + 1)) continue
    return `the claim of ${nameField(name)} is missing: there are ${claims.length} claims and ${names.size} names`
  }
  return undefined
}

const shownOutpoint = (key: string): string => outpointText(fromBinaryString(key))

/** What is wrong with the coins of chainstate.db, if its best block is that of the model. */
export const coinsFault = ({ coins }: StateContent, model: ModelState): string | undefined => {
  for (const [key, coin] of coins) {
    const said = model.coins.get(key as OutpointKey)
    if (said === undefined) return `${shownOutpoint(key)} of height ${coin.height} is stored, but spent or expired`
    const isSameCoin = said.value === coin.value && said.height === coin.height && said.coinbase === coin.coinbase &&
      equal(said.script, coin.script)
    if (!isSameCoin) return `${shownOutpoint(key)} is not the coin of its transaction`
  }
  if (coins.length === model.coins.size) return undefined
  const stored = new Set(coins.map(([key]) => key))
  for (const [key, { height }] of model.coins) {
    if (!stored.has(key)) return `${shownOutpoint(key)} of height ${height} is missing`
  }
  return undefined
}

/** Whether the coins of chainstate.db add up to what was issued and not destroyed. */
export const amountFault = (
  { coins }: StateContent,
  { money: { destroyed, issued } }: ModelState
): string | undefined => {
  const stored = coins.reduce((sum, [, { value }]) => sum + value, 0)
  return stored === issued - destroyed
    ? undefined
    : `its coins are worth ${stored}, of ${issued} issued and ${destroyed} destroyed`
}

/** For messages. */
export const shownBlock = (hash: Bytes): string => displayHash(hash).slice(0, 12)
