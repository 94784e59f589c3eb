import * as Effect from "effect/Effect"
import { readFileSync, statSync } from "node:fs"
import { wallTime } from "../../base/clock.ts"
import { codeOf, reasonOf } from "../../base/errorCode.ts"
import { grouped, quantityOf } from "../../base/quantities.ts"
import { type NetworkName, networks } from "../../protocol/networks.ts"
import { isFailure, LONGEST_PROOF, MOST_FOLLOWING } from "../../verify/nameProof.ts"
import { signatures } from "../../verify/signatures.ts"
import { type VerifiedName, verifyNameProof } from "../../verify/verifyNameProof.ts"
import { type CliInput, type CliOutcome, CommandFailed, failure, NAME, success } from "./outcome.ts"
import { shownText } from "./textWidth.ts"

export interface VerifyProofInput {
  /** `-` for standard input. */
  readonly file: string
  readonly network: NetworkName
  /** Blocks that the proof must have from that of the newest operation on. */
  readonly confirmations: number
  readonly json: boolean
}

const HOW_TO_MAKE = `To make a proof: "${NAME} proof NAME -out FILE".`

/** A proof may end with a line break. */
const MOST_BYTES = LONGEST_PROOF + 1_000

const readProof = (file: string, { readStdin }: Pick<CliInput, "readStdin">): Effect.Effect<string, CommandFailed> => {
  if (file === "-") return readStdin
  return Effect.try({
    try: () => {
      const { size } = statSync(file)
      return size > MOST_BYTES ? undefined : readFileSync(file, "utf8")
    },
    catch: (error) =>
      new CommandFailed({
        message: `${shownText(file)} cannot be read: ${reasonOf(codeOf(error))}`,
        remedy: HOW_TO_MAKE
      })
  }).pipe(
    Effect.flatMap((text) =>
      text === undefined
        ? new CommandFailed({ message: `${shownText(file)} is longer than a proof`, remedy: HOW_TO_MAKE })
        : Effect.succeed(text)
    )
  )
}

const PROOFS = {
  buried: "blocks with work are on top of it",
  signatures: "blocks with work are on top of it, and each owner in the proof signed the next operation, which shows " +
    "nothing if the block of the oldest one is false"
}

/** What to do about a proof that fails for another reason than its making; for a false one there is nothing. */
const remedyOf = (
  failed: string,
  { confirmations }: Pick<VerifyProofInput, "confirmations">
): string | undefined => {
  const [, chain] = /^the proof is about (\w+), not/.exec(failed) ?? []
  const other = Object.values(networks).find(({ chainName }) => chainName === chain)
  if (other !== undefined) return `To verify a proof of ${other.name}, write -network ${other.name}.`
  if (failed.endsWith(" confirmations")) {
    const headers = confirmations - 1
    return headers > MOST_FOLLOWING
      ? `A proof shows at most ${MOST_FOLLOWING + 1}.`
      : `To make one with more blocks: "${NAME} proof NAME -headers ${headers}".`
  }
  if (/older than|expired/.test(failed)) return `To make a proof of today: "${NAME} proof NAME".`
  if (failed.endsWith("from the future")) return "Check the clock of this machine."
  return failed === "the proof is not JSON"
    ? "The file is damaged or no proof: copy it again, or make a new one."
    : undefined
}

const linesOf = (verified: VerifiedName): ReadonlyArray<string> => {
  const { confirmations, expiresIn, height, name, owner, problems, proof, since, value } = verified
  return [
    `Name      ${shownText(name)}`,
    `Value     ${shownText(value)}`,
    `Owner     ${shownText(owner)}`,
    `Block     ${grouped(height)}, ${quantityOf(confirmations, "block")} with work in the proof`,
    ...(since === undefined ? [] : [`Since     block ${grouped(since)}`]),
    `Expires   ${quantityOf(expiresIn, "block")} after the tip of the proof`,
    `Proof     ${proof}: ${PROOFS[proof]}`,
    ...problems.map(({ message }) => `Note      ${shownText(message)}`)
  ]
}

/** Verifies a proof of a name, without a daemon. Exits with status 1 for one that fails. */
export const verifyProofCommand = (
  { confirmations, file, json, network }: VerifyProofInput,
  input: Pick<CliInput, "readStdin">
): Effect.Effect<CliOutcome> =>
  Effect.map(readProof(file, input), (text): CliOutcome => {
    const outcome = verifyNameProof(text, {
      network: networks[network].chainName,
      now: Math.floor(wallTime() / 1000),
      minConfirmations: confirmations,
      signatures
    })
    const asJson = (answer: object): string => `${JSON.stringify(answer, null, 2)}\n`
    if (!isFailure(outcome)) {
      return success(json ? asJson({ valid: true, ...outcome }) : `${linesOf(outcome).join("\n")}\n`)
    }
    const remedy = remedyOf(outcome.failed, { confirmations })
    return json
      ? { code: 1, stdout: asJson({ valid: false, ...outcome, remedy }), stderr: "" }
      : failure(1, { message: `the proof is not valid: ${shownText(outcome.failed)}`, remedy })
  }).pipe(Effect.catchAll((failed) => Effect.succeed(failure(1, failed))))
