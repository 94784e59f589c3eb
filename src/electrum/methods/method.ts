import type * as Effect from "effect/Effect"
import type { Mempool } from "../../mempool/Mempool.ts"
import type { ELECTRUM_REQUESTS } from "../../metrics/electrumMetrics.ts"
import type { ScriptKey } from "../../protocol/keys.ts"
import type { JsonValue } from "../../rpc/json/encodeJson.ts"
import type { Json } from "../../rpc/json/json.ts"
import type { ElectrumError } from "../protocol/ElectrumError.ts"
import type { Signature } from "../protocol/parameters.ts"
import type { ProtocolVersion } from "../protocol/versions.ts"
import type { Blocks } from "../sources/Blocks.ts"
import type { HeaderSource } from "../sources/Headers.ts"
import type { Histories } from "../sources/Histories.ts"
import type { NodeCalls } from "../sources/NodeCalls.ts"

/** What methods see of the session that calls them. */
export interface ElectrumCaller {
  readonly version: () => ProtocolVersion
  /** Adds to the cost of the session (`CostMeter`). */
  readonly charge: (cost: number) => void
  /** Fails once the cost ends the session: between steps of work that may become long. */
  readonly withinLimits: Effect.Effect<void, ElectrumError>
  /** Notes the version that the client and the server speak from now on. */
  readonly speaks: (version: ProtocolVersion) => void
  readonly followHeaders: () => void
  /**
   * Notifies the client of changes of a script hash. Returns false if it does so already. Fails if the session or the
   * server has too many of these.
   */
  readonly follow: (key: ScriptKey) => Effect.Effect<boolean, ElectrumError>
  /** Notes the status that the client is answered. */
  readonly answered: (key: ScriptKey, status: string | null) => void
  /** Whether the client had followed it. */
  readonly leave: (key: ScriptKey) => boolean
  /** Counts broadcasts. Returns by how much the next one costs more. */
  readonly broadcasts: (count: number) => number
}

/** What the operator's options tell clients about the server. */
export interface ElectrumFacts {
  /** Name and version of the program. */
  readonly software: string
  /** The genesis block's hash, as shown. */
  readonly genesis: string
  /** Host names with their ports by service. */
  readonly hosts: () => Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly services: () => ReadonlyArray<string>
  readonly banner: () => string
  /** Blocks in which a name can live, if older history is missing; `null` if nothing is. */
  readonly pruning: () => number | null
  /** SHA-256 of the TLS certificate in hexadecimal, for clients that pin it. */
  readonly fingerprint: () => string | undefined
}

/** Where methods take their answers from. */
export interface Sources {
  readonly facts: ElectrumFacts
  readonly headers: HeaderSource
  readonly blocks: Blocks
  readonly histories: Histories
  readonly node: NodeCalls
  readonly pool: Pick<typeof Mempool.Service, "entries" | "info">
  /** Blocks after which a name without an update is gone. */
  readonly expiration: () => number
}

export interface ElectrumMethod {
  readonly name: string
  readonly group: typeof ELECTRUM_REQUESTS[number]
  /** The first version that has it; by default all do. */
  readonly since?: ProtocolVersion
  /** The first version that does not have it. */
  readonly until?: ProtocolVersion
  readonly signature: Signature
  /** The answer if memory has it, without a fiber; else `undefined`, and nothing is charged. */
  readonly atOnce?: (given: ReadonlyArray<Json | undefined>, caller: ElectrumCaller) => JsonValue | undefined
  readonly call: (
    given: ReadonlyArray<Json | undefined>,
    caller: ElectrumCaller
  ) => Effect.Effect<JsonValue, ElectrumError>
}

export const takes = (required: ReadonlyArray<string> = [], optional: ReadonlyArray<string> = []): Signature => ({
  required,
  optional
})
