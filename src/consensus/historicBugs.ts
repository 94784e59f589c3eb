import { type Bytes, displayHash } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"

// Mainnet transactions that break the name rules but are in the chain (reference/protocol.md 4.9). Early software
// allowed name outputs in other transactions and misread some inputs.

/**
 * The effect of such a transaction, which passes the name checks:
 * - `ignore`: changes no name, and its NAME_FIRSTUPDATE and NAME_UPDATE outputs are not coins;
 * - `apply`: has the effects of any name transaction;
 * - `utxo`: changes no name, but its outputs are coins.
 */
export type HistoricBug = "ignore" | "apply" | "utxo"

/** Exceptions by height, then by displayed txid. */
export type HistoricBugs = ReadonlyMap<Height, ReadonlyMap<string, HistoricBug>>

export const historicBugsOf = (rows: ReadonlyArray<readonly [Height, string, HistoricBug]>): HistoricBugs => {
  const bugs = new Map<Height, Map<string, HistoricBug>>()
  for (const [height, txid, bug] of rows) {
    const known = bugs.get(height) ?? new Map<string, HistoricBug>()
    bugs.set(height, known.set(txid, bug))
  }
  return bugs
}

/** The exceptions of mainnet; other networks have none. Source: upstream `kernel/chainparams.cpp`. */
export const mainnetHistoricBugs: HistoricBugs = historicBugsOf([
  [98_318, "0ae5e958ff05ad8e273222656d98d076097def6d36f781a627c584b859f4727b", "ignore"],
  [98_321, "aca8ce46da1bbb9bb8e563880efcd9d6dd18342c446d6f0e3d4b964a990d1c27", "ignore"],
  [98_423, "bff3ed6873e5698b97bf0c28c29302b59588590b747787c7d1ef32decdabe0d1", "ignore"],
  [98_424, "e9b211007e5cac471769212ca0f47bb066b81966a8e541d44acf0f8a1bd24976", "ignore"],
  [98_424, "c29b0d9d478411462a8ac29946bf6fdeca358a77b4be15cd921567eb66852180", "ignore"],
  [98_425, "8aa2b0fc7d1033de28e0192526765a72e9df0c635f7305bdc57cb451ed01a4ca", "ignore"],
  [98_425, "221719b360f0c83fa5b1c26fb6b67c5e74e4e7c6aa3dce55025da6759f5f7060", "ignore"],
  [99_381, "774d4c446cecfc40b1c02fdc5a13be6d2007233f9d91daefab6b3c2e70042f05", "apply"],
  [139_872, "2f034f2499c136a2c5a922ca4be65c1292815c753bbb100a2a26d5ad532c3919", "utxo"],
  [139_936, "c3e76d5384139228221cce60250397d1b87adf7366086bc8d6b5e6eee03c55c7", "ignore"],
  [193_518, "597370b632efb35d5ed554c634c7af44affa6066f2a87a88046532d4057b46f8", "ignore"],
  [195_605, "0bb8c7807a9756aefe62c271770b313b31dee73151f515b1ac2066c50eaeeb91", "ignore"],
  [195_639, "3181930765b970fc43cd31d53fc6fc1da9439a28257d9067c3b5912d23eab01c", "ignore"],
  [195_639, "e815e7d774937d96a4b265ed4866b7e3dc8d9f2acb8563402e216aba6edd1e9e", "ignore"],
  [195_639, "cdfe6eda068e09fe760a70bec201feb041b8c660d0e98cbc05c8aa4106eae6ab", "ignore"],
  [195_641, "1e29e937b2a9e1f18af500371b8714157cf5ac7c95461913e08ce402de64ae75", "ignore"],
  [195_648, "d44ed6c0fac251931465f9123ada8459ec954cc6c7b648a56c9326ff7b13f552", "ignore"],
  [197_711, "dd77aea50a189935d0ef36a04856805cd74600a53193c539eb90c1e1c0f9ecac", "ignore"],
  [204_151, "f31875dfaf94bd3a93cfbed0e22d405d1f2e49b4d0750cb13812adc5e57f1e47", "ignore"]
])

export const noHistoricBugs: HistoricBugs = new Map()

/** The txid is in wire order. */
export const historicBug = (
  height: Height,
  txid: Bytes,
  { historicBugs }: { readonly historicBugs: HistoricBugs }
): HistoricBug | undefined => historicBugs.get(height)?.get(displayHash(txid))
