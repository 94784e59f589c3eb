import * as Effect from "effect/Effect"
import { readFileSync, statSync } from "node:fs"
import { wallTime } from "../../base/clock.ts"
import { codeOf, reasonOf } from "../../base/errorCode.ts"
import { grouped, quantityOf } from "../../base/quantities.ts"
import { type NetworkName, networks } from "../../protocol/networks.ts"
import { isFailure, LONGEST_PROOF, MOST_FOLLOWING, parseNameProof, type ProofFailure } from "../../verify/nameProof.ts"
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

/** The remedy for a proof that is not false. */
const remedyOf = (
  { code }: ProofFailure,
  { confirmations, text }: Pick<VerifyProofInput, "confirmations"> & { readonly text: string }
): string | undefined => {
  switch (code) {
    case "network": {
      const proof = parseNameProof(text)
      const other = Object.values(networks).find(({ chainName }) => !isFailure(proof) && chainName === proof.network)
      return other && `To verify a proof of ${other.name}, write -network ${other.name}.`
    }
    case "confirmations":
      return confirmations - 1 > MOST_FOLLOWING
        ? `A proof shows at most ${MOST_FOLLOWING + 1}.`
        : `To make one with more blocks: "${NAME} proof NAME -headers ${confirmations - 1}".`
    case "expired":
    case "old":
      return `To make a proof of today: "${NAME} proof NAME".`
    case "future":
      return "Check the clock of this machine."
    case "unreadable":
      return "The file is damaged or not a proof. Copy it again, or make a new one."
    default:
      return undefined
  }
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
    const remedy = remedyOf(outcome, { confirmations, text })
    return json
      ? { code: 1, stdout: asJson({ valid: false, ...outcome, remedy }), stderr: "" }
      : failure(1, { message: `the proof is not valid: ${shownText(outcome.failed)}`, remedy })
  }).pipe(Effect.catchAll((failed) => Effect.succeed(failure(1, failed))))
