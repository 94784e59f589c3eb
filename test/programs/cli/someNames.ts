import { RpcFailure } from "../../../src/rpc/RpcClient.ts"
import { hex } from "./fakeDaemon.ts"

export const TXID = "ab".repeat(32)
export const OWNER = "N1owner"

export const unknownName = new RpcFailure({ code: -4, message: "name never existed: 'd/example'" })

export const record = (value: string, more: object = {}) => ({
  name: "d/example",
  value: hex(value),
  address: OWNER,
  height: 100,
  expires_in: 20_000,
  ismine: true,
  txid: TXID,
  vout: 1,
  ...more
})

export const FREE = {
  name_show: unknownName,
  name_autoregister: { txid: TXID, step: "committed", autorenew: true },
  getbalances: "{\"mine\":{\"trusted\":5.00000000}}",
  getmempoolinfo: "{\"mempoolminfee\":0.00100000}"
}

/** The daemon of a wallet that owns d/example. */
export const OWNED = {
  ...FREE,
  name_show: record("{\"ip\":\"192.0.2.1\",\"x\":[1.0,2]}"),
  name_pending: [],
  name_update: JSON.stringify(TXID),
  validateaddress: { isvalid: true }
}
