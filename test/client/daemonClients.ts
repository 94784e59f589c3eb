import { Effect } from "effect"
import { decodeConfig } from "../../src/client/config.ts"
import * as DaemonClient from "../../src/client/daemonClient.ts"
import type { ClientConfig } from "../../src/client/NameClient.ts"
import { type Call, type FakeDaemon, fakeDaemon, type Reply } from "../support/fakeDaemon.ts"

export const hex = (text: string): string => Buffer.from(text).toString("hex")

export const TXID = "a".repeat(64)
export const CLAIM = "b".repeat(64)
export const OTHER = "d".repeat(64)
export const RAND = "c".repeat(40)

export const shown = (name: string, more: object = {}) => ({
  name: hex(name),
  name_encoding: "hex",
  value: hex("{}"),
  value_encoding: "hex",
  txid: TXID,
  vout: 0,
  address: "ncrt1qexample",
  height: 690,
  expires_in: 20,
  expired: false,
  ...more
})

export const open = ({ port }: FakeDaemon, config: ClientConfig = {}) =>
  Effect.flatMap(
    decodeConfig({ network: "regtest", rpcAddr: `http://127.0.0.1:${port}`, ...config }),
    (decoded) => DaemonClient.make(decoded, { interval: 5, firstPause: 10 })
  )

/** A client of a daemon with the given answers. */
export const client = (answer: (call: Call) => Reply | undefined, config: ClientConfig = {}) =>
  Effect.gen(function*() {
    const daemon = yield* fakeDaemon(answer)
    return { client: yield* open(daemon, config), calls: daemon.calls }
  })

export const callsOf = (calls: ReadonlyArray<Call>, method: string) => calls.filter((call) => call.method === method)
