import * as Effect from "effect/Effect"
import { type Bytes, displayHash, toHex } from "../../protocol/bytes.ts"
import { HEADER_SIZE } from "../../protocol/header.ts"
import type { JsonValue } from "../../rpc/json/encodeJson.ts"
import { badRequest, type ElectrumError } from "../protocol/ElectrumError.ts"
import { ANSWER_BYTES } from "../protocol/limits.ts"
import { nonNegativeInteger } from "../protocol/parameters.ts"
import { isAtLeast, type ProtocolVersion, VERSION_1_4_1, VERSION_1_6 } from "../protocol/versions.ts"
import type { HeaderBranch } from "../sources/HeaderMerkle.ts"
import { type HeaderSource, outOfRange } from "../sources/Headers.ts"
import type { ElectrumMethod, Sources } from "./method.ts"
import { takes } from "./method.ts"

/** HeaderSource in one answer. */
const MOST_HEADERS = 2_016

/** Bytes of an answer that are not headers, more than a proof takes. */
const AROUND = 10_000

const proofJson = ({ branch, root }: HeaderBranch) => ({ branch: branch.map(displayHash), root: displayHash(root) })

/** Below a checkpoint, the proof of work says nothing that the checkpoint does not. */
const encoder = (version: ProtocolVersion, checkpoint: number) => (header: Bytes): string =>
  toHex(checkpoint > 0 && isAtLeast(version, VERSION_1_4_1) ? header.subarray(0, HEADER_SIZE) : header)

/** Reorgs during one answer. */
const MOST_REORGS = 2

/** Headers from a height on, and the proof of the last one. A reorg between the two makes them read again. */
const provenHeaders = (
  headers: HeaderSource,
  { checkpoint, from, read }: {
    readonly from: number
    readonly read: Effect.Effect<ReadonlyArray<Bytes>, ElectrumError>
    readonly checkpoint: number
  }
): Effect.Effect<{ readonly found: ReadonlyArray<Bytes>; readonly proof: HeaderBranch | undefined }, ElectrumError> =>
  Effect.gen(function*() {
    for (let reorgs = 0; reorgs <= MOST_REORGS; reorgs++) {
      const found = yield* read
      const last = found.at(-1)
      if (last === undefined) return { found, proof: undefined }
      const height = from + found.length - 1
      const proof = yield* headers.proof({ height, checkpoint })
      if (headers.isAt(height, last)) return { found, proof }
    }
    return yield* badRequest("the chain changed while it was read; ask again")
  })

/** The header at a height, with a proof if there is a checkpoint. */
export const headerAnswer = (
  headers: HeaderSource,
  { checkpoint, height, version }: {
    readonly checkpoint: number
    readonly height: number
    readonly version: ProtocolVersion
  }
): Effect.Effect<JsonValue, ElectrumError> =>
  Effect.gen(function*() {
    const encode = encoder(version, checkpoint)
    if (checkpoint === 0) return encode(yield* headers.one(height))
    const read = Effect.map(headers.one(height), (header) => [header])
    const { found: [header], proof } = yield* provenHeaders(headers, { from: height, read, checkpoint })
    return header === undefined || proof === undefined
      ? yield* outOfRange(height)
      : { header: encode(header), ...proofJson(proof) }
  })

/** The answer of a subscription, and its notifications. */
export const tipAnswer = (headers: HeaderSource): Effect.Effect<JsonValue, ElectrumError> =>
  Effect.suspend(() => {
    const height = headers.tip()
    return Effect.map(headers.one(height), (header) => ({ hex: toHex(header), height }))
  })

/** Methods about headers. */
export const electrumHeaders = ({ headers }: Sources): ReadonlyArray<ElectrumMethod> => [
  {
    name: "blockchain.headers.subscribe",
    group: "headers",
    signature: takes(),
    call: (_, { charge, followHeaders }) =>
      Effect.suspend(() => {
        charge(0.25)
        followHeaders()
        return tipAnswer(headers)
      })
  },
  {
    name: "blockchain.block.header",
    group: "headers",
    signature: takes(["height"], ["cp_height"]),
    call: ([givenHeight, givenCheckpoint], { charge, version }) =>
      Effect.gen(function*() {
        const height = yield* nonNegativeInteger(givenHeight)
        const checkpoint = givenCheckpoint === undefined ? 0 : yield* nonNegativeInteger(givenCheckpoint)
        charge(checkpoint === 0 ? 0.25 : 1.25)
        return yield* headerAnswer(headers, { height, checkpoint, version: version() })
      })
  },
  {
    name: "blockchain.block.headers",
    group: "headers",
    signature: takes(["start_height", "count"], ["cp_height"]),
    call: ([givenStart, givenCount, givenCheckpoint], { charge, version }) =>
      Effect.gen(function*() {
        const from = yield* nonNegativeInteger(givenStart)
        const asked = yield* nonNegativeInteger(givenCount)
        const checkpoint = givenCheckpoint === undefined ? 0 : yield* nonNegativeInteger(givenCheckpoint)
        const wanted = Math.min(asked, MOST_HEADERS)
        charge(wanted / 50)
        const room = (ANSWER_BYTES - AROUND) / 2
        const range = { from, count: wanted, room }
        if (checkpoint > 0 && wanted > 0) charge(1)
        const { found, proof } = checkpoint === 0
          ? { found: yield* headers.list(range), proof: undefined }
          : yield* provenHeaders(headers, { from, read: headers.list(range), checkpoint })
        const encoded = found.map(encoder(version(), checkpoint))
        const count = encoded.length
        const answer = { count, max: MOST_HEADERS }
        const list = isAtLeast(version(), VERSION_1_6) ? { headers: encoded } : { hex: encoded.join("") }
        return proof === undefined ? { ...answer, ...list } : { ...answer, ...list, ...proofJson(proof) }
      })
  }
]
