import * as Data from "effect/Data"
import * as Either from "effect/Either"

/** Upstream `rpc/protocol.h`, `RPC_*`, including Namecoin's own (reference/rpc.md 2). */
export const RPC_CODE = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  misc: -1,
  type: -3,
  wallet: -4,
  invalidAddressOrKey: -5,
  insufficientFunds: -6,
  outOfMemory: -7,
  invalidParameter: -8,
  notConnected: -9,
  initialDownload: -10,
  walletInvalidLabel: -11,
  keypoolRanOut: -12,
  walletUnlockNeeded: -13,
  walletPassphraseIncorrect: -14,
  walletWrongEncryptionState: -15,
  walletEncryptionFailed: -16,
  walletNotFound: -18,
  walletNotSpecified: -19,
  database: -20,
  deserialization: -22,
  nodeAlreadyAdded: -23,
  nodeNotAdded: -24,
  verifyError: -25,
  verifyRejected: -26,
  verifyAlreadyInUtxoSet: -27,
  warmUp: -28,
  nodeNotConnected: -29,
  invalidIpOrSubnet: -30,
  p2pDisabled: -31,
  methodDeprecated: -32,
  mempoolDisabled: -33,
  nodeCapacityReached: -34,
  walletAlreadyLoaded: -35,
  walletAlreadyExists: -36,
  invalidEncoding: -1000
} as const

/** Causes that callers act on, as `error.data.reason` (docs/decisions/0024-reasons-of-errors.md). */
export const RPC_REASONS = [
  "beyond-words",
  "coin-spent",
  "coins-in-use",
  "disk-full",
  "fee-too-high",
  "file-exists",
  "file-refused",
  "funds-missing",
  "inputs-missing",
  "long-chain",
  "name-pending",
  "name-registering",
  "name-taken",
  "name-unknown",
  "no-fee-estimate",
  "no-private-keys",
  "proof-unavailable",
  "renewals-only",
  "too-small"
] as const

export type RpcReason = typeof RPC_REASONS[number]

export interface RpcErrorFields {
  readonly code: number
  readonly message: string
  readonly reason?: RpcReason | undefined
}

/** Every unregistered name gets one, so it records no stack, which would cost seven times the rest. */
export class RpcError extends Data.TaggedError("RpcError")<RpcErrorFields> {
  constructor(fields: RpcErrorFields) {
    const limit = Error.stackTraceLimit
    Error.stackTraceLimit = 0
    super(fields)
    Error.stackTraceLimit = limit
  }

  static readonly parseError = (message = "Parse error") => make(RPC_CODE.parseError, message)
  static readonly invalidRequest = (message: string) => make(RPC_CODE.invalidRequest, message)
  static readonly methodNotFound = () => make(RPC_CODE.methodNotFound, "Method not found")

  /** Not the caller's fault. A storage failure passes its whole message, with the path. */
  static readonly internal = (message = "Internal error", reason?: RpcReason) =>
    make(RPC_CODE.internalError, message, reason)

  /** A usage text, a disabled feature, or an error without its own code. */
  static readonly misc = (message: string, reason?: RpcReason) => make(RPC_CODE.misc, message, reason)
  static readonly type = (message: string) => make(RPC_CODE.type, message)
  static readonly wallet = (message: string, reason?: RpcReason) => make(RPC_CODE.wallet, message, reason)
  static readonly invalidAddressOrKey = (message: string) => make(RPC_CODE.invalidAddressOrKey, message)
  static readonly invalidParameter = (message: string) => make(RPC_CODE.invalidParameter, message)
  static readonly database = (message: string) => make(RPC_CODE.database, message)
  static readonly deserialization = (message: string) => make(RPC_CODE.deserialization, message)
  static readonly verifyError = (message: string, reason?: RpcReason) => make(RPC_CODE.verifyError, message, reason)
  static readonly verifyRejected = (message: string, reason?: RpcReason) =>
    make(RPC_CODE.verifyRejected, message, reason)
  static readonly invalidEncoding = (encoding: string) =>
    make(RPC_CODE.invalidEncoding, `Name/value is invalid for encoding ${encoding}`)

  /** While the node starts. `step` is its current step. */
  static readonly warmUp = (step: string) => make(RPC_CODE.warmUp, step)
  static readonly shuttingDown = () => make(RPC_CODE.notConnected, "Shutting down")

  /** The chain is not synced. Name clients read -4 as "no such name", so an unsynced name must not be -4. */
  static readonly initialDownload = (detail = "") =>
    make(RPC_CODE.initialDownload, `Namecoin is downloading blocks...${detail === "" ? "" : ` (${detail})`}`)

  /** An answer rests on less than the call requires. */
  static readonly lessProof = (message: string) => make(RPC_CODE.initialDownload, message)
  static readonly blockNotFound = () => make(RPC_CODE.invalidAddressOrKey, "Block not found")

  static readonly integerOutOfRange = () => make(RPC_CODE.misc, "JSON integer out of range")
  static readonly wrongType = ({ actual, expected }: { readonly actual: string; readonly expected: string }) =>
    make(RPC_CODE.type, `JSON value of type ${actual} is not of expected type ${expected}`)
  static readonly wrongFieldType = (
    field: string,
    { actual, expected }: { readonly actual: string; readonly expected: string }
  ) => make(RPC_CODE.type, `JSON value of type ${actual} for field ${field} is not of expected type ${expected}`)
}

const make = (code: number, message: string, reason?: RpcReason): RpcError => new RpcError({ code, message, reason })

/** The value of a parameter, or the error that refuses it. */
export type Read<A> = Either.Either<A, RpcError>

export const readOf = <A>(outcome: A | RpcError): Read<A> =>
  outcome instanceof RpcError ? Either.left(outcome) : Either.right(outcome)
