import { type Counter, type Histogram } from "../metrics/families.ts"
import {
  errors,
  type ErrorType,
  REFUSALS,
  type RefusalStatus,
  rpcDuration,
  rpcErrors,
  rpcRefused,
  rpcRequestDuration,
  rpcRequests
} from "../metrics/metrics.ts"
import { RPC_CODE, type RpcError } from "./method/RpcError.ts"
import type { ObservedCall } from "./runCalls.ts"

/** -4 is upstream's code for wallet errors and for names that never existed. -9 is the code of a stopping node, too. */
const TYPE_OF: Readonly<Record<keyof typeof RPC_CODE, ErrorType>> = {
  parseError: "rpc_malformed",
  invalidRequest: "rpc_malformed",
  methodNotFound: "rpc_unknown_method",
  methodDeprecated: "rpc_unknown_method",
  invalidParams: "rpc_invalid_params",
  misc: "rpc_invalid_params",
  type: "rpc_invalid_params",
  invalidParameter: "rpc_invalid_params",
  walletInvalidLabel: "rpc_invalid_params",
  deserialization: "rpc_invalid_params",
  invalidIpOrSubnet: "rpc_invalid_params",
  invalidEncoding: "rpc_invalid_params",
  invalidAddressOrKey: "rpc_not_found",
  wallet: "rpc_wallet",
  insufficientFunds: "rpc_wallet",
  keypoolRanOut: "rpc_wallet",
  walletUnlockNeeded: "rpc_wallet",
  walletPassphraseIncorrect: "rpc_wallet",
  walletWrongEncryptionState: "rpc_wallet",
  walletEncryptionFailed: "rpc_wallet",
  walletNotFound: "rpc_wallet",
  walletNotSpecified: "rpc_wallet",
  walletAlreadyLoaded: "rpc_wallet",
  walletAlreadyExists: "rpc_wallet",
  notConnected: "rpc_network",
  nodeAlreadyAdded: "rpc_network",
  nodeNotAdded: "rpc_network",
  nodeNotConnected: "rpc_network",
  p2pDisabled: "rpc_network",
  nodeCapacityReached: "rpc_network",
  initialDownload: "rpc_unavailable",
  warmUp: "rpc_unavailable",
  mempoolDisabled: "rpc_unavailable",
  verifyError: "rpc_verification",
  verifyRejected: "rpc_verification",
  verifyAlreadyInUtxoSet: "rpc_verification",
  internalError: "rpc_internal",
  outOfMemory: "rpc_internal",
  database: "rpc_internal"
}

const isName = (name: string): name is keyof typeof RPC_CODE => name in RPC_CODE

const TYPES: ReadonlyMap<number, ErrorType> = new Map(
  Object.entries(RPC_CODE).flatMap(([name, code]) => isName(name) ? [[code, TYPE_OF[name]] as const] : [])
)

export const errorTypeOf = (code: number): ErrorType => TYPES.get(code) ?? "rpc_other"

interface MethodSeries {
  readonly requests: Counter
  readonly errors: Counter
  readonly whole: Histogram
  readonly own: Histogram
}

const seriesOf = (method: string): MethodSeries => ({
  requests: rpcRequests.of(method),
  errors: rpcErrors.of(method),
  whole: rpcRequestDuration.of(method),
  own: rpcDuration.of(method)
})

/** Unknown methods share one entry. */
const known = new Map<string, MethodSeries>()

/** Less than a microsecond, for ten thousand calls per second. */
export const recordCall = ({ error, method, ownSeconds, seconds }: ObservedCall): void => {
  let series = known.get(method)
  if (series === undefined) {
    series = seriesOf(method)
    // Starts at zero with the first call, so that rates show the first error.
    series.errors.increase(0)
    known.set(method, series)
  }
  series.requests.increase()
  series.whole.observe(seconds)
  if (ownSeconds !== undefined) series.own.observe(ownSeconds)
  if (error === undefined) return
  series.errors.increase()
  errors.of(errorTypeOf(error.code)).increase()
}

export const recordMalformed = ({ code }: RpcError): void => errors.of(errorTypeOf(code)).increase()

const STATUSES: ReadonlyMap<string, RefusalStatus> = new Map(REFUSALS.map((status) => [status, status]))

/** For requests refused by HTTP alone. */
export const recordRefusal = (status: number): void => rpcRefused.of(STATUSES.get(String(status)) ?? "other").increase()
