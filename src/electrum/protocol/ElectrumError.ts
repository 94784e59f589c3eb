import * as Data from "effect/Data"

/** An error of the protocol. Codes and texts are those of ElectrumX (`server/session.py`, aiorpcX `jsonrpc.py`). */
export class ElectrumError extends Data.TaggedError("ElectrumError")<{
  readonly code: number
  readonly message: string
  /** What finding the error cost, besides the cost of any error (`CostMeter`). */
  readonly cost?: number
  /** Whether the server closes the connection behind the answer. */
  readonly closes?: boolean
}> {}

export const CODE = {
  badRequest: 1,
  daemonError: 2,
  historyTooLong: 10_001,
  parseError: -32_700,
  invalidRequest: -32_600,
  unknownMethod: -32_601,
  invalidArguments: -32_602,
  internalError: -32_603,
  excessiveUse: -101,
  busy: -102
} as const

export const badRequest = (message: string): ElectrumError => new ElectrumError({ code: CODE.badRequest, message })

export const invalidArguments = (message: string): ElectrumError =>
  new ElectrumError({ code: CODE.invalidArguments, message })

export const refusedRequest = (message: string): ElectrumError =>
  new ElectrumError({ code: CODE.invalidRequest, message })

/** Never an empty list, which clients would read as a name that does not exist. */
export const syncing = (why?: string): ElectrumError =>
  new ElectrumError({ code: CODE.daemonError, message: why === undefined ? "syncing" : `syncing: ${why}` })

export const internalError = (): ElectrumError =>
  new ElectrumError({ code: CODE.internalError, message: "internal server error" })
