import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import { targetOf } from "../../consensus/difficulty.ts"
import type { AuxCandidate } from "../../mempool/mining/AuxCandidates.ts"
import { Miner } from "../../mempool/mining/Miner.ts"
import { PeerManager } from "../../network/PeerManager.ts"
import { decodeAddress, scriptOf } from "../../protocol/address.ts"
import { type Auxpow, readAuxpow } from "../../protocol/auxpow.ts"
import { type Bytes, displayHash, EMPTY, fromHex, parseDisplayHash, reversed, toHex } from "../../protocol/bytes.ts"
import { chainId } from "../../protocol/header.ts"
import { decodedOr, Reader } from "../../protocol/Reader.ts"
import { type CANDIDATE, CREATEAUXBLOCK, NOT_CONNECTED, SUBMITAUXBLOCK } from "../contract/mining/aux.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import type * as Result from "../method/results.ts"
import { RPC_CODE, RpcError } from "../method/RpcError.ts"
import { compactBits, wide } from "./chainMethods.ts"
import { miningError, storageError } from "./errors.ts"

/** Merged mining (reference/rpc.md 3.5.1). */

export const candidateJson = (
  { header, template }: AuxCandidate,
  powLimit: bigint
): Result.ValueOf<typeof CANDIDATE> => ({
  hash: displayHash(header.hash),
  chainid: chainId(header.version),
  previousblockhash: displayHash(template.prevHash),
  coinbasevalue: template.coinbase.outputs[0]?.value ?? 0,
  bits: compactBits(template.bits),
  height: template.height,
  _target: toHex(reversed(fromHex(wide(targetOf(template.bits, powLimit) ?? 0n)) ?? EMPTY))
})

/** Ignores bytes after the proof. Text other than hex counts as empty. */
const decodeAuxpow = (hex: string): Effect.Effect<Auxpow, RpcError> =>
  Effect.suspend(() =>
    decodedOr(
      () => Effect.succeed(readAuxpow(new Reader(fromHex(hex) ?? EMPTY))),
      // Text of the reference node's stream.
      () => RpcError.misc("DataStream::read(): end of data: iostream error")
    )
  )

/** For a fixed payout and payer. */
export interface AuxMining {
  readonly create: (scriptPubKey: Bytes) => Effect.Effect<AuxCandidate, RpcError>
  /** Both texts are the caller's. Returns whether the block is accepted. */
  readonly submit: (given: { readonly hash: string; readonly auxpow: string }) => Effect.Effect<boolean, RpcError>
}

export const auxMining: Effect.Effect<AuxMining, never, Chain | Miner | PeerManager | SyncStatus> = Effect.gen(
  function*() {
    const chain = yield* Chain
    const miner = yield* Miner
    const peers = yield* PeerManager
    const status = yield* SyncStatus
    const { auxpowStartHeight, network } = chain.params

    /** The private network may mine without peers and on an old tip. */
    const checkReady: Effect.Effect<void, RpcError> = Effect.gen(function*() {
      if (network.name !== "regtest") {
        const { inbound, outbound } = yield* peers.count
        if (inbound + outbound === 0) {
          return yield* new RpcError({ code: RPC_CODE.notConnected, message: NOT_CONNECTED })
        }
        if (yield* status.initialDownload) return yield* RpcError.initialDownload()
      }
      const { height } = yield* chain.tip
      if (height + 1 < auxpowStartHeight) return yield* RpcError.misc("mining auxblock method is not yet available")
    })

    return {
      create: (scriptPubKey) =>
        Effect.zipRight(checkReady, Effect.mapError(miner.auxCandidate(scriptPubKey), miningError)),
      submit: ({ auxpow, hash }) =>
        Effect.gen(function*() {
          yield* checkReady
          const wanted = parseDisplayHash(hash)
          if (wanted === undefined) return yield* RpcError.invalidParameter("invalid block hash hex")
          yield* miner.candidate(wanted)
          return yield* miner.submitAux(wanted, yield* decodeAuxpow(auxpow))
        }).pipe(
          Effect.catchTags({
            CandidateUnknown: ({ message }) => RpcError.invalidParameter(message),
            StorageCorrupted: storageError,
            StorageUnavailable: storageError
          })
        )
    }
  }
)

export const auxMethods: Methods<Chain | Miner | PeerManager | SyncStatus> = Effect.gen(function*() {
  const { params: { network, powLimit } } = yield* Chain
  const mining = yield* auxMining

  const createauxblock = method(CREATEAUXBLOCK, ({ address }) =>
    Effect.gen(function*() {
      const parsed = decodeAddress(network, address)
      if ("error" in parsed) {
        return yield* RpcError.invalidAddressOrKey("Error: Invalid coinbase payout address")
      }
      return candidateJson(yield* mining.create(scriptOf(parsed.destination)), powLimit)
    }))

  const submitauxblock = method(SUBMITAUXBLOCK, ({ auxpow, hash }) => mining.submit({ hash, auxpow }))

  return [createauxblock, submitauxblock]
})
