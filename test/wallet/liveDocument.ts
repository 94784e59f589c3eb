import { readFileSync } from "node:fs"
import { join } from "node:path"
import { displayHash } from "../../src/protocol/bytes.ts"
import type { Transaction } from "../../src/protocol/transaction.ts"
import { decodeDocument } from "../../src/wallet/keys/WalletDocument.ts"

export const documentOf = (directory: string) => {
  const document = decodeDocument(readFileSync(join(directory, "wallet.json"), "utf8"))
  if (document._tag === "Left") throw new Error(document.left)
  return document.right.document
}

export const keptTxids = (directory: string) => documentOf(directory).transactions.map(({ txid }) => txid)

export const shown = (transaction: Transaction): string => displayHash(transaction.txid)

export const to = (script: Uint8Array, value: number) => ({ outputs: [{ value, script }] })
