import { fromBinaryString } from "../../protocol/bytes.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import type { Peer } from "../Peer.ts"
import { type InventoryItem, ItemType } from "../wire/messages/inv.ts"
import { Services } from "../wire/messages/version.ts"
import type { HashKind, TxRequest } from "./TxRequests.ts"

export const kindOf = ({ type }: InventoryItem): HashKind => type === ItemType.wtx ? "wtxid" : "txid"

/** The hash by which a peer knows a transaction. */
export const knownHash = (peer: Peer, { txid, wtxid }: Transaction) => peer.hello.wtxidRelay ? wtxid : txid

export const getdataItems = (peer: Peer, requests: ReadonlyArray<TxRequest>): ReadonlyArray<InventoryItem> => {
  const byTxid = (peer.hello.services & Services.witness) === 0n ? ItemType.tx : ItemType.witnessTx
  return requests.map(({ hash, kind }) => ({
    type: kind === "wtxid" ? ItemType.wtx : byTxid,
    hash: fromBinaryString(hash)
  }))
}
