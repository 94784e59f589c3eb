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
  readonly weight: number
}

/** The operator's relay policy. Rates are smallest units per kvB. */
export interface Policy {
  readonly requireStandard: boolean
  readonly minRelayFeeRate: number
  readonly incrementalFeeRate: number
  readonly dustFeeRate: number
  /** Bytes of all null-data scripts of a transaction; 0 refuses them all. */
  readonly maxNullData: number
  /** Whether outputs of bare multisignatures are relayed. */
  readonly bareMultisig: boolean
  /** Minimum weight of a unit of sigop cost. */
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
