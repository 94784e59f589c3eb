import { type ConsensusParams, mainnetParams, regtestParams, testnetParams } from "../consensus/params.ts"
import type { NameProof } from "./nameProof.ts"

/** The rules of the chains that a proof can be about. */
export const proofParams: Readonly<Record<NameProof["network"], ConsensusParams>> = {
  main: mainnetParams,
  test: testnetParams,
  regtest: regtestParams
}
