import {
  DUST_FEE_RATE,
  INCREMENTAL_FEE_RATE,
  MAX_CLUSTER_COUNT,
  MAX_CLUSTER_WEIGHT,
  MAX_NULL_DATA,
  MIN_RELAY_FEE_RATE,
  WEIGHT_PER_SIGOP_COST
} from "./limits.ts"

/** Limits of a cluster of transactions that spend each other. */
export interface ClusterLimits {
  readonly count: number
  /** Of all its transactions together. */
  readonly weight: number
}

/** What the operator configures of the relay policy. Rates are smallest units a kvB. */
export interface Policy {
  /** Whether nonstandard transactions are refused. */
  readonly requireStandard: boolean
  readonly minRelayFeeRate: number
  readonly incrementalFeeRate: number
  readonly dustFeeRate: number
  /** Bytes of all null-data scripts of a transaction together; 0 refuses them all. */
  readonly maxNullData: number
  /** Whether outputs of bare multisignatures are relayed. */
  readonly bareMultisig: boolean
  /** Weight that a unit of sigop cost counts for at least. */
  readonly weightPerSigopCost: number
  readonly cluster: ClusterLimits
}

export const DEFAULT_POLICY: Policy = {
  requireStandard: true,
  minRelayFeeRate: MIN_RELAY_FEE_RATE,
  incrementalFeeRate: INCREMENTAL_FEE_RATE,
  dustFeeRate: DUST_FEE_RATE,
  maxNullData: MAX_NULL_DATA,
  bareMultisig: true,
  weightPerSigopCost: WEIGHT_PER_SIGOP_COST,
  cluster: { count: MAX_CLUSTER_COUNT, weight: MAX_CLUSTER_WEIGHT }
}
