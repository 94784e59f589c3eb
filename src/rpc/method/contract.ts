import type { UserRight } from "../../config/accessKinds.ts"
import type { JsonValue } from "../json/encodeJson.ts"
import type { Params } from "./params.ts"
import type { AnyResult } from "./results.ts"

/** In the order of reference/rpc.md 3. */
export type MethodGroup =
  | "Control"
  | "Blockchain"
  | "Names"
  | "Raw transactions"
  | "Mempool"
  | "Mining"
  | "Network"
  | "Util"
  | "Wallet"
  | "Application"
  | "Hidden"

/** A result under a condition, such as a verbosity. */
export interface Result {
  readonly when?: string
  readonly schema: AnyResult
}

/** A method's public interface, the source of rights, help, OpenRPC, command line and types. Defaults are strict. */
export interface Contract<P extends Params = Params, R extends ReadonlyArray<Result> = ReadonlyArray<Result>> {
  readonly name: string
  readonly group: MethodGroup
  /** The first sentence states what the method does; details follow. */
  readonly summary: string
  readonly params: P
  readonly results: R
  /** Parameters of realistic calls. */
  readonly examples: ReadonlyArray<ReadonlyArray<JsonValue>>
  /** As `-5 Block not found`, without the errors of parameters. */
  readonly errors: ReadonlyArray<string>
  /** The right that a user needs (`-rpcrights`). */
  readonly right: UserRight
  /** With `whole`, the method fails with -10 while a window of the last blocks answers. */
  readonly coins: "whole" | "any"
  /** Whether a call changes something. It then runs to its end even without its caller. */
  readonly writes: boolean
  /** Whether the method waits for an event, as `waitfornewblock` does. Such a call ends with -9 when the node stops. */
  readonly waits: boolean
  /** Whether a waiting method ends with a result instead of -9 when the node stops. */
  readonly answersAtStop: boolean
  /** Whether the method may need much memory or time. Few of these calls run at a time, and users take turns. */
  readonly heavy: boolean
  /** Whether an application defines it (`ownMethod`). Its result is plain JSON and already checked. */
  readonly own: boolean
}

type Strict = "errors" | "right" | "coins" | "writes" | "waits" | "answersAtStop" | "heavy" | "own"

type Given<C extends Contract> = Omit<C, Strict> & Partial<Pick<C, Strict>>

/** The default right is `admin`. A method needs coins of the whole chain by default, unless it only reads. */
export const contract = <const P extends Params, const R extends ReadonlyArray<Result>>(
  given: Given<Contract<P, R>>
): Contract<P, R> => {
  const { errors = [], name, right = "admin" } = given
  const codeless = errors.find((error) => !/^-\d+ /.test(error))
  if (codeless !== undefined) throw new Error(`${name}: the error "${codeless}" must begin with its code`)
  return {
    coins: right === "read" ? "any" : "whole",
    writes: false,
    waits: false,
    answersAtStop: false,
    heavy: false,
    own: false,
    ...given,
    errors,
    right
  }
}

const contractsOf = (group: MethodGroup) =>
<const P extends Params, const R extends ReadonlyArray<Result>>(
  given: Omit<Given<Contract<P, R>>, "group">
): Contract<P, R> => contract<P, R>({ ...given, group })

/** As `contract`, with a group. */
export const controlContract = contractsOf("Control")
export const chainContract = contractsOf("Blockchain")
export const namesContract = contractsOf("Names")
export const rawContract = contractsOf("Raw transactions")
export const mempoolContract = contractsOf("Mempool")
export const miningContract = contractsOf("Mining")
export const networkContract = contractsOf("Network")
export const utilContract = contractsOf("Util")
export const walletContract = contractsOf("Wallet")
export const hiddenContract = contractsOf("Hidden")

/** In the help, the OpenRPC document and completions. */
export const isShown = ({ group }: Contract): boolean => group !== "Hidden"
