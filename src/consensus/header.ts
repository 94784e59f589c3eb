import type { BlockHeader } from "../protocol/block.ts"
import { baseVersion, chainId, type Header, isLegacyVersion } from "../protocol/header.ts"
import type { Height } from "../protocol/keys.ts"
import { checkAuxpow } from "./auxpow.ts"
import { type Ancestor, type HeaderPoint, meetsTarget, nextBits } from "./difficulty.ts"
import type { ConsensusParams } from "./params.ts"
import { MAX_FUTURE_BLOCK_TIME, MAX_TIMEWARP, type ReaderParams } from "./readerParams.ts"
import { type Reject, rejectAs } from "./Reject.ts"

const REASON = "high-hash"

/**
 * The hash does not cover the proof, so another copy of the header may have a valid one (reference/protocol.md 2.6).
 */
const badProof = (detail: string): Reject => rejectAs("mutated", REASON, detail)

/**
 * Own or merged-mined: rules P1 to P6 of reference/protocol.md 2.3. Every failure has the reason `high-hash`, and the
 * first error that the reference node logs as `detail`. Source: upstream `validation.cpp`, `CheckProofOfWork`.
 */
export const checkProofOfWork = ({ auxpow, header }: BlockHeader, params: ReaderParams): Reject | undefined => {
  const { bits, version } = header
  const { auxpowChainId, powLimit, strictChainId } = params
  const chain = chainId(version)
  if (!isLegacyVersion(version) && strictChainId && chain !== auxpowChainId) {
    const found = `got ${chain}, expected ${auxpowChainId}, full nVersion ${version}`
    return rejectAs("header", REASON, `CheckProofOfWork : block does not have our chain ID (${found})`)
  }
  if (auxpow === undefined) {
    if (header.hasAuxpowFlag) return badProof("CheckProofOfWork : no auxpow on block with auxpow version")
    return meetsTarget(header.hash, bits, powLimit)
      ? undefined
      : rejectAs("header", REASON, "CheckProofOfWork : non-AUX proof of work failed")
  }
  if (!header.hasAuxpowFlag) return badProof("CheckProofOfWork : auxpow on block with non-auxpow version")
  if (auxpow.parent.hasAuxpowFlag) return badProof("CheckProofOfWork : auxpow parent block has auxpow version")
  if (!meetsTarget(auxpow.parent.hash, bits, powLimit)) {
    return badProof("CheckProofOfWork : AUX proof of work failed")
  }
  const broken = checkAuxpow(auxpow, { hash: header.hash, chain }, params)
  return broken === undefined ? undefined : badProof(broken)
}

export interface HeaderContext {
  readonly header: Header
  readonly prev: HeaderPoint
  /** Median of the times of `prev` and the ten before it. */
  readonly medianTimePast: number
  /** An ancestor of `prev`, or `prev` itself. */
  readonly ancestor: Ancestor
  readonly params: ConsensusParams
  /** The current time in seconds since 1970. */
  readonly now: number
}

/** What rule 10 of reference/protocol.md 3.5 demands. */
export const leastBaseVersion = (height: Height, { activation }: Pick<ReaderParams, "activation">): number => {
  if (height >= activation.bip65) return 4
  if (height >= activation.bip66) return 3
  return height >= activation.bip34 ? 2 : -Infinity
}

/** Rule 10 of reference/protocol.md 3.5. */
const checkVersion = (version: number, height: Height, params: ConsensusParams): Reject | undefined => {
  if (baseVersion(version) >= leastBaseVersion(height, params)) return undefined
  const shown = `0x${(version >>> 0).toString(16).padStart(8, "0")}`
  return rejectAs("header", `bad-version(${shown})`, `rejected nVersion=${shown} block`)
}

/** Whether the first block of a difficulty period is more than ten minutes older than its parent (BIP 94). */
export const breaksTimewarp = (
  { height, prevTime, time }: { readonly height: Height; readonly time: number; readonly prevTime: number },
  { limitsTimewarp, retargetInterval }: ConsensusParams
): boolean => limitsTimewarp && height % retargetInterval === 0 && time < prevTime - MAX_TIMEWARP

/**
 * Rules 5 to 10 of reference/protocol.md 3.5, in their order. Rule 8 (BIP 94) applies only with `-test=bip94`. Not for
 * genesis. Source: upstream `validation.cpp`, `ContextualCheckBlockHeader`.
 */
export const checkHeaderContext = (context: HeaderContext): Reject | undefined => {
  const { ancestor, header, medianTimePast, now, params, prev } = context
  const height = prev.height + 1
  if (isLegacyVersion(header.version) && height >= params.legacyBlocksBefore) {
    return rejectAs("header", "late-legacy-block", "legacy block after auxpow start")
  }
  if (header.bits !== nextBits(params, { prev, newTime: header.time, ancestor })) {
    return rejectAs("header", "bad-diffbits", "incorrect proof of work")
  }
  if (header.time <= medianTimePast) return rejectAs("header", "time-too-old", "block's timestamp is too early")
  if (breaksTimewarp({ height, time: header.time, prevTime: prev.time }, params)) {
    return rejectAs(
      "header",
      "time-timewarp-attack",
      "block's timestamp is too early on diff adjustment block"
    )
  }
  if (header.time > now + MAX_FUTURE_BLOCK_TIME) {
    return rejectAs("time-future", "time-too-new", "block timestamp too far in the future")
  }
  return checkVersion(header.version, height, params)
}
