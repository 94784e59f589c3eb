import type { UserRight } from "../../config/accessKinds.ts"
import type { JsonValue } from "../json/encodeJson.ts"
import type { Params } from "./params.ts"
import type { AnyResult } from "./results.ts"

/** The headings of the help, in the order of reference/rpc.md 3. */
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

/** A result of a method under a condition, such as a verbosity. */
export interface Result {
  readonly when?: string
  readonly schema: AnyResult
}

/**
 * What is promised of a method, as data: rights, help, OpenRPC document, command line, the types of handlers and those of
 * clients come from it. What is not said is refused: the defaults are the strict ones.
 */
export interface Contract<P extends Params = Params, R extends ReadonlyArray<Result> = ReadonlyArray<Result>> {
  readonly name: string
  readonly group: MethodGroup
  /** The first sentence states what the method does; details follow. */
  readonly summary: string
  readonly params: P
  readonly results: R
  /** Parameters of realistic calls. */
  readonly examples: ReadonlyArray<ReadonlyArray<JsonValue>>
  /** The method's own errors, as `-5 Block not found`. The errors of its parameters are not listed. */
  readonly errors: ReadonlyArray<string>
  /** The right that a user needs (`-rpcrights`). */
  readonly right: UserRight
  /** The coins that must be known. With `whole`, the method fails with -10 while a window of the last blocks answers. */
  readonly coins: "whole" | "any"
  /** Whether a call changes something. It then runs to its end, though its caller has left; any other ends with its caller. */
  readonly writes: boolean
  /** Whether the method waits for an event, as `waitfornewblock` does. Such a call ends with -9 when the node stops. */
  readonly waits: boolean
  /** Whether a method that waits ends by itself when the node stops, with a result in place of -9. */
  readonly answersAtStop: boolean
  /**
   * Whether the method may need much memory or time, for a block with all its transactions for example. Few such calls run
   * at one time, to limit the sum of their memory; users and their connections take turns.
   */
  readonly heavy: boolean
  /** Whether it is of an application (`ownMethod`): its result is plain JSON that it has checked itself. */
  readonly own: boolean
}

type Strict = "errors" | "right" | "coins" | "writes" | "waits" | "answersAtStop" | "heavy" | "own"

type Given<C extends Contract> = Omit<C, Strict> & Partial<Pick<C, Strict>>

/** Completes a contract with the strict defaults: the right is `admin`, and coins of the whole chain unless it only reads. */
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

/** Whether the help, the OpenRPC document and completions show a method. */
export const isShown = ({ group }: Contract): boolean => group !== "Hidden"
