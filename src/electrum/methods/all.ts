import { isAtLeast, type ProtocolVersion } from "../protocol/versions.ts"
import { electrumHeaders } from "./headerMethods.ts"
import { electrumMempool } from "./mempoolMethods.ts"
import type { ElectrumMethod, Sources } from "./method.ts"
import { electrumNames } from "./nameMethods.ts"
import { electrumScriptHashes } from "./scriptHashMethods.ts"
import { electrumAbout } from "./serverMethods.ts"
import { electrumTransactions } from "./transactionMethods.ts"

export type MethodsByName = ReadonlyMap<string, ElectrumMethod>

/** All methods of all versions. */
export const electrumMethods = (sources: Sources): MethodsByName =>
  new Map(
    [
      ...electrumAbout(sources),
      ...electrumHeaders(sources),
      ...electrumScriptHashes(sources),
      ...electrumNames(sources),
      ...electrumTransactions(sources),
      ...electrumMempool(sources)
    ].map((method) => [method.name, method])
  )

/** Whether a version of the protocol has a method. */
export const hasMethod = (version: ProtocolVersion, { since, until }: ElectrumMethod): boolean =>
  (since === undefined || isAtLeast(version, since)) && (until === undefined || !isAtLeast(version, until))
